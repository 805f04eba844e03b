// What tests say of the device that they pretend to have (fake_nvml.c).
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/* Reasons of its clock, as nvml.h numbers them; negative: the library does not start. */
void fake_nvml_set_reasons(long long reasons);

#ifdef __cplusplus
}
#endif
