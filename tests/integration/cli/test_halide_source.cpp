// explain --what schedule: C++ that compiles against the Halide SDK and computes what the kernel computes.
#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>

#include "frontend/tensor/npy.h"
#include "sandbox.h"

using namespace tile_tune;
using namespace tile_tune::test;

namespace {

constexpr const char* kSources = R"(
def product(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }
def padded(float(B,C,H) x, float(O,C,3) w) -> (y) {
  y(b,o,h) +=! (h + k >= 1 && h + k <= H ? x(b, c, h + k - 1) : 0) * w(o,c,k) where h in 0:H
}
def softmax(float(N,D) x) -> (y) {
  m(n) max=! x(n,d)
  e(n,d) = exp(x(n,d) - m(n))
  s(n) +=! e(n,d)
  y(n,d) = e(n,d) / s(n)
}
)";

// Values and shapes as in main() below.
struct Workload {
  std::string name;
  std::vector<std::string> sizes;
  std::vector<std::pair<std::string, std::vector<int64_t>>> inputs;
  std::string output;
  std::string schedule = "";
};

const std::vector<Workload> kWorkloads{
    {"product", {"M=37", "N=50", "K=29"}, {{"A", {37, 29}}, {"B", {29, 50}}}, "C"},
    // Two levels of tiles, blocks of the reduction, a packed operand, parallel loops.
    {"product",
     {"M=48", "N=64", "K=40"},
     {{"A", {48, 40}}, {"B", {40, 64}}},
     "C",
     R"({"kind": "schedule", "version": 2, "stages": [{"tiles": [[24, 4], [32, 16]], "order": [[0, 1], [1, 0]],
        "parallel": 2, "vector_loop": 1, "lanes": 4, "reduction_order": [0], "reduction_block": [20],
        "reduction_unroll": [2], "packings": [{"operand": 1, "depth": 2, "order": [1, 0]}]}]})"},
    // Steps unrolled four at a time, the last alone.
    {"product",
     {"M=13", "N=18", "K=29"},
     {{"A", {13, 29}}, {"B", {29, 18}}},
     "C",
     R"({"kind": "schedule", "version": 2, "stages": [{"tiles": [[3], [8]], "order": [[0, 1]], "parallel": 1,
        "vector_loop": 1, "lanes": 4, "reduction_order": [0], "reduction_block": [29], "reduction_unroll": [4],
        "packings": []}]})"},
    // Sums in lanes, with a rest.
    {"product",
     {"M=7", "N=9", "K=43"},
     {{"A", {7, 43}}, {"B", {43, 9}}},
     "C",
     R"({"kind": "schedule", "version": 2, "stages": [{"tiles": [[1], [3]], "order": [[0, 1]], "parallel": 1,
        "vector_loop": 2, "lanes": 4, "reduction_order": [0], "reduction_block": [43], "reduction_unroll": [2],
        "packings": []}]})"},
    {"padded", {"B=2", "C=5", "H=31", "O=6"}, {{"x", {2, 5, 31}}, {"w", {6, 5, 3}}}, "y"},
    {"softmax", {"N=9", "D=33"}, {{"x", {9, 33}}}, "y"}};

tensor::Array values(const std::vector<int64_t>& shape) {
  auto array = tensor::Array::zeros(DType::F32, shape);
  for (int64_t i = 0; i < array.element_count(); ++i) array.as<float>()[i] = static_cast<float>(i * 7 % 23 - 11) / 4;
  return array;
}

/// A function of the SDK's program that runs one of them and writes what it gives.
std::string driver(const Workload& workload, const std::string& function, const std::vector<int64_t>& output) {
  std::string text = "  { std::vector<Halide::ImageParam> inputs;\n    auto pipeline = " + function + "(inputs);\n";
  for (size_t i = 0; i < workload.inputs.size(); ++i) {
    std::string shape;
    for (auto n = workload.inputs[i].second.rbegin(); n != workload.inputs[i].second.rend(); ++n)
      shape += (shape.empty() ? "" : ", ") + std::to_string(*n);
    text += "    set(inputs[" + std::to_string(i) + "], {" + shape + "});\n";
  }
  std::string shape;
  for (auto n = output.rbegin(); n != output.rend(); ++n) shape += (shape.empty() ? "" : ", ") + std::to_string(*n);
  return text + "    save(pipeline, {" + shape + "}, \"" + function + ".bin\"); }\n";
}

constexpr const char* kHead = R"(
#include <cstdio>
static void set(Halide::ImageParam& parameter, const std::vector<int>& shape) {
  Halide::Buffer<float> buffer(shape);
  for (size_t i = 0; i < buffer.number_of_elements(); ++i) buffer.data()[i] = float(int(i) * 7 % 23 - 11) / 4;
  parameter.set(buffer);
}
static void save(Halide::Pipeline& pipeline, const std::vector<int>& shape, const char* file) {
  Halide::Buffer<float> result = pipeline.realize(shape);
  std::FILE* out = std::fopen(file, "wb");
  std::fwrite(result.data(), sizeof(float), result.number_of_elements(), out);
  std::fclose(out);
}
int main() {
)";

}  // namespace

TEST_CASE("explain --what schedule is C++ that gives the kernel's values") {
  const Sandbox box;
  box.write("programs.tc", kSources);
  std::string sources, body;
  std::vector<tensor::Array> expected;
  for (size_t i = 0; i < kWorkloads.size(); ++i) {
    const auto& workload = kWorkloads[i];
    const std::string number = std::to_string(i), program = "programs.tc:" + workload.name;
    std::vector<std::string> explain{"explain", program, "--what", "schedule"};
    std::vector<std::string> run{"run", program, "--output-dir", "out" + number};
    for (const auto& size : workload.sizes) explain.insert(explain.end(), {"-s", size});
    for (const auto& [name, shape] : workload.inputs) {
      REQUIRE(tensor::write_npy(box.path(name + number), values(shape), false));
      run.insert(run.end(), {"--input", name + "=" + name + number});
    }
    if (!workload.schedule.empty()) {
      box.write("schedule" + number, workload.schedule);
      for (auto* command : {&explain, &run}) command->insert(command->end(), {"--schedule", "schedule" + number});
    }
    const auto text = box.run(explain);
    INFO(text.err);
    REQUIRE(text.exit_code == 0);
    const std::string function = workload.name + number;
    const size_t head = text.out.find("Halide::Pipeline " + workload.name + "(");
    REQUIRE(head != std::string::npos);
    std::string source = text.out;
    sources += source.replace(head, 17 + workload.name.size(), "Halide::Pipeline " + function);
    const auto ran = box.run(run);
    INFO(ran.err);
    REQUIRE(ran.exit_code == 0);
    auto array = tensor::read_npy(box.path("out" + number + "/" + workload.output + ".npy"));
    REQUIRE(array);
    body += driver(workload, function, array->shape);
    expected.push_back(std::move(*array));
  }
  box.write("main.cpp", sources + kHead + body + "}\n");
  const std::string halide = TEST_HALIDE;
  const auto compiled =
      box.run_program({TEST_COMPILER, "-std=c++17", "-O0", "-Wall", "-isystem", halide + "/include", "main.cpp", "-o",
                       "main", halide + "/lib64/libHalide.so", "-Wl,-rpath," + halide + "/lib64", "-pthread", "-ldl"});
  INFO(compiled.err);
  REQUIRE(compiled.exit_code == 0);
  const auto ran = box.run_program({box.path("main").string()});
  INFO(ran.err);
  REQUIRE(ran.exit_code == 0);
  for (size_t i = 0; i < kWorkloads.size(); ++i) {
    const std::string bytes = box.read(kWorkloads[i].name + std::to_string(i) + ".bin");
    const auto& array = expected[i];
    REQUIRE(bytes.size() == static_cast<size_t>(array.element_count()) * sizeof(float));
    const auto* got = reinterpret_cast<const float*>(bytes.data());
    double worst = 0;
    for (int64_t e = 0; e < array.element_count(); ++e)
      worst = std::max(worst, std::abs(double(got[e]) - array.as<float>()[e]) / (1 + std::abs(array.as<float>()[e])));
    INFO(kWorkloads[i].name << i);
    CHECK(worst < 1e-5);
  }
}
