// What kernels tell of errors by.
#pragma once

namespace tile_tune::codegen {

/// Every function of Halide 21's runtime (HalideRuntime.h) by which generated code reports an error, but that of
/// memory: int halide_error_NAME(void* user_context, ...).
inline constexpr const char* kErrorFunctions[] = {"access_out_of_bounds",
                                                  "bad_dimensions",
                                                  "bad_extern_fold",
                                                  "bad_fold",
                                                  "bad_type",
                                                  "bounds_inference_call_failed",
                                                  "buffer_allocation_too_large",
                                                  "buffer_argument_is_null",
                                                  "buffer_extents_negative",
                                                  "buffer_extents_too_large",
                                                  "buffer_is_null",
                                                  "constraint_violated",
                                                  "constraints_make_required_region_smaller",
                                                  "debug_to_file_failed",
                                                  "device_crop_failed",
                                                  "device_dirty_with_no_device_support",
                                                  "device_interface_no_device",
                                                  "explicit_bounds_too_small",
                                                  "extern_stage_failed",
                                                  "fold_factor_too_small",
                                                  "host_and_device_dirty",
                                                  "host_is_null",
                                                  "no_device_interface",
                                                  "param_too_large_f64",
                                                  "param_too_large_i64",
                                                  "param_too_large_u64",
                                                  "param_too_small_f64",
                                                  "param_too_small_i64",
                                                  "param_too_small_u64",
                                                  "requirement_failed",
                                                  "specialize_fail",
                                                  "split_factor_not_positive",
                                                  "storage_bound_too_small",
                                                  "unaligned_host_ptr",
                                                  "vscale_invalid"};

}  // namespace tile_tune::codegen
