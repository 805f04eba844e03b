// DLPack's structures, as far as they are read here (dmlc/dlpack 1.3, whose layout is an ABI).
#pragma once

#include <cstdint>

namespace tile_tune::python::dlpack {

constexpr int32_t kCpu = 1;
constexpr int32_t kCudaHost = 3;  // pinned memory of the host

enum Code : uint8_t { kInt = 0, kUInt = 1, kFloat = 2, kBFloat = 4, kComplex = 5, kBool = 6 };

struct Device {
  int32_t type, id;
};

struct Type {
  uint8_t code, bits;
  uint16_t lanes;
};

struct Tensor {
  void* data;
  Device device;
  int32_t rank;
  Type type;
  int64_t* shape;
  int64_t* strides;  // in elements; null: C order, before version 1.2
  uint64_t byte_offset;
};

struct Version {
  uint32_t major, minor;
};

/// What a capsule named "dltensor" points to.
struct Managed {
  Tensor tensor;
  void* context;
  void (*deleter)(Managed*);
};

/// What a capsule named "dltensor_versioned" points to.
struct ManagedVersioned {
  Version version;
  void* context;
  void (*deleter)(ManagedVersioned*);
  uint64_t flags;
  Tensor tensor;
};
constexpr uint64_t kReadOnly = 1;

/// The capsule `type(x).__dlpack_c_exchange_api__`, named "dlpack_exchange_api": views and results without Python
/// calls.
struct ExchangeApi {
  Version version;
  ExchangeApi* previous;
  int (*allocate)(Tensor* prototype, ManagedVersioned** out, void* context,
                  void (*set_error)(void* context, const char* kind, const char* message));
  int (*managed_from_object)(void* object, ManagedVersioned** out);
  int (*object_from_managed)(ManagedVersioned* tensor, void** object);
  int (*view_of_object)(void* object, Tensor* out);
  int (*current_stream)(int32_t device_type, int32_t device_id, void** stream);
};

}  // namespace tile_tune::python::dlpack
