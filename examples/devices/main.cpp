// The same from C++, on tensors as DLPack has them: memory of a device that another library owns.
#include <matmul.h>

#include <cstdint>
#include <iostream>
#include <new>
#include <vector>

#include "cuda_driver.h"

// As dlpack.h has them, which programs that have it include instead.
struct DLDevice {
  int device_type;
  std::int32_t device_id;
};
struct DLDataType {
  std::uint8_t code, bits;
  std::uint16_t lanes;
};
struct DLTensor {
  void* data;
  DLDevice device;
  std::int32_t ndim;
  DLDataType dtype;
  std::int64_t *shape, *strides;
  std::uint64_t byte_offset;
};

namespace {

constexpr std::int64_t M = matmul_A_extent0, K = matmul_A_extent1, N = matmul_B_extent1;

cuda_driver cuda;
void* stream = nullptr;

/// A row-major matrix of floats on device 0, as long as it lives.
class Matrix {
 public:
  Matrix(std::int64_t rows, std::int64_t columns) : shape_{rows, columns} {
    if (cuda.allocate(&memory_, bytes()) != 0) throw std::bad_alloc();
    tensor_ = {};
    tensor_.data = reinterpret_cast<void*>(memory_);
    tensor_.device = {2, 0};     // kDLCUDA
    tensor_.dtype = {2, 32, 1};  // kDLFloat
    tensor_.ndim = 2;
    tensor_.shape = shape_;
  }
  Matrix(const Matrix&) = delete;
  Matrix& operator=(const Matrix&) = delete;
  ~Matrix() { cuda.release(memory_); }

  std::size_t bytes() const { return sizeof(float) * static_cast<std::size_t>(shape_[0] * shape_[1]); }
  void set(const std::vector<float>& values) { cuda.to_device(memory_, values.data(), bytes(), stream); }
  std::vector<float> get() const {
    std::vector<float> values(bytes() / sizeof(float));
    cuda.to_host(values.data(), memory_, bytes(), stream);
    cuda.wait(stream);
    return values;
  }
  matmul_dl_tensor* tensor() { return &tensor_; }

 private:
  std::int64_t shape_[2];
  std::uint64_t memory_ = 0;
  matmul_dl_tensor tensor_;
};

int multiply(Matrix& a, Matrix& b, Matrix& c) {
  matmul_dl_tensor* const inputs[] = {a.tensor(), b.tensor()};
  matmul_dl_tensor* const outputs[] = {c.tensor()};
  return matmul_device_dl(stream, inputs, outputs);
}

}  // namespace

int main() {
  if (!cuda_open(&cuda, 0, &stream)) {
    std::cerr << "there is no CUDA device here\n";
    return 1;
  }
  Matrix a(M, K), b(K, N), c(M, N);
  a.set(std::vector<float>(static_cast<std::size_t>(M * K), 0.5f));
  b.set(std::vector<float>(static_cast<std::size_t>(K * N), 2.0f));
  if (const int status = multiply(a, b, c)) {
    std::cerr << "matmul: " << matmul_error_string(status) << ": " << matmul_device_message() << '\n';
    return 1;
  }
  std::cout << "C++: " << c.get().front() << " of " << K << '\n';
  a.tensor()->device.device_type = 1;  // as if it lay on the host
  std::cout << "from elsewhere: " << matmul_error_string(multiply(a, b, c)) << '\n';
  matmul_device_release(stream);
}
