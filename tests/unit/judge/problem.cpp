#include "search/judge/problem.h"

#include <catch2/catch.hpp>

#include "search/workers/session_directory.h"
#include "tests/unit/judge/programs.h"

using namespace tile_tune;
using namespace tile_tune::search;

TEST_CASE("a problem reads back as it was written") {
  const auto directory = SessionDirectory::create();
  REQUIRE(directory);
  const auto problem = make_problem(test::doubling(3, 5), 7);
  REQUIRE(problem);
  CHECK_FALSE(problem->sampled);
  CHECK(problem->expected.at(0).values.size() == 15);
  REQUIRE(write_problem(*problem, directory->path() / "p"));
  const auto read = read_problem(directory->path() / "p");
  REQUIRE(read);
  CHECK(read->program.name == "doubling");
  CHECK(read->inputs.at(0).data == problem->inputs.at(0).data);
  CHECK(read->inputs.at(0).shape == std::vector<int64_t>{3, 5});
  CHECK(read->expected.at(0).tensor == 1);
  CHECK(read->expected.at(0).elements == problem->expected.at(0).elements);
  CHECK(read->expected.at(0).values == problem->expected.at(0).values);
  CHECK(read->expected.at(0).tolerances == problem->expected.at(0).tolerances);
  CHECK_FALSE(read_problem(directory->path() / "q"));
}

TEST_CASE("many outputs are judged by a sample with borders") {
  const auto problem = make_problem(test::doubling(2048, 1025), 7);
  REQUIRE(problem);
  CHECK(problem->sampled);
  const auto& elements = problem->expected.at(0).elements;
  CHECK(elements.size() >= 4096);
  CHECK(elements.size() < 2048 * 1025 / 2);
  CHECK(elements.back() >= 2047 * 1025);
}

TEST_CASE("what costs more than there is time for is judged by fewer elements") {
  const auto program = test::doubling(512, 1025);
  const double whole = reference::evaluation_seconds(program);
  const auto size_within = [&](double seconds) {
    const auto problem = make_problem(program, 7, nullptr, seconds);
    REQUIRE(problem);
    CHECK(problem->sampled == (seconds < whole));
    return problem->expected.at(0).elements.size();
  };
  CHECK(size_within(2 * whole) == 512 * 1025);
  const size_t some = size_within(whole * 1000 / (512 * 1025)), few = size_within(0);
  CHECK(few >= 64);
  CHECK(few < some);
  CHECK(some < 6000);
}

TEST_CASE("an operand that is broadcast by strides of 0 has each element once") {
  auto program = test::doubling(3, 5);
  const int input = program.inputs.at(0);
  program.tensors[static_cast<size_t>(input)].storage = ir::Storage::strided({int64_t{0}, int64_t{1}});
  const auto problem = make_problem(program, 7);
  REQUIRE(problem);
  for (const auto* inputs : {&problem->inputs, &problem->special.at(0).inputs}) {
    const auto& array = inputs->at(input);
    CHECK(array.data.size() == 5 * sizeof(float));
    CHECK(array.shape == std::vector<int64_t>{3, 5});
    CHECK(array.strides == std::vector<int64_t>{0, 1});
  }
  for (size_t i = 0; i < 15; ++i)
    CHECK(problem->expected.at(0).values.at(i) == 2 * problem->inputs.at(input).as<float>()[i % 5]);
}

TEST_CASE("outputs travel through files, empty ones too") {
  const auto directory = SessionDirectory::create();
  REQUIRE(directory);
  for (const int64_t rows : {int64_t{2}, int64_t{0}}) {
    const auto program = test::doubling(rows, 2);
    auto array = tensor::Array::zeros(DType::F32, {rows, 2});
    if (rows) array.as<float>()[3] = 1.5;
    REQUIRE(write_outputs({array}, directory->path()));
    const auto read = read_outputs(program, directory->path());
    REQUIRE(read);
    CHECK(read->at(0).data == array.data);
    CHECK(buffer_bytes(program) == 2 * 2 * 4 * rows);
  }
}

TEST_CASE("a session's directory goes with it, and only such a directory is swept up") {
  std::filesystem::path path;
  {
    const auto directory = SessionDirectory::create();
    REQUIRE(directory);
    path = directory->path();
    CHECK(std::filesystem::is_directory(path));
    remove_abandoned_session(path.parent_path());
    CHECK(std::filesystem::is_directory(path));
  }
  CHECK_FALSE(std::filesystem::exists(path));
}
