/* NVML of a machine whose one device lies on bus 0000:1B:00.0. */
#include "fake_nvml.h"

#include <string.h>

static long long reasons;

void fake_nvml_set_reasons(long long value) { reasons = value; }

int nvmlInit_v2(void) { return reasons < 0 ? 9 : 0; }
int nvmlShutdown(void) { return 0; }
int nvmlDeviceGetHandleByPciBusId_v2(const char* bus_id, void** device) {
  *device = &reasons;
  return strcmp(bus_id, "0000:1B:00.0") == 0 ? 0 : 6;
}
int nvmlDeviceGetClockInfo(void* device, int which, unsigned* value) {
  (void)device;
  *value = which == 1 ? 1980 : 3201;
  return 0;
}
int nvmlDeviceGetTemperature(void* device, int sensor, unsigned* value) {
  (void)device;
  *value = 54;
  return sensor == 0 ? 0 : 2;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void* device, unsigned long long* value) {
  (void)device;
  *value = (unsigned long long)reasons;
  return 0;
}
