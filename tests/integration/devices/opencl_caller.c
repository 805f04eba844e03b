/* A program with an OpenCL context of its own calls a package's kernels. Prints what is wrong; nothing if all is well.
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <string.h>

#include "devices.h"
#include "../emit/dl_tensor.h"

enum { ROWS = 13, COLUMNS = 29, COUNT = ROWS * COLUMNS, LENGTH = 1000 };

static float a[COUNT], o[COUNT], sum[LENGTH], more[LENGTH];

static void expect(int got, int wanted, const char* what) {
  if (got != wanted)
    printf("%s: %s (%s), not %s\n", what, devices_error_string(got), devices_device_message(),
           devices_error_string(wanted));
}

static void expect_doubled(const char* what) {
  for (int i = 0; i < COUNT; ++i)
    if (o[i] != 2 * a[i]) {
      printf("%s: element %d is %g, not %g\n", what, i, o[i], 2 * a[i]);
      return;
    }
}

static void copy_entries(void) {
  expect(doubling(a, o), DEVICES_OK, "doubling");
  expect_doubled("doubling");
  memset(o, 0, sizeof o);
  expect(doubling_unchecked(a, o), DEVICES_OK, "doubling_unchecked");
  expect_doubled("doubling_unchecked");
  expect(doubling(NULL, o), DEVICES_ERROR_NULL_POINTER, "doubling of nothing");
  expect(doubling(a, a), DEVICES_ERROR_OVERLAP, "doubling in place");
  for (int i = 0; i < LENGTH; ++i) sum[i] = (float)i, more[i] = 1000;
  expect(accumulating(more, sum), DEVICES_OK, "accumulating");
  expect(accumulating(more, sum), DEVICES_OK, "accumulating");
  for (int i = 0; i < LENGTH; ++i)
    if (sum[i] != (float)i + 2000) {
      printf("accumulating: element %d is %g\n", i, sum[i]);
      return;
    }
  expect(devices_set_device(63), DEVICES_OK, "choosing a device");
  expect(doubling(a, o), DEVICES_ERROR_NO_DEVICE, "a device that is not there");
  if (strstr(devices_device_message(), "63") == NULL) printf("the message is '%s'\n", devices_device_message());
  expect(devices_set_device(-1), DEVICES_ERROR_INVALID_VALUE, "choosing nothing");
  expect(devices_set_device(0), DEVICES_OK, "choosing the first");
}

static void device_entries(void) {
  cl_platform_id platform;
  cl_device_id device;
  if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS) return;
  clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL);
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, NULL);
  cl_mem on_a = clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof a, a, NULL);
  cl_mem on_o = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof o, NULL, NULL);
  for (int round = 0; round < 3; ++round) {
    memset(o, 0, sizeof o);
    expect(doubling_device(queue, on_a, on_o), DEVICES_OK, "doubling_device");
    clEnqueueReadBuffer(queue, on_o, CL_TRUE, 0, sizeof o, o, 0, NULL, NULL);
    expect_doubled("doubling_device");
  }
  expect(doubling_device(NULL, on_a, on_o), DEVICES_ERROR_QUEUE, "no queue");
  expect(doubling_device(queue, NULL, on_o), DEVICES_ERROR_NULL_POINTER, "no memory");
  expect(doubling_device(queue, on_a, on_a), DEVICES_ERROR_OVERLAP, "in place");

  int64_t shape[] = {ROWS, COLUMNS};
  struct DLTensor in = {on_a, {4, 0}, 2, {2, 32, 1}, shape, NULL, 0}, out = in, wrong = in;
  out.data = on_o;
  wrong.device.type = 1;
  devices_dl_tensor *ins[] = {(devices_dl_tensor*)&in}, *outs[] = {(devices_dl_tensor*)&out},
                    *wrongs[] = {(devices_dl_tensor*)&wrong};
  memset(o, 0, sizeof o);
  expect(doubling_device_dl(queue, ins, outs), DEVICES_OK, "doubling_device_dl");
  clEnqueueReadBuffer(queue, on_o, CL_TRUE, 0, sizeof o, o, 0, NULL, NULL);
  expect_doubled("doubling_device_dl");
  expect(doubling_device_dl(queue, wrongs, outs), DEVICES_ERROR_DEVICE, "a tensor of the CPU");
  expect(devices_device_release(queue), DEVICES_OK, "releasing");
  expect(doubling_device(queue, on_a, on_o), DEVICES_OK, "doubling_device after a release");
  expect(devices_device_release(queue), DEVICES_OK, "releasing");

  cl_command_queue unordered = clCreateCommandQueue(context, device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, NULL);
  if (unordered != NULL) expect(doubling_device(unordered, on_a, on_o), DEVICES_ERROR_QUEUE, "a queue without order");
}

int main(void) {
  for (int i = 0; i < COUNT; ++i) a[i] = (float)i;
  copy_entries();
  device_entries();
  return 0;
}
