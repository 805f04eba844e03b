#include <tile_tune/dlpack_exchange.h>

#include <catch2/catch.hpp>

#include <cstddef>
#include <limits>

using namespace tile_tune;
using tensor::Tensor;
namespace dlpack = tensor::dlpack;

// dlpack.h 1.0 on a machine of 64 bits.
static_assert(sizeof(dlpack::TensorData) == 48 && offsetof(dlpack::TensorData, device) == 8 &&
              offsetof(dlpack::TensorData, rank) == 16 && offsetof(dlpack::TensorData, type) == 20 &&
              offsetof(dlpack::TensorData, shape) == 24 && offsetof(dlpack::TensorData, byte_offset) == 40);
static_assert(offsetof(dlpack::ManagedTensor, context) == 48 && sizeof(dlpack::ManagedTensor) == 64);
static_assert(offsetof(dlpack::ManagedTensorVersioned, context) == 8 &&
              offsetof(dlpack::ManagedTensorVersioned, flags) == 24 &&
              offsetof(dlpack::ManagedTensorVersioned, data) == 32 && sizeof(dlpack::ManagedTensorVersioned) == 80);

namespace {

int deleted = 0;

/// A tensor of "another library".
struct Foreign {
  std::vector<float> elements{0, 1, 2, 3, 4, 5};
  std::vector<int64_t> shape{2, 3}, strides;
  dlpack::ManagedTensorVersioned managed{{1, 1}, this, [](auto*) { ++deleted; }, 0, {}};

  dlpack::ManagedTensorVersioned* give(std::vector<int64_t> of_strides, uint64_t byte_offset = 0) {
    strides = std::move(of_strides);
    managed.data = {elements.data(), {1, 0}, 2, {2, 32, 1}, shape.data(), strides.empty() ? nullptr : strides.data(),
                    byte_offset};
    return &managed;
  }
};

std::vector<float> read(const tensor::TensorView& view) {
  const auto copy = to_contiguous(view);
  const auto elements = *copy->elements<float>();
  return {elements.begin(), elements.end()};
}

}  // namespace

TEST_CASE("No tensor of another library is an error") {
  CHECK(tensor::ForeignTensor::take(static_cast<tensor::dlpack::ManagedTensor*>(nullptr)).error().code == "null-data");
  CHECK(tensor::ForeignTensor::take(static_cast<tensor::dlpack::ManagedTensorVersioned*>(nullptr)).error().code ==
        "null-data");
}

TEST_CASE("Another library's tensor is taken as it lies, and given back once") {
  deleted = 0;
  Foreign foreign;
  {
    auto rows = tensor::ForeignTensor::take(foreign.give({}));
    REQUIRE(rows);
    CHECK(rows->view().data() == foreign.elements.data());
    CHECK(rows->view().layout().is_row_major());
    CHECK(read(rows->view()) == std::vector<float>{0, 3, 1, 4, 2, 5});
    (*static_cast<float*>(rows->mutable_view()->data())) = -8;
    CHECK(foreign.elements[0] == -8);
    CHECK(deleted == 0);
  }
  CHECK(deleted == 1);
  {
    const auto backwards = tensor::ForeignTensor::take(foreign.give({-3, -1}, 5 * sizeof(float)));
    REQUIRE(backwards);
    CHECK(read(backwards->view()) == std::vector<float>{5, 2, 4, 1, 3, -8});
    auto repeated = tensor::ForeignTensor::take(foreign.give({0, 1}, sizeof(float)));
    CHECK(read(repeated->view()) == std::vector<float>{1, 1, 2, 2, 3, 3});
    CHECK(repeated->mutable_view().error().code == "overlapping-elements");
    foreign.managed.flags = dlpack::kReadOnly;
    auto guarded = tensor::ForeignTensor::take(foreign.give({}));
    CHECK(guarded->is_read_only());
    CHECK(guarded->mutable_view().error().code == "read-only");
  }
  CHECK(deleted == 4);
  dlpack::ManagedTensor older{foreign.managed.data, nullptr, [](dlpack::ManagedTensor*) { ++deleted; }};
  CHECK(read(tensor::ForeignTensor::take(&older)->view()) == std::vector<float>{-8, 3, 1, 4, 2, 5});
  CHECK(deleted == 5);
}

TEST_CASE("What cannot be taken stays the caller's") {
  deleted = 0;
  Foreign foreign;
  const auto code = [&](auto change) {
    auto* managed = foreign.give({});
    change(*managed);
    const auto taken = tensor::ForeignTensor::take(managed);
    if (!taken && taken.error().code == "rank-mismatch") CHECK(taken.error().numbers.front() == managed->data.rank);
    return taken ? std::string("taken") : taken.error().code;
  };
  CHECK(code([](auto& managed) { managed.version.major = 2; }) == "dlpack-version");
  foreign.managed.version.major = 1;
  CHECK(code([](auto& managed) { managed.data.type.lanes = 4; }) == "dlpack-type");
  CHECK(code([](auto& managed) { managed.data.type = {2, 8, 1}; }) == "dlpack-type");
  CHECK(code([](auto& managed) { managed.data.device = {2, 1}; }) == "dlpack-device");
  CHECK(code([](auto& managed) { managed.data.data = nullptr; }) == "null-data");
  CHECK(code([](auto& managed) { managed.data.rank = -1; }) == "rank-mismatch");
  CHECK(code([](auto& managed) { managed.data.rank = std::numeric_limits<int32_t>::max(); }) == "rank-mismatch");
  CHECK(code([&](auto&) { foreign.shape[1] = -3; }) == "negative-extent");
  CHECK(code([&](auto&) { foreign.shape = {int64_t{1} << 40, int64_t{1} << 40}; }) == "integer-overflow");
  CHECK(deleted == 0);
}

TEST_CASE("Tensors go to another library without a copy, with their owner") {
  const std::vector<double> numbers{1, -2, 3, -4, 5, -6};
  auto made = Tensor::from(std::span<const double>(numbers), {3, 2});
  const void* data = made->view()->data();
  const auto exported = to_dlpack(std::move(*made));
  REQUIRE(exported);
  const auto& given = (*exported)->data;
  CHECK(given.data == data);
  CHECK(((*exported)->version.major == 1 && (*exported)->flags == 0));
  CHECK((given.type.code == 2 && given.type.bits == 64 && given.type.lanes == 1));
  CHECK((given.rank == 2 && given.shape[0] == 3 && given.shape[1] == 2 && given.strides[0] == 1 &&
         given.strides[1] == 3));
  (*exported)->deleter(*exported);

  const auto older = to_older_dlpack(*Tensor::zeros(DType::C64, {}));
  CHECK(((*older)->data.rank == 0 && (*older)->data.type.code == 5 && (*older)->data.type.bits == 128));
  (*older)->deleter(*older);

  const auto owner = std::make_shared<std::vector<double>>(numbers);
  const auto view = *tensor::TensorView::of(std::span<const double>(*owner), {2, 2}, {3, 1}, 1);
  const auto shared = to_dlpack(view, owner);
  CHECK(owner.use_count() == 2);
  CHECK(((*shared)->flags == dlpack::kReadOnly && (*shared)->data.byte_offset == 8 && (*shared)->data.strides[0] == 3));
  CHECK((*shared)->data.data == owner->data());
  (*shared)->deleter(*shared);
  CHECK(owner.use_count() == 1);
  const auto refused = to_dlpack(*view.slice({{1, -1, -1}, {0, 2, 1}}), owner);
  CHECK(refused.error().code == "negative-stride");
  CHECK(refused.error().numbers == std::vector<int64_t>{0, -3});
}
