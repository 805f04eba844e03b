// tile-tune explain: domains in plain words, and the schedule that would be taken.
#include <catch2/catch.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "sandbox.h"

using namespace tile_tune::test;

TEST_CASE("explain tells every statement's ranges, what bounds them, and what it writes") {
  const Sandbox box;
  box.write("two.tc", R"(def two(float(N) A, float(K) W) -> (float(N) O) {
  O(i) = A(i)
  O(i) += A(i + k) * W(k) where i in 0:N - K + 1
}
)");
  const auto symbolic = box.run({"explain", "two.tc"});
  CHECK(symbolic.exit_code == 0);
  CHECK(symbolic.err.empty());
  CHECK(symbolic.out == R"(two(float(N) A, float(K) W) -> (float(N) O)

  O_1(i) = A(i)
    index  range   bounded by
    i      [0, N)  the declared type of O, dimension 0
    writes every element of O_1

  O(i) += A(i + k) * W(k)
    index  range           reduced  bounded by
    i      [0, N - K + 1)           where clause
    k      [0, K)          summed   A(i + k), dimension 0
    sums the values over k
    writes O(i) with i from 0 to N - K; the others keep the value of O_1
)");
  const auto bound = box.run({"explain", "two.tc", "-s", "N=13", "-s", "K=3", "--what", "domain"});
  CHECK(bound.out.find("i      [0, 11)") != std::string::npos);
  CHECK(bound.out.find("writes O(i) with i from 0 to 10; the others keep the value of O_1\n    33 points\n") !=
        std::string::npos);
}

TEST_CASE("what conditions leave to be written is told of sizes that are known") {
  const Sandbox box;
  box.write("rows.tc", R"(def rows(float(N,N) A) -> (S, T) {
  S(i) +=! i + j < N ? A(i,j) : 0 where i in 0:N, j in 0:N
  T(i) +=! i + j + 1 < N ? A(i,j) : 0 where i in 0:N, j in 0:N
}
)");
  const auto result = box.run({"explain", "rows.tc", "-s", "N=5", "--what", "domain"});
  CHECK(result.exit_code == 0);
  CHECK(result.out.find("writes every element of S") != std::string::npos);
  CHECK(result.out.find("writes T(i) with i from 0 to 3; the others are 0") != std::string::npos);
}

TEST_CASE("explain as JSON") {
  const Sandbox box;
  const auto result = box.run({"explain", "matmul.tc", "--json", "-s", "M=3", "-s", "N=5", "-s", "K=7"});
  REQUIRE(result.exit_code == 0);
  const auto statement = nlohmann::json::parse(result.out)["programs"][0]["statements"][0];
  CHECK(statement["points"] == 105);
  CHECK(statement["constraints"].empty());
  CHECK(statement["writes"]["all"] == true);
  CHECK(statement["writes"]["dimensions"][1] == nlohmann::json{{"subscript", "n"}, {"from", 0}, {"to", 4}});
  CHECK(statement["indices"][2]["reduction"] == true);
}

TEST_CASE("explain shows the schedule that would be taken, and refuses what it cannot show") {
  const Sandbox box;
  const auto explain = [&](const std::string& what, std::vector<std::string> more = {}) {
    std::vector<std::string> command = {"explain", "matvec.tc", "--what", what, "-s", "R=30", "-s", "C=512"};
    command.insert(command.end(), more.begin(), more.end());
    return box.run(command);
  };
  const auto text = explain("schedule");
  CHECK(text.exit_code == 0);
  CHECK(text.err.find("[untuned]") != std::string::npos);
  CHECK(text.out.find("Halide::Pipeline matvec(") != std::string::npos);
  const auto answer = explain("schedule", {"--json"});
  const auto json = nlohmann::json::parse(answer.out);
  CHECK(json["provenance"] == "default");
  CHECK(json["halide"] == text.out);
  // The whole answer and the schedule in it are what --schedule takes.
  box.write("answer.json", answer.out);
  box.write("schedule.json", json["schedule"].dump());
  for (const char* file : {"answer.json", "schedule.json"})
    CHECK(nlohmann::json::parse(explain("loops", {"--json", "--schedule", file}).out)["schedule"] == json["schedule"]);
  CHECK(box.run({"explain", "matvec.tc", "--what", "schedule"}).exit_code == 3);
  CHECK(explain("domain", {"--schedule", "schedule.json"}).exit_code == 2);
  CHECK(explain("everything").exit_code == 2);
}

TEST_CASE("explain shows loops in a few lines with the program's names, and the parallel one") {
  const Sandbox box;
  const auto loops = box.run({"explain", "matmul.tc", "-s", "M=512", "-s", "N=512", "-s", "K=512", "--threads", "2",
                              "--what", "loops", "--target", "x86-64-linux-sse41"});
  INFO(loops.out << loops.err);
  CHECK(loops.exit_code == 0);
  CHECK(std::count(loops.out.begin(), loops.out.end(), '\n') <= 8);
  CHECK(loops.out.find("parallel for n by ") != std::string::npos);
  CHECK(loops.out.find("for k") != std::string::npos);
  CHECK(loops.out.find("C(m,n) +=! A(m,k) * B(k,n)") != std::string::npos);
}

TEST_CASE("explain shows the hot loop") {
  const Sandbox box;
  const auto loop = box.run({"explain", "matmul.tc", "-s", "M=512", "-s", "N=512", "-s", "K=512", "--threads", "2",
                             "--what", "asm", "--target", "x86-64-linux-sse41"});
  INFO(loop.out << loop.err);
  CHECK(loop.exit_code == 0);
  CHECK(loop.out.starts_with("# the innermost loop with most arithmetic: "));
  CHECK(loop.out.find("mulps") != std::string::npos);
  CHECK(loop.out.find("addps") != std::string::npos);
  CHECK(std::count(loop.out.begin(), loop.out.end(), '\n') < 200);
}
