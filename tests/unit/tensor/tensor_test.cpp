#include <tile_tune/host_tensor.h>
#include <tile_tune/placement.h>
#include <tile_tune/tensor_file.h>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <numeric>
#include <optional>
#include <thread>
#include <unistd.h>

using namespace tile_tune;
using tensor::Tensor;
using tensor::TensorView;
using C32 = std::complex<float>;
using C64 = std::complex<double>;

namespace {

template <typename T>
std::vector<T> values(const tensor::Expected<Tensor>& made) {
  REQUIRE(made);
  const auto elements = made->elements<T>();
  REQUIRE(elements);
  return {elements->begin(), elements->end()};
}

template <typename T>
TensorView vector_view(const std::vector<T>& elements) {
  return *TensorView::of(std::span<const T>(elements), {static_cast<int64_t>(elements.size())});
}

}  // namespace

TEST_CASE("A tensor owns compact columns, and views of it touch no element") {
  std::vector<int32_t> numbers(24);
  std::iota(numbers.begin(), numbers.end(), -7);
  auto made = Tensor::from(std::span<const int32_t>(numbers), {2, 3, 4});
  REQUIRE(made);
  CHECK(made->layout().strides() == tensor::Strides{1, 2, 6});
  const auto view = *made->view();
  const auto turned = *view.transpose({2, 0, 1});
  CHECK(turned.data() == view.data());
  const auto part = *turned.slice({{-1, -1, -2}, {1, 2, 1}, {2, 0, -1}});
  CHECK(part.shape() == tensor::Shape{2, 1, 2});
  // (3 | 1, 1, 2 | 1): element (1, j, k) of 2 x 3 x 4 is number 1 + 2j + 6k.
  CHECK(values<int32_t>(to_contiguous(part)) == std::vector<int32_t>{16, 4, 14, 2});
  CHECK(part.as_span<int32_t>().error().code == "not-contiguous");
  CHECK(view.as_span<float>().error().code == "dtype-mismatch");
  CHECK(view.as_span<int32_t>()->size() == 24);
  const auto repeated = *vector_view(numbers).slice({{0, 2, 1}})->broadcast({2, 3}, {0});
  CHECK(values<int32_t>(to_contiguous(repeated)) == std::vector<int32_t>{-7, -6, -7, -6, -7, -6});

  CHECK(made->set_shape({5}).error().code == "shape-mismatch");
  CHECK(made->shape() == tensor::Shape{2, 3, 4});
  REQUIRE(made->set_shape({6, 4}));
  auto twin = duplicate(*made);
  REQUIRE(twin);
  (*twin->elements<int32_t>())[0] = 99;
  CHECK((*made->elements<int32_t>())[0] == -7);
  static_assert(!std::is_copy_constructible_v<Tensor> && std::is_nothrow_move_constructible_v<Tensor>);

  CHECK(values<float>(Tensor::zeros(DType::F32, {3, 0, 2})).empty());
  CHECK(values<float>(Tensor::zeros(DType::F32, {})) == std::vector<float>{0});
  CHECK(Tensor::zeros(DType::C64, {int64_t{1} << 60}).error().code == "integer-overflow");
  CHECK(Tensor::zeros(DType::C64, {int64_t{1} << 60}).error().message.starts_with("zeros"));
  CHECK(Tensor::uninitialized(DType::F64, {int64_t{1} << 58}).error().code == "out-of-memory");
  CHECK(TensorView::of(std::span<const int32_t>(numbers), {5}).error().numbers == std::vector<int64_t>{24, 5});
  CHECK(TensorView::over(nullptr, DType::F32, {}).error().code == "null-data");
}

TEST_CASE("Mutable views have one place for each element, and copies go into any of them") {
  std::vector<double> target(12, -1);
  const std::span<double> all(target);
  CHECK(tensor::MutableTensorView::of(all, {4, 3}, {2, 1}).error().code == "overlapping-elements");
  CHECK(tensor::MutableTensorView::of(all, {3}, {0}).error().code == "overlapping-elements");
  const auto columns = *tensor::MutableTensorView::of(all, {3, 4}, {4, 1});
  const auto backwards = *columns.slice({{2, -1, -1}, {0, 2, 1}});
  const std::vector<double> numbers{1, 2, 3, 4, 5, 6};
  REQUIRE(copy(*TensorView::of(std::span<const double>(numbers), {3, 2}), backwards));
  CHECK(target == std::vector<double>{3, 6, -1, -1, 2, 5, -1, -1, 1, 4, -1, -1});
  CHECK(copy(vector_view(numbers), columns).error().code == "rank-mismatch");
  CHECK(copy(*TensorView::of(std::span<const double>(numbers), {2, 3}), backwards).error().code == "shape-mismatch");
  CHECK(copy(*vector_view(std::vector<float>{1}).reshape({1, 1}), backwards).error().code == "dtype-mismatch");
}

TEST_CASE("Conversions that may lose something are refused, casts have one rule") {
  constexpr float kInfinity = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> floats{-1.9f, 2.5f, 3e9f, -kInfinity, kNan, -0.0f};
  const auto view = vector_view(floats);
  CHECK(convert(view, DType::I32).error().code == "lossy-conversion");
  CHECK(convert(view, DType::I32).error().note.find("cast()") != std::string::npos);
  CHECK(values<int32_t>(cast(view, DType::I32)) ==
        std::vector<int32_t>{-1, 2, std::numeric_limits<int32_t>::max(), std::numeric_limits<int32_t>::min(), 0, 0});
  CHECK(values<int64_t>(cast(view, DType::I64))[2] == 3000000000);
  CHECK(values<bool>(cast(view, DType::Bool)) == std::vector<bool>{true, true, true, true, true, false});
  CHECK(values<C64>(convert(view, DType::C64))[1] == C64(2.5, 0));

  const std::vector<int64_t> integers{300, -1, (int64_t{1} << 53) + 1, int64_t{1} << 40};
  CHECK(values<int32_t>(cast(vector_view(integers), DType::I32)) == std::vector<int32_t>{300, -1, 1, 0});
  CHECK(convert(vector_view(integers), DType::F32).error().code == "lossy-conversion");
  CHECK(values<double>(convert(vector_view(integers), DType::F64))[2] == 0x1p53);
  const auto bytes = cast(vector_view(integers), DType::I8);
  CHECK(*static_cast<const int8_t*>(bytes->view()->data()) == 44);
  // Rounded once: by way of f64 it would be 2^53.
  const std::vector<int64_t> between{(int64_t{1} << 53) + (int64_t{1} << 29) + 1};
  CHECK(values<float>(cast(vector_view(between), DType::F32)) == std::vector<float>{0x1p53f + 0x1p30f});

  const std::vector<double> doubles{1e300, 1 + 0x1p-24 + 0x1p-40, -1e-320};
  CHECK(values<float>(cast(vector_view(doubles), DType::F32)) == std::vector<float>{kInfinity, 1 + 0x1p-23f, -0.0f});
  const std::vector<C64> complex{{0, 2}, {-1.5, 3}, {0, 0}};
  CHECK(values<double>(cast(vector_view(complex), DType::F64)) == std::vector<double>{0, -1.5, 0});
  CHECK(values<int32_t>(cast(vector_view(complex), DType::I32)) == std::vector<int32_t>{0, -1, 0});
  CHECK(values<bool>(cast(vector_view(complex), DType::Bool)) == std::vector<bool>{true, true, false});
  CHECK(values<C32>(cast(vector_view(complex), DType::C32))[1] == C32(-1.5, 3));
  // Halves by way of f32: 2049 + 2^-30 is above the tie, but f32 has it at the tie, from which f16 goes to even.
  const std::vector<double> near_tie{2049 + 0x1p-30};
  const auto half = cast(vector_view(near_tie), DType::F16);
  CHECK(values<float>(convert(*half->view(), DType::F32)) == std::vector<float>{2048});
  const auto unsigned_bits = cast(vector_view(std::vector<int64_t>{-1}), DType::U64);
  CHECK(values<float>(cast(*unsigned_bits->view(), DType::F32)) == std::vector<float>{0x1p64f});
  CHECK(tensor::can_convert(DType::F16, DType::F32));
  CHECK(!tensor::can_convert(DType::F16, DType::BF16));
  CHECK(!tensor::can_convert(DType::I8, DType::U16));
  CHECK(!tensor::can_convert(DType::F64, DType::C32));
  CHECK(tensor::can_convert(DType::U16, DType::F32));
}

TEST_CASE("Casts take views of any strides, in pieces that no length divides") {
  for (const int64_t rows : {1, 255, 256, 257, 521}) {
    std::vector<int32_t> numbers(static_cast<size_t>(rows) * 3);
    std::iota(numbers.begin(), numbers.end(), -400);
    const auto view = *TensorView::of(std::span<const int32_t>(numbers), {3, rows});
    const auto made = values<double>(convert(*view.slice({{2, -1, -1}, {0, rows, 1}})->transpose({1, 0}), DType::F64));
    CAPTURE(rows);
    for (int64_t column = 0; column < 3; ++column)
      for (int64_t row = 0; row < rows; ++row)
        REQUIRE(made[static_cast<size_t>(column * rows + row)] == numbers[static_cast<size_t>(row * 3 + 2 - column)]);
  }
}

TEST_CASE("Typed tensors know their type, and their rank where it is given") {
  auto made = tensor::HostTensor<double, 2>::zeros({3, 4});
  REQUIRE(made);
  (*made)(2, 1) = -5;
  CHECK(made->elements()[5] == -5);
  CHECK(*made->at(2, 1) == -5);
  CHECK(made->at(3, 1) == nullptr);
  CHECK(made->at(2, -1) == nullptr);
  CHECK(tensor::HostTensor<double, 3>::of(duplicate(made->tensor())).error().numbers == std::vector<int64_t>{2, 3});
  CHECK(tensor::HostTensor<float, 2>::of(duplicate(made->tensor())).error().code == "dtype-mismatch");
  const auto turned = tensor::HostView<double, 2>::of(*made->view().transpose({1, 0}));
  REQUIRE(turned);
  CHECK((*turned)(1, 2) == -5);
  CHECK(turned->at(2, 3) == nullptr);
  CHECK(tensor::HostView<double, 1>::of(made->view()).error().code == "rank-mismatch");
  const auto any = tensor::HostView<double>::of(made->view());
  CHECK(*any->at(2, 1) == -5);
  CHECK(any->at(2) == nullptr);
  static_assert(!std::is_invocable_v<decltype(*made), int>, "a matrix has two indices");
}

namespace {

/// A device whose memory is the host's, which only it knows.
struct PretendedMemory : tensor::DeviceMemory {
  std::vector<std::byte> bytes;
};
struct PretendedDevice : tensor::Device {
  tensor::Placement placement() const override {
    return {tensor::MemoryKind::Device, tensor::DeviceId{tensor::DeviceKind::Rocm, 3}};
  }
  tensor::Expected<std::shared_ptr<tensor::DeviceMemory>> allocate(size_t bytes) override {
    auto memory = std::make_shared<PretendedMemory>();
    memory->bytes.resize(bytes);
    return std::shared_ptr<tensor::DeviceMemory>(memory);
  }
  tensor::Expected<void> copy_in(const void* from, tensor::DeviceMemory& to) override {
    auto& bytes = static_cast<PretendedMemory&>(to).bytes;
    std::memcpy(bytes.data(), from, bytes.size());
    return {};
  }
  tensor::Expected<void> copy_out(const tensor::DeviceMemory& from, void* to) override {
    const auto& bytes = static_cast<const PretendedMemory&>(from).bytes;
    std::memcpy(to, bytes.data(), bytes.size());
    return {};
  }
};

}  // namespace

TEST_CASE("Nothing but upload and download crosses to a device and back") {
  const std::vector<float> numbers{1, -2, 3, -4, 5, -6};
  const auto view = *TensorView::of(std::span<const float>(numbers), {2, 3});
  const tensor::Placement gpu{tensor::MemoryKind::Device, tensor::DeviceId{tensor::DeviceKind::Cuda, 0}};
  const auto missing = upload(view, gpu);
  CHECK(missing.error().code == "no-device");
  CHECK(missing.error().message == "upload: there is no device memory of CUDA device 0");
  add_device(std::make_shared<PretendedDevice>());
  const auto there = upload(*view.transpose({1, 0}), PretendedDevice().placement());
  REQUIRE(there);
  CHECK(there->view().error().code == "not-on-host");
  CHECK(there->elements<float>().error().code == "not-on-host");
  CHECK(duplicate(*there).error().code == "not-on-host");
  CHECK(values<float>(download(*there)) == std::vector<float>{1, 3, 5, -2, -4, -6});
  CHECK(download(*to_contiguous(view)).error().code == "already-on-host");
  CHECK(upload(*view.slice({{0, 0, 1}, {0, 3, 1}}), PretendedDevice().placement())->element_count() == 0);
}

TEST_CASE("Tensors go to .npy files and come back, from either order") {
  const auto folder = std::filesystem::temp_directory_path() / ("tile_tune_tensor_file." + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  const std::string path = folder / "a.npy";
  std::vector<C32> numbers;
  for (int i = 0; i < 6; ++i) numbers.emplace_back(static_cast<float>(i), -0.5f * static_cast<float>(i));
  const auto view = *TensorView::of(std::span<const C32>(numbers), {2, 3});
  REQUIRE(save_npy(path, *view.transpose({1, 0})));
  const auto back = tensor::load_npy(path);
  REQUIRE(back);
  CHECK(back->shape() == tensor::Shape{3, 2});
  CHECK(values<C32>(back) == values<C32>(to_contiguous(*view.transpose({1, 0}))));
  {
    // As numpy.save has [[1, 2, 3], [4, 5, 6]]: rows.
    std::string header = "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3), }";
    header.resize(128 - 10 - 1, ' ');
    std::ofstream file(path, std::ios::binary);
    file << "\x93NUMPY" << '\1' << '\0' << static_cast<char>(header.size() + 1) << '\0' << header << '\n';
    const int32_t rows[] = {1, 2, 3, 4, 5, 6};
    file.write(reinterpret_cast<const char*>(rows), sizeof rows);
  }
  CHECK(values<int32_t>(tensor::load_npy(path)) == std::vector<int32_t>{1, 4, 2, 5, 3, 6});
  CHECK(tensor::load_npy(folder / "none.npy").error().code == "cannot-open");
  CHECK(save_npy(folder / "none" / "a.npy", view).error().operation == "save_npy");
  std::filesystem::remove_all(folder);
}

TEST_CASE("Memory that a thread gave back is what it gets next") {
  const auto address_of = [](const tensor::Shape& shape) { return Tensor::zeros(DType::F64, shape)->view()->data(); };
  // 512 KB; a quarter of that is not worth the block.
  const void* const first = address_of({256, 256});
  CHECK(address_of({256, 255}) == first);
  CHECK(address_of({64, 256}) != first);
  {
    const auto one = Tensor::zeros(DType::F64, {256, 256}), other = Tensor::zeros(DType::F64, {256, 256});
    CHECK(one->view()->data() == first);
    CHECK(other->view()->data() != first);
  }
  // Zeros are zeros, whatever was there.
  for (const double fill : {7.0, 8.0}) {
    auto made = Tensor::zeros(DType::F64, {256, 256});
    const auto elements = *made->elements<double>();
    CHECK(std::count(elements.begin(), elements.end(), 0.0) == 256 * 256);
    std::fill(elements.begin(), elements.end(), fill);
  }
  // From one thread to another, and after the thread that made it.
  std::optional<Tensor> travels;
  std::thread([&] { travels = std::move(*Tensor::zeros(DType::F64, {300, 300})); }).join();
  CHECK((*travels->elements<double>())[299] == 0);
  std::thread([moved = std::move(*travels)]() mutable { Tensor ends = std::move(moved); }).join();
  // Many of all sizes at a time.
  std::vector<Tensor> many;
  for (int64_t n = 1; n < 40; ++n) many.push_back(std::move(*Tensor::zeros(DType::F32, {n, 40000})));
  for (size_t n = 0; n < many.size(); ++n) {
    const auto elements = *many[n].elements<float>();
    std::fill(elements.begin(), elements.end(), static_cast<float>(n));
  }
  for (size_t n = 0; n < many.size(); ++n) CHECK((*many[n].elements<float>())[39999] == static_cast<float>(n));
}
