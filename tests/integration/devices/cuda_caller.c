/* A program calls a package's kernels on a CUDA device, which is pretended (tests/support/fake_cuda) or absent: prints
 * the codes that they return. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "devices.h"
#include "../emit/dl_tensor.h"

enum { COUNT = 13 * 29 };

static _Alignas(16) float a[COUNT + 1], o[COUNT];

static void tell(const char* what, int status) {
  printf("%s: %s%s%s\n", what, devices_error_string(status), status != 0 ? ": " : "",
         status != 0 ? devices_device_message() : "");
}

int main(void) {
  tell("doubling", doubling(a, o));
  tell("doubling", doubling(a, o));
  void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (driver == NULL) return 0;
  int (*retain)(void**, int) = (int (*)(void**, int))dlsym(driver, "cuDevicePrimaryCtxRetain");
  int (*push)(void*) = (int (*)(void*))dlsym(driver, "cuCtxPushCurrent_v2");
  tell("without a context", doubling_device(NULL, a, o));
  void* context;
  if (retain(&context, 0) != 0 || push(context) != 0) return 1;
  tell("in the null stream", doubling_device(NULL, a, o));
  tell("in place", doubling_device(NULL, a, a));
  tell("elsewhere", doubling_device(NULL, a + 1, o));
  tell("of nothing", doubling_device(NULL, NULL, o));
  int64_t shape[] = {13, 29};
  struct DLTensor in = {a, {2, 0}, 2, {2, 32, 1}, shape, NULL, 0}, out = in, other = in;
  out.data = o;
  other.device.id = 1;
  devices_dl_tensor *ins[] = {(devices_dl_tensor*)&in}, *outs[] = {(devices_dl_tensor*)&out},
                    *others[] = {(devices_dl_tensor*)&other};
  tell("tensors", doubling_device_dl(NULL, ins, outs));
  tell("tensors of two devices", doubling_device_dl(NULL, ins, others));
  return 0;
}
