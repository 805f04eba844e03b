// Writes one of the packages that the tests use: fixture PACKAGE DIRECTORY. Each runs in a process of its own, as
// emission must.
#include <fmt/format.h>

#include <iostream>
#include <map>

#include "codegen/target/host.h"
#include "tests/integration/emit/programs.h"

using namespace tile_tune;
using namespace tile_tune::codegen;
using namespace tile_tune::test;

namespace {

/// Every element type, in/out, column order, scratch memory, scalars, no elements.
std::vector<Kernel> many_kernels() {
  std::vector<Kernel> kernels;
  for (const char* type :
       {"bool", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f16", "bf16", "f32", "f64", "c32", "c64"})
    kernels.push_back(vector_kernel(fmt::format("copy_{}", type), *parse_dtype(type), 13));
  kernels.push_back(vector_kernel("scale", DType::I32, 7, true));
  kernels.push_back(matmul_kernel("accumulate", {.in_out = true, .b_layout = ir::Storage::col()}));
  const MatmulOptions large{.m = 5, .n = 131, .k = 97};
  kernels.push_back({matmul_program(large), packed_schedule(large), "packed", "tuned", {}});
  kernels.back().schedule.stages[0].nest().cpu().streaming = true;
  // Parameters named like what the headers use themselves.
  kernels.push_back(vector_kernel("odd_names", DType::F32, 3, true));
  const char* names[] = {"Operand", "many_cpp", "many_status"};
  for (int i = 0; i < 3; ++i) kernels.back().program.tensors[i].name = names[i];
  kernels.push_back(matmul_kernel("strided", {.m = 5, .n = 9, .k = 7}));
  kernels.back().program.tensors[0].storage = ir::Storage::strided({-10, 1});
  kernels.back().program.tensors[1].storage = ir::Storage::strided({2, 0});
  kernels.back().program.tensors[2].storage = ir::Storage::strided({24, -1});
  kernels.push_back(matmul_kernel("blocks", {.m = 11, .n = 11, .k = 11}));
  for (const int t : {1, 2}) kernels.back().program.tensors[t].storage = ir::Storage::strided({22, 1});
  kernels.push_back(matmul_kernel("any", {.m = 7, .n = 9, .k = 5}));
  kernels.back().program.tensors[0].storage = ir::Storage::strided({ir::FromBuffer(), 1});
  kernels.back().program.tensors[1].storage = ir::Storage::strided({ir::FromBuffer(), ir::FromBuffer()}, {0, 1});
  kernels.back().program.tensors[2].storage = ir::Storage::strided({ir::FromBuffer(), 1});
  kernels.push_back(matmul_kernel("no_rows", {.m = 0, .n = 3, .k = 2}));
  kernels.push_back(matmul_kernel("no_terms", {.m = 3, .n = 5, .k = 0}));
  return kernels;
}

/// Constants that schedules pack in whole and in part, that they leave as they are, and that have no elements.
std::vector<Kernel> constant_kernels() {
  std::vector<Kernel> kernels;
  const auto add = [&](const std::string& name, const MatmulOptions& options, const Schedule& schedule) {
    kernels.push_back({matmul_program(options), schedule, name, "tuned", {}});
    kernels.back().program.tensors[1].constant = true;
  };
  add("whole", {.m = 5, .n = 40, .k = 3}, packed_schedule({.m = 5, .n = 40, .k = 3}));
  add("in_part", {.m = 5, .n = 43, .k = 3, .in_out = true}, packed_schedule({.m = 5, .n = 43, .k = 3}));
  add("plain", {.m = 5, .n = 13, .k = 3}, matmul_schedule({.m = 5, .n = 13, .k = 3}));
  add("columns", {.m = 2, .n = 9, .k = 5, .type = DType::F64, .b_layout = ir::Storage::col()},
      packed_schedule({.m = 2, .n = 9, .k = 5}));
  add("empty", {.m = 2, .n = 9, .k = 0}, packed_schedule({.m = 2, .n = 9, .k = 0}));
  // Tensors named like what the headers call an operand's type and the parameters of its packing function.
  add("odd", {.m = 2, .n = 9, .k = 5}, packed_schedule({.m = 2, .n = 9, .k = 5}));
  const char* names[] = {"odd_packed_packed", "packed", "elements"};
  for (int i = 0; i < 3; ++i) kernels.back().program.tensors[i].name = names[i];
  return kernels;
}

Target named(const std::string& text) { return describe_target(text, 2).value(); }

/// A product whose B is packed in blocks of 8 with AVX-512, of 4 with AVX2, and taken as it is elsewhere.
std::vector<Kernel> kernels_for_three() {
  const MatmulOptions options{.m = 5, .n = 43, .k = 3};
  Schedule narrow = packed_schedule(options);
  narrow.stages[0].nest().tiles[1] = {4};
  narrow.stages[0].nest().cpu().lanes = 4;
  Kernel kernel{matmul_program(options), matmul_schedule(options), "product", "given", {}};
  kernel.program.tensors[1].constant = true;
  kernel.variants = {{named("x86-64-linux-avx512_skylake"), packed_schedule(options), "tuned", {}},
                     {named("x86-64-linux-avx2-fma"), narrow, "default", {}}};
  return {kernel};
}

/// A product whose B is packed in blocks of 8, on any instruction set.
std::vector<Kernel> kernel_in_blocks(const std::string& function) {
  const MatmulOptions options{.m = 5, .n = 43, .k = 3};
  Kernel kernel{matmul_program(options), packed_schedule(options), function, "tuned", {}};
  kernel.program.tensors[1].constant = true;
  return {kernel};
}

/// What the packages for other machines are for.
const std::map<std::string, std::string> kTargets = {{"isas", "x86-64-linux"},
                                                     {"narrow", "x86-64-linux"},
                                                     {"wide", "x86-64-linux-avx2-fma"},
                                                     {"avx2", "x86-64-linux-avx2-fma"},
                                                     {"arm", "arm-64-linux"},
                                                     {"arm_dot", "arm-64-linux-arm_dot_prod"},
                                                     {"mac", "x86-64-osx"},
                                                     {"mac_arm", "arm-64-osx"},
                                                     {"windows", "x86-64-windows"},
                                                     {"wasm", "wasm-32-wasmrt"},
                                                     // AMD's fma4 is in no CPU made since 2017.
                                                     {"foreign", "x86-64-linux-avx-fma4-sse41"}};

/// A matrix product whose rows are four parallel parts, each with a copy of B in scratch memory.
std::vector<Kernel> parallel_kernel(const std::string& function) {
  const MatmulOptions options{.m = 16, .n = 131, .k = 97};
  Schedule schedule = packed_schedule(options);
  schedule.stages[0].nest().packings[0].depth = 1;
  return {{matmul_program(options), schedule, function, "tuned", {}}};
}

std::vector<Kernel> kernels_of(const std::string& package) {
  if (package == "many") return many_kernels();
  if (package == "weights" || package == "arm") return constant_kernels();
  if (package == "first" || package == "second") return parallel_kernel(package + "_product");
  if (package == "isas") return kernels_for_three();
  if (package == "narrow" || package == "wide") return kernel_in_blocks(package + "_product");
  if (package == "foreign") return {matmul_kernel("old_matmul")};
  if (package == "tiny") return {matmul_kernel("tiny", {.m = 4, .n = 4, .k = 4})};
  Kernel matmul = matmul_kernel("matmul");
  matmul.schedule.stages[0].nest().cpu().streaming = package == "matmul_sources" || package == "windows";
  return {matmul};
}

}  // namespace

int main(int, char** arguments) {
  const std::string package = arguments[1];
  const auto target = kTargets.contains(package) ? describe_target(kTargets.at(package), 2) : resolve_target("host", 2);
  if (!target) return std::cerr << render(target.error()), 1;
  PackageOptions options{package, arguments[2], *target, "0.1.0"};
  options.as_sources = package == "matmul_sources";
  if (options.as_sources) options.name = "matmul";
  const auto written = write_package(kernels_of(package), options);
  if (!written) return std::cerr << render(written.error()), static_cast<int>(written.error().error_class);
  for (const auto& file : *written) std::cout << file.string() << '\n';
}
