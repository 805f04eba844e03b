#include <catch2/catch.hpp>
#include <set>

#include "codegen/emit/header_text.h"
#include "codegen/emit/packed_text.h"
#include "tests/integration/emit/programs.h"

using namespace tile_tune;
using namespace tile_tune::codegen;

namespace {

bool contains(const std::string& text, const std::string& part) {
  INFO(text);
  INFO(part);
  const bool found = text.find(part) != text.npos;
  CHECK(found);
  return found;
}

Signature signature(const Kernel& kernel) {
  const auto made = make_signature(kernel);
  REQUIRE(made);
  return *made;
}

}  // namespace

TEST_CASE("a signature lists inputs, then outputs, with strides of each layout") {
  const Signature s =
      signature(test::matmul_kernel("f", {.m = 2, .n = 3, .k = 5, .in_out = true, .b_layout = ir::Storage::col()}));
  REQUIRE(s.arguments.size() == 3);
  CHECK(s.inputs == 2);
  CHECK(s.arguments[0].strides == std::vector<int64_t>{5, 1});
  CHECK(s.arguments[1].shape == std::vector<int64_t>{5, 3});
  CHECK(s.arguments[1].strides == std::vector<int64_t>{1, 5});
  CHECK(s.arguments[2].is_in_out);
  CHECK(s.arguments[2].bytes() == 24);
  // The compiled function also takes the initial value: the same pointer as the output.
  CHECK(s.buffers == std::vector<size_t>{0, 1, 2, 2});
}

TEST_CASE("signatures C cannot have are refused") {
  const auto error_class = [](Kernel kernel) { return make_signature(kernel).error().error_class; };
  CHECK(error_class(test::vector_kernel("return", DType::F32, 3)) == ErrorClass::Program);
  // 2^32 rows of 1: the extent; 3 rows of 2^31: the stride.
  CHECK(error_class(test::matmul_kernel("f", {.m = int64_t{1} << 32, .n = 1, .k = 1})) == ErrorClass::Mismatch);
  CHECK(error_class(test::matmul_kernel("f", {.m = 3, .n = int64_t{1} << 31, .k = 1})) == ErrorClass::Mismatch);
  CHECK(make_signature(test::matmul_kernel("f", {.m = 3, .n = (int64_t{1} << 31) - (1 << 20), .k = 1})));
  Kernel unbound = test::matmul_kernel("f");
  unbound.program.tensors[0].extents[0] = ir::SizeExpr::name("M");
  unbound.program.sizes = {"M"};
  CHECK(error_class(unbound) == ErrorClass::Mismatch);
}

TEST_CASE("a packed operand's digest says its form and the instruction set, and nothing else") {
  const test::MatmulOptions options{.m = 5, .n = 43, .k = 3};
  const auto digest = [&](test::MatmulOptions of, int64_t width, bool packs, const std::string& instructions) {
    Kernel kernel{test::matmul_program(of), packs ? test::packed_schedule(of) : test::matmul_schedule(of), "f", "", {}};
    kernel.program.tensors[1].constant = true;
    kernel.schedule.stages[0].nest().tiles[1] = {width};
    kernel.schedule.stages[0].nest().cpu().lanes = static_cast<int>(width);
    return packed_digest(signature(kernel).arguments[1], instructions);
  };
  const std::string one = digest(options, 8, true, "x86-64 avx");
  // Files of packed weights outlive the tool that packed them: whoever changes this makes them useless.
  CHECK(one == "502dcb706c9d338c9d2f15831c3e965012a6711415e22f9dd65ebf9e46ee2a0d");
  CHECK(digest({.m = 7, .n = 43, .k = 3}, 8, true, "x86-64 avx") == one);  // more rows of A
  std::set<std::string> all = {one};
  all.insert(digest(options, 4, true, "x86-64 avx"));
  all.insert(digest(options, 8, true, "x86-64"));
  all.insert(digest(options, 8, false, "x86-64 avx"));
  all.insert(digest({.m = 5, .n = 44, .k = 3}, 8, true, "x86-64 avx"));  // as many blocks
  all.insert(digest({.m = 5, .n = 43, .k = 4}, 8, true, "x86-64 avx"));
  all.insert(digest({.m = 5, .n = 43, .k = 3, .type = DType::I32}, 8, true, "x86-64 avx"));
  CHECK(all.size() == 7);
  // Unpacked, the order in memory tells; packed, it is the form's whatever it was.
  const test::MatmulOptions columns{.m = 5, .n = 43, .k = 3, .b_layout = ir::Storage::col()};
  CHECK(all.insert(digest(columns, 8, false, "x86-64 avx")).second);
  CHECK(digest(columns, 8, true, "x86-64 avx") == one);
}

TEST_CASE("the header says what every pointer must hold") {
  PackageOptions options;
  options.name = "lib";
  options.target = parse_target("x86-64-linux-avx2").value();
  const std::vector<Signature> kernels = {
      signature(test::matmul_kernel("f", {.m = 2, .n = 3, .k = 5, .type = DType::F16, .in_out = true})),
      signature(test::vector_kernel("g", DType::Bool, 7)), signature(test::vector_kernel("h", DType::F64, 7, true))};
  const std::string text =
      header_text(options, kernels, {{"tuned", "abc"}, {"bad */ text\n", "def"}, {"default", "0"}}, false);
  contains(text, "Target: x86-64-linux-avx2\n");
  contains(text, "/* f, tuned schedule, program abc\n");
  contains(text, "  LIB_ERROR_OVERLAP = 3, /* an output overlaps another argument */\n");
  contains(text, " A: input, f16, IEEE half as bit patterns, extents 2 x 5, strides 5, 1, last index fastest\n");
  contains(text, " C: in/out: holds the value to start from, then the result, f16");
  contains(text, "int f(const uint16_t* A, const uint16_t* B, uint16_t* C);\n");
  contains(text, "  f_B_extent1 = 3,\n  f_B_stride1 = 1,\n");
  contains(text, "int g_unchecked(const uint8_t* x, uint8_t* o);\n");
  contains(text, "int g_ctx(lib_context*, const uint8_t* x, uint8_t* o);\n");
  contains(text, " a: input, f64, one element\n");
  contains(text, "int h(const double* a, const double* x, double* o);\n");
  contains(text, "int h_dl(lib_dl_tensor* const* inputs, lib_dl_tensor* const* outputs);\n");
  contains(text, "/* g, bad *? text? schedule");  // foreign text cannot end the comment
}

TEST_CASE("status codes of a library of one letter are no macros of the system") {
  CHECK(status_prefix("lib") == "LIB");
  for (const char* library : {"f", "F", "r", "w", "x"}) {
    PackageOptions options;
    options.name = library;
    const std::string text = header_text(options, {signature(test::matmul_kernel("f"))}, {{"tuned", "abc"}}, false);
    const std::string prefix = status_prefix(library);
    contains(text, "returns " + prefix + "_OK (0)");
    contains(text, "  " + prefix + "_OK = 0, /*");
    CHECK(prefix.ends_with("_STATUS"));
  }
}
