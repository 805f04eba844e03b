#include "tests/fuzz/frontends/promises.h"

#include <stdexcept>
#include <nlohmann/json.hpp>

#include "frontend/ir/canonical.h"
#include "frontend/ir/describe.h"
#include "frontend/ir/domain.h"
#include "frontend/ir/json.h"
#include "frontend/ir/validate.h"

namespace tile_tune::fuzz {
namespace {

// All of it takes about half a millisecond a statement: 80,000 of them, a megabyte, would say nothing new.
constexpr size_t kMaxStatements = 500;

std::string text(const ir::Program& program) {
  return to_json(program).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void require_valid(const ir::Program& program) {
  if (const auto valid = ir::validate(program); !valid) throw std::logic_error(valid.error().message);
  const auto again = ir::program_from_json(to_json(program));
  if (!again) throw std::logic_error(again.error().message);
  require(text(*again) == text(program), "a program survives its JSON form");
}

void require_answers(const ir::Program& program) {
  ir::signature(program);
  ir::flops(program);
  ir::traffic(program);
  for (const auto& statement : program.statements) {
    ir::to_text(program, statement);
    (void)ir::domain_size(program, statement);  // may stop at its limit
  }
}

}  // namespace

void require(bool holds, const char* what) {
  if (!holds) throw std::logic_error(std::string("broken promise: ") + what);
}

void require_promises(const ir::Program& program, const ir::Sizes& known) {
  if (program.statements.size() > kMaxStatements) return;
  require_valid(program);
  ir::signature(program);
  ir::family_hash(program);
  ir::Sizes sizes = known;
  for (size_t i = 0; i < program.sizes.size(); ++i) {
    constexpr int64_t kSizes[] = {5, 3, 2, 7, 1};
    sizes.emplace(program.sizes[i], kSizes[i % std::size(kSizes)]);
  }
  const auto bound = ir::bind(program, sizes);
  if (!bound) {
    render(bound.error());
    return;
  }
  require_valid(*bound);
  require_answers(*bound);
  const ir::Program canonical = ir::canonicalize(*bound);
  require_valid(canonical);
  require_answers(canonical);
  require(text(ir::canonicalize(canonical)) == text(canonical), "a canonical program is its own canonical form");
  require(ir::content_hash(canonical) == ir::content_hash(*bound), "the canonical form keeps the content hash");
  require(ir::bind(canonical, {}).has_value(), "what was bound can be bound again");
}

}  // namespace tile_tune::fuzz
