#include "frontend/ir/storage.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "frontend/ir/canonical.h"
#include "frontend/ir/json.h"
#include "programs.h"

using namespace tile_tune;
using namespace tile_tune::ir;
using namespace tile_tune::ir::test;

namespace {

using Integers = std::vector<int64_t>;
using Order = std::vector<int>;

const FromBuffer kAny;

Tensor tensor(Integers shape, Storage storage, Role role = Role::Input, DType type = DType::F32) {
  return {"T", type, {shape.begin(), shape.end()}, role, std::move(storage)};
}

std::string normal(const Tensor& tensor) { return to_text(normal_storage(tensor).value()); }

std::string fault(const Tensor& tensor) {
  const auto storage = normal_storage(tensor);
  REQUIRE_FALSE(storage);
  CHECK(storage.error().code == "bad-layout");
  return storage.error().message;
}

}  // namespace

TEST_CASE("strides and order of compact tensors") {
  CHECK(strides(tensor({3, 5, 7}, Storage::row())) == Integers{35, 7, 1});
  CHECK(strides(tensor({3, 5, 7}, Storage::col())) == Integers{1, 3, 15});
  CHECK(memory_order(tensor({3, 5, 7}, Storage::row())) == Order{2, 1, 0});
  CHECK(memory_order(tensor({3, 5, 7}, Storage::col())) == Order{0, 1, 2});
  CHECK(strides(tensor({}, Storage::row())).empty());
  CHECK(reach(tensor({3, 5, 7}, Storage::col())).count == 105);
  CHECK(reach(tensor({}, Storage::row())).count == 1);
  CHECK(reach(tensor({int64_t{1} << 40, int64_t{1} << 40, 0}, Storage::row())).count == 0);
}

TEST_CASE("the order of dimensions follows from their strides, that of repeated ones last") {
  CHECK(Storage::strided({1, 10, 100}).order(3) == Order{0, 1, 2});
  CHECK(Storage::strided({-50, 1, -7}).order(3) == Order{1, 2, 0});
  CHECK(Storage::strided({0, 1, 5}).order(3) == Order{1, 2, 0});
  CHECK(Storage::strided({kAny, kAny, 1}).order(3) == Order{2, 1, 0});
  CHECK(Storage::strided({1, kAny, kAny}).order(3) == Order{0, 1, 2});
  CHECK(Storage::strided({kAny, 1, 0, kAny}).order(4) == Order{1, 3, 0, 2});
  CHECK(Storage::strided({kAny, kAny, 1}, {2, 0, 1}).order(3) == Order{2, 0, 1});
  // Of loops that are not the tensor's dimensions.
  CHECK(Storage::strided({1, 10, 100}).order(2) == Order{0, 1});
  CHECK(Storage::strided({10, 1}).order(3) == Order{2, 1, 0});
}

TEST_CASE("what lies between the first and the last element in memory") {
  const auto reached = [](Integers strides, Integers extents) {
    const Reach result = reach(strides, extents);
    return std::pair(result.before, result.count);
  };
  CHECK(reached({40, 1}, {7, 13}) == std::pair<int64_t, int64_t>(0, 6 * 40 + 13));
  CHECK(reached({-40, 1}, {7, 13}) == std::pair<int64_t, int64_t>(240, 6 * 40 + 13));
  CHECK(reached({-13, -1}, {7, 13}) == std::pair<int64_t, int64_t>(90, 91));
  CHECK(reached({0, 1}, {7, 13}) == std::pair<int64_t, int64_t>(0, 13));
  CHECK(reached({5}, {0}) == std::pair<int64_t, int64_t>(0, 0));
  CHECK(reached({5}, {1}) == std::pair<int64_t, int64_t>(0, 1));
}

TEST_CASE("elements that lie in one place") {
  CHECK_FALSE(has_overlap({40, 1}, {7, 13}));
  CHECK_FALSE(has_overlap({-1, 7}, {7, 13}));
  CHECK_FALSE(has_overlap({3, 2}, {2, 2}));  // 0, 2, 3, 5: between each other
  CHECK(has_overlap({3, 2}, {3, 4}));        // 6 twice
  CHECK(has_overlap({12, 1}, {2, 13}));
  CHECK(has_overlap({0, 1}, {2, 13}));
  CHECK_FALSE(has_overlap({0, 1}, {1, 13}));
  CHECK_FALSE(has_overlap({0, 0}, {0, 13}));
}

TEST_CASE("a bound tensor's storage is said in one way") {
  CHECK(normal(tensor({7, 13}, Storage::strided({13, 1}))) == "row");
  CHECK(normal(tensor({7, 13}, Storage::strided({1, 7}))) == "col");
  CHECK(normal(tensor({7, 13}, Storage::strided({14, 1}))) == "14,1");
  CHECK(normal(tensor({1, 13}, Storage::strided({999, 1}))) == "row");
  CHECK(normal(tensor({7, 1, 13}, Storage::strided({20, 999, 1}))) == "20,1,1");
  CHECK(normal(tensor({7, 1, 13}, Storage::strided({20, kAny, 1}))) == "20,1,1");
  CHECK(normal(tensor({0, 13}, Storage::strided({-3, -3}))) == "row");
  CHECK(normal(tensor({13}, Storage::strided({1}))) == "row");
  CHECK(normal(tensor({13}, Storage::strided({-1}))) == "-1");
  CHECK(normal(tensor({7, 13}, Storage::strided({kAny, 1}))) == "any,1");
  CHECK(normal(tensor({7, 13}, Storage::strided({kAny, 1}, {1, 0}))) == "any,1");
  CHECK(normal(tensor({7, 13}, Storage::strided({kAny, kAny}, {0, 1}))) == "any,any@0,1");
  CHECK(Storage::strided({}) == Storage::row());
}

TEST_CASE("strides that no tensor can have") {
  CHECK(fault(tensor({7, 13}, Storage::strided({1}))) == "T has 2 dimensions, but 1 stride: 1");
  CHECK(fault(tensor({7}, Storage::strided({2, 1}))) == "T has 1 dimension, but 2 strides: 2,1");
  CHECK(fault(tensor({7}, Storage::strided({2}), Role::Temporary)) == "T is no argument, and has no strides");
  auto constant = tensor({7, 13}, Storage::strided({kAny, 1}));
  constant.constant = true;
  CHECK(fault(constant) == "T is a constant with strides that are known only when it is packed: any,1");
  for (const Role role : {Role::Output, Role::InOut})
    CHECK(fault(tensor({7, 13}, Storage::strided({1, 1}), role)) ==
          "the strides 1,1 of T put two elements in one place");
  CHECK(normal(tensor({7, 13}, Storage::strided({1, 1}))) == "1,1");
  CHECK(normal(tensor({7, 13}, Storage::strided({0, 0}))) == "0,0");
  constexpr int64_t kFar = int64_t{1} << 61;
  for (const int64_t stride : {kFar, -kFar, INT64_MIN, INT64_MAX})
    CHECK(fault(tensor({7, 13}, Storage::strided({stride, 1}))).find("reach beyond") != std::string::npos);
}

TEST_CASE("storage as people write it") {
  for (const char* text : {"row", "col", "4096,1", "-1", "0,1", "any,1", "1,any", "any,any,1@2,0,1", "K+16,1",
                           "M-2*K-1,any", "K*M,M,1@2,0,1"}) {
    const auto storage = parse_storage(text);
    REQUIRE(storage);
    CHECK(to_text(*storage) == text);
  }
  CHECK(to_text(*parse_storage("any,any,1@2,1,0")) == "any,any,1");
  CHECK(to_text(*parse_storage("2*3+4,K-K+1,1@2,1,0")) == "10,1,1");
  for (const char* text : {"",
                           ",",
                           "4096,",
                           "1.5",
                           "K+,1",
                           "K,+K",
                           "K*,1",
                           "*K,1",
                           "K K,1",
                           "2K,1",
                           "K--1,1",
                           "(K),1",
                           "9223372036854775807*2,1",
                           "K\n,1",
                           "\xc3\xa4,1",
                           "1,1@0",
                           "1,1@0,0",
                           "1,1@0,2",
                           "1@x",
                           "4096 ,1",
                           "99999999999999999999,1",
                           "+1",
                           "row,col"}) {
    const auto storage = parse_storage(text);
    CAPTURE(text);
    REQUIRE_FALSE(storage);
    CHECK(storage.error().code == "bad-layout");
    CHECK(storage.error().error_class == ErrorClass::Program);
  }
}

TEST_CASE("rows and columns have the JSON form that they always had, strides extend it") {
  Program program = matmul();
  CHECK(to_json(program)["tensors"][0]["layout"] == "row");
  program.tensors[0].storage = Storage::col();
  CHECK(to_json(program)["tensors"][0]["layout"] == "col");
  program.tensors[0].storage = Storage::strided({-40, kAny});
  program.tensors[1].storage = Storage::strided({kAny, kAny}, {0, 1});
  const auto json = to_json(program);
  CHECK(json["tensors"][0]["layout"].dump() == R"({"strides":[-40,"any"]})");
  CHECK(json["tensors"][1]["layout"].dump() == R"({"order":[0,1],"strides":["any","any"]})");
  const auto read = program_from_json(json);
  REQUIRE(read);
  CHECK(read->tensors[0].storage == program.tensors[0].storage);
  CHECK(read->tensors[1].storage == program.tensors[1].storage);
  CHECK(content_hash(*read) == content_hash(matmul()));  // what is computed; records have the storage beside it
}

TEST_CASE("programs with strides that make no sense are not read") {
  for (const char* layout :
       {R"("diagonal")", R"({"strides":[1]})", R"({"strides":[]})", R"({"strides":[1,"some"]})",
        R"({"strides":[1,1.5]})", R"({"strides":[7,1],"order":[0]})", R"({"strides":[7,1],"order":[0,0]})",
        R"({"strides":[7,1],"order":[0,2]})", R"({"strides":[7,1],"offset":3})", R"({})", "7"}) {
    auto json = to_json(matmul());
    json["tensors"][0]["layout"] = nlohmann::json::parse(layout);
    CAPTURE(layout);
    const auto read = program_from_json(json);
    REQUIRE_FALSE(read);
    CHECK(read.error().code == "malformed-program");
  }
}

TEST_CASE("strides over sizes are numbers once these are bound") {
  Program program = matmul();  // A(M,K), B(K,N), C(M,N)
  program.tensors[0].storage = *parse_storage("K+3,1");
  program.tensors[1].storage = *parse_storage("1,K");
  CHECK(program.tensors[0].storage.names() == std::set<std::string>{"K"});
  const auto json = to_json(program);
  const auto read = program_from_json(json);
  REQUIRE(read);
  CHECK(read->tensors[0].storage == program.tensors[0].storage);
  const auto bound = bind(*read, {{"M", 7}, {"K", 13}, {"N", 11}});
  REQUIRE(bound);
  CHECK(to_text(bound->tensors[0].storage) == "16,1");
  CHECK(bound->tensors[1].storage == Storage::col());
  // The order that names have none of follows from the numbers.
  program.tensors[0].storage = *parse_storage("1,M-2");
  CHECK(bind(program, {{"M", 7}, {"K", 13}, {"N", 11}})->tensors[0].storage.order(2) == Order{0, 1});
  program.tensors.back().storage = *parse_storage("N-1,1");
  const auto narrow = bind(program, {{"M", 7}, {"K", 13}, {"N", 11}});
  REQUIRE_FALSE(narrow);
  CHECK(narrow.error().message == "the strides 10,1 of C put two elements in one place");
  program.tensors.back().storage = *parse_storage("X,1");
  const auto unknown = program_from_json(to_json(program));
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().code == "malformed-program");
}

TEST_CASE("binding sizes looks at strides and says them in one way") {
  Program program = matmul();  // A(M,K), B(K,N), C(M,N)
  program.tensors[0].storage = Storage::strided({13, 1});
  program.tensors.back().storage = Storage::strided({11, 1});
  const auto bound = bind(program, {{"M", 7}, {"K", 13}, {"N", 11}});
  REQUIRE(bound);
  CHECK(bound->tensors[0].storage == Storage::row());
  CHECK(bound->tensors.back().storage == Storage::row());
  const auto narrow = bind(program, {{"M", 7}, {"K", 14}, {"N", 12}});
  REQUIRE_FALSE(narrow);
  CHECK(narrow.error().code == "bad-layout");
  CHECK(narrow.error().error_class == ErrorClass::Mismatch);
}
