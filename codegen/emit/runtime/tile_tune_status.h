/* What the entries of emitted libraries return: number, name behind the library's own, text. The one list of them, for
 * the emitter (C++) and the runtime (C). Numbers are part of the ABI and never used again for something else. */
#ifndef TILE_TUNE_STATUS_H
#define TILE_TUNE_STATUS_H

#define TILE_TUNE_STATUSES(STATUS)                                                                                     \
  STATUS(0, OK, "success")                                                                                             \
  STATUS(1, ERROR_NULL_POINTER, "a pointer is null")                                                                   \
  STATUS(2, ERROR_MISALIGNED, "a pointer is not aligned to its element type, or a packed operand to 64 bytes")         \
  STATUS(3, ERROR_OVERLAP, "an output overlaps another argument")                                                      \
  STATUS(4, ERROR_UNSUPPORTED_CPU, "this CPU lacks instructions the library was compiled for")                         \
  STATUS(5, ERROR_OUT_OF_MEMORY, "out of memory for scratch buffers")                                                  \
  STATUS(6, ERROR_INTERNAL, "internal error in the kernel")                                                            \
  STATUS(7, ERROR_DEVICE, "a tensor is not in the memory the entry takes")                                             \
  STATUS(8, ERROR_DTYPE, "a tensor has another element type")                                                          \
  STATUS(9, ERROR_RANK, "a tensor has another number of dimensions")                                                   \
  STATUS(10, ERROR_SHAPE, "a tensor has another shape")                                                                \
  STATUS(11, ERROR_STRIDES, "a tensor has other strides")                                                              \
  STATUS(12, ERROR_INVALID_VALUE, "a number of threads is negative, or one of two functions that go together is null") \
  STATUS(13, ERROR_SIZE, "a size is none that the kernel was built for")                                               \
  STATUS(14, ERROR_NOT_PACKED, "a constant operand is not in packed form: its packing function makes that")            \
  STATUS(15, ERROR_PACKED_FORM, "an operand was packed for another kernel, build or instruction set, or is damaged")   \
  STATUS(16, ERROR_INDEX, "an index in an argument, or computed from one, is outside the tensor it is used in")        \
  STATUS(17, ERROR_NO_DRIVER, "the driver of the device is not on this machine")                                       \
  STATUS(18, ERROR_NO_DEVICE, "there is no such device, or no context of one where the queue has none")                \
  STATUS(19, ERROR_DEVICE_TOO_OLD, "the device or its driver is too old for the library")                              \
  STATUS(20, ERROR_DEVICE_MEMORY, "out of memory on the device")                                                       \
  STATUS(21, ERROR_DEVICE_BUILD, "the driver does not compile a kernel")                                               \
  STATUS(22, ERROR_LAUNCH, "a kernel could not be launched, or failed on the device")                                  \
  STATUS(23, ERROR_QUEUE, "the queue is none, or runs its commands out of order")

#define TILE_TUNE_ENUMERATOR(number, suffix, text) TILE_TUNE_##suffix = number,
enum { TILE_TUNE_STATUSES(TILE_TUNE_ENUMERATOR) };
#undef TILE_TUNE_ENUMERATOR

#endif
