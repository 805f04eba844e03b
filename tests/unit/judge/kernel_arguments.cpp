#include "search/judge/kernel_arguments.h"

#include <catch2/catch.hpp>

#include "search/judge/buffers.h"
#include "tests/unit/judge/programs.h"

using namespace tile_tune;
using namespace tile_tune::search;

TEST_CASE("dimension 0 of a buffer is the fastest one in either layout") {
  std::vector<std::byte> a(60), o(60);
  for (const auto& layout : {ir::Storage::row(), ir::Storage::col()}) {
    const auto program = test::doubling(3, 5, layout);
    KernelArguments arguments(program, {{0, a.data()}, {1, o.data()}});
    const auto& buffer = *static_cast<const halide_buffer_t*>(arguments.argv()[1]);
    CHECK(static_cast<void*>(buffer.host) == o.data());
    CHECK(buffer.type == halide_type_t(halide_type_float, 32));
    REQUIRE(buffer.dimensions == 2);
    const bool row = layout == ir::Storage::row();
    CHECK(buffer.dim[0].extent == (row ? 5 : 3));
    CHECK(buffer.dim[0].stride == 1);
    CHECK(buffer.dim[1].extent == (row ? 3 : 5));
    CHECK(buffer.dim[1].stride == (row ? 5 : 3));
    CHECK(buffer.dim[1].min == 0);
  }
}

TEST_CASE("storage is C order permuted by the layout, both ways") {
  ir::Tensor tensor{"t", DType::I16, {2, 3, 2}, ir::Role::Input, ir::Storage::col()};
  auto array = tensor::Array::zeros(DType::I16, {2, 3, 2});
  for (int16_t i = 0; i < 12; ++i) array.as<int16_t>()[i] = i;
  std::vector<int16_t> storage(12, -1);
  to_storage(tensor, array, reinterpret_cast<std::byte*>(storage.data()));
  // Element (i, j, k) is 6i + 2j + k in C order and lies at i + 2j + 6k.
  CHECK(storage == std::vector<int16_t>{0, 6, 2, 8, 4, 10, 1, 7, 3, 9, 5, 11});
  CHECK(from_storage(tensor, reinterpret_cast<const std::byte*>(storage.data())).data == array.data);
  CHECK(as_stored(tensor, reinterpret_cast<const std::byte*>(storage.data())).in_c_order().data == array.data);
  tensor.storage = ir::Storage::row();
  CHECK(lies_as(array, tensor));
  to_storage(tensor, array, reinterpret_cast<std::byte*>(storage.data()));
  CHECK(storage[1] == 1);
}

TEST_CASE("strides leave gaps, and buffers show element (0, ..., 0)") {
  ir::Tensor tensor{"t", DType::I16, {2, 3}, ir::Role::Input, ir::Storage::strided({-5, 1})};
  auto array = tensor::Array::zeros(DType::I16, {2, 3});
  for (int16_t i = 0; i < 6; ++i) array.as<int16_t>()[i] = i;
  REQUIRE(storage_bytes(tensor) == 16);
  std::vector<int16_t> storage(8, -1);
  to_storage(tensor, array, reinterpret_cast<std::byte*>(storage.data()));
  CHECK(storage == std::vector<int16_t>{3, 4, 5, -1, -1, 0, 1, 2});
  const auto stored = as_stored(tensor, reinterpret_cast<const std::byte*>(storage.data()));
  CHECK(stored.strides == std::vector<int64_t>{-5, 1});
  CHECK(stored.place(0) == 5);
  CHECK(stored.place(5) == 2);
  CHECK(lies_as(stored, tensor));
  CHECK_FALSE(lies_as(array, tensor));
  CHECK(stored.in_c_order().data == array.data);

  auto program = test::doubling(2, 3, ir::Storage::strided({-5, 1}));
  std::vector<float> memory(8);
  auto* const bytes = reinterpret_cast<std::byte*>(memory.data());
  KernelArguments arguments(program, {{0, bytes}, {1, bytes}});
  const auto& buffer = *static_cast<halide_buffer_t*>(arguments.argv()[0]);
  CHECK(buffer.host == reinterpret_cast<uint8_t*>(&memory[5]));
  CHECK(buffer.dim[0].stride == 1);
  CHECK(buffer.dim[1].stride == -5);
}

TEST_CASE("an in/out output shares the buffer of its initial value and is restored from it") {
  Problem problem{test::accumulating(3), {}, {}, false, ""};
  problem.inputs[0] = tensor::Array::zeros(DType::F32, {3});
  problem.inputs[1] = tensor::Array::zeros(DType::F32, {3});
  problem.inputs[1].as<float>()[2] = -4;
  Buffers buffers(problem, Flush::End);
  const auto* argv = reinterpret_cast<halide_buffer_t**>(buffers.argv());
  CHECK(argv[1]->host == argv[2]->host);
  CHECK(argv[0]->host != argv[1]->host);
  auto* o = reinterpret_cast<float*>(argv[2]->host);
  o[2] = 9;
  buffers.restore();
  CHECK(o[2] == -4);
  buffers.prepare_outputs(std::byte{0xFF});
  CHECK(o[2] == -4);
  CHECK(buffers.output(2).as<float>()[2] == -4);
  CHECK(buffers.trespass().empty());
  reinterpret_cast<float*>(argv[0]->host)[1] = 1;
  CHECK(buffers.trespass() == "it changed its input a");
}
