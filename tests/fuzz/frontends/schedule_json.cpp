#include <nlohmann/json.hpp>

#include "codegen/schedule/check.h"
#include "frontend/ir/canonical.h"
#include "frontend/tc/parse.h"
#include "tests/fuzz/frontends/entries.h"
#include "tests/fuzz/frontends/promises.h"

namespace tile_tune::fuzz {
namespace {

std::vector<ir::Program> programs() {
  constexpr std::string_view kTexts[] = {
      "def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
      "def f(float(N) A) -> (s) { s max=! A(i) }",
      "def f(float(N,M) A, float(M) b) -> (C) { t(i,j) = A(i,j) - b(j)  C(i) +=! t(i,j) * t(i,j) }",
  };
  std::vector<ir::Program> result;
  for (const auto text : kTexts) {
    const ir::Program program = tile_tune::tc::parse(text, "").value().programs.at(0);
    ir::Sizes sizes;
    for (const auto& name : program.sizes) sizes[name] = name == "K" ? 7 : 48;
    result.push_back(ir::canonicalize(ir::bind(program, sizes).value()));
  }
  return result;
}

}  // namespace

void schedule_json(std::string_view bytes) {
  static const std::vector<ir::Program> kPrograms = programs();
  const auto json = nlohmann::json::parse(bytes, nullptr, false);
  const auto schedule = codegen::schedule_from_json(json);
  if (!schedule) {
    render(schedule.error());
    return;
  }
  const auto again = codegen::schedule_from_json(codegen::to_json(*schedule));
  require(again && *again == *schedule, "a schedule survives its JSON form");
  codegen::schedule_id(*schedule);
  for (const auto& program : kPrograms)
    if (const auto fits = codegen::check(program, *schedule); !fits) render(fits.error());
}

}  // namespace tile_tune::fuzz
