// tile-tune explain: domains in plain words, and the schedule that would be taken.
#include <catch2/catch.hpp>
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
  const std::vector<std::string> sizes = {"-s", "R=3", "-s", "C=5"};
  std::vector<std::string> command = {"explain", "matvec.tc", "--what", "schedule"};
  command.insert(command.end(), sizes.begin(), sizes.end());
  const auto text = box.run(command);
  CHECK(text.exit_code == 0);
  CHECK(text.err.find("[untuned]") != std::string::npos);
  // What is printed is what --schedule takes.
  box.write("schedule.json", text.out);
  command.emplace_back("--json");
  const auto json = nlohmann::json::parse(box.run(command).out);
  CHECK(json["provenance"] == "default");
  CHECK(json["schedule"] == nlohmann::json::parse(text.out));
  CHECK(box.run({"explain", "matvec.tc", "--what", "schedule"}).exit_code == 3);
  // The loops it makes, without the checks of arguments before them.
  const auto loops = box.run({"explain", "matvec.tc", "-s", "R=64", "-s", "C=512", "--what", "loops"});
  CHECK(loops.exit_code == 0);
  CHECK(loops.out.find("for (") != std::string::npos);
  CHECK(loops.out.find("tensor0[ramp(") != std::string::npos);
  CHECK(loops.out.find("assert(") == std::string::npos);
  CHECK(box.run({"explain", "matvec.tc", "--what", "asm"}).exit_code == 2);
}
