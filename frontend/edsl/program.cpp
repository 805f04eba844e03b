// Program: the finished graph as IR, and its JSON form.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>

#include "base/whole_file.h"
#include "frontend/edsl/errors.h"
#include "frontend/edsl/node.h"
#include "frontend/ir/canonical.h"
#include "frontend/ir/describe.h"
#include "frontend/ir/json.h"
#include "frontend/plan/program_warnings.h"

namespace tile_tune {

const char* version() { return TILE_TUNE_VERSION; }

namespace edsl {

Program::Program(const std::string& name, const std::vector<Tensor>& inputs,
                 const std::vector<std::pair<std::string, Tensor>>& outputs, const Where& where) {
  if (!is_identifier(name))
    raise("bad-name", fmt::format("'{}' cannot name a program", name), where, "take letters, digits and underscores");
  if (outputs.empty()) raise("no-output", fmt::format("{} has no output", name), where);
  auto lowered = detail::lower(name, inputs, outputs, where);
  for (const auto& warning : lowered.warnings) warnings_.push_back(message_of(warning));
  auto checked = value_or_raise(ir::bind(lowered.program, {}), where);
  program_ = std::make_shared<const ir::Program>(std::move(checked));
}

Program::Program(ir::Program program, AtSizes at_sizes, std::vector<Message> warnings)
    : program_(std::make_shared<const ir::Program>(std::move(program))),
      at_sizes_(std::move(at_sizes)),
      warnings_(std::move(warnings)) {
  // Of a program that has its sizes already nobody asks again.
  if (!program_->is_bound()) return;
  for (const auto& warning : plan::program_warnings(*program_)) warnings_.push_back(message_of(warning));
}

Program::Program(ir::Program symbolic, const std::map<std::string, int64_t>& sizes, const Where* where)
    : sizes_(sizes) {
  auto bound = ir::bind(symbolic, sizes);
  if (!bound && where) value_or_raise(Result<void>(tl::unexpected(bound.error())), *where);
  if (!bound) raise(bound.error());
  for (const auto& warning : plan::program_warnings(*bound)) warnings_.push_back(message_of(warning));
  program_ = std::make_shared<const ir::Program>(std::move(*bound));
  symbolic_ = std::make_shared<const ir::Program>(std::move(symbolic));
}

const std::string& Program::name() const { return program_->name; }

Program Program::bind(const std::map<std::string, int64_t>& sizes, const Where& where) const {
  Program bound(ir_at(sizes), sizes, &where);
  bound.warnings_.insert(bound.warnings_.begin(), warnings_.begin(), warnings_.end());
  return bound;
}

ir::Program Program::ir_at(const std::map<std::string, int64_t>& sizes) const {
  return at_sizes_ ? at_sizes_(sizes) : *program_;
}

std::string Program::content_hash(const Where& where) const {
  if (!program_->is_bound())
    raise("missing-size", fmt::format("{} has no number for size {}", name(), program_->sizes.front()), where,
          "Program::bind gives it one");
  return ir::content_hash(*program_);
}

std::string Program::json() const {
  // Paths of source files need not be UTF-8.
  return ir::to_json(*program_).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

void Program::save(const std::string& path, const Where& where) const {
  if (auto written = base::replace_file(path, json()); !written) {
    written.error().place = place_of(where);
    raise(written.error());
  }
}

std::ostream& operator<<(std::ostream& stream, const Program& program) {
  stream << ir::signature(program.ir()) << "\n";
  for (const auto& statement : program.ir().statements) stream << "  " << ir::to_text(program.ir(), statement) << "\n";
  return stream;
}

}  // namespace edsl
}  // namespace tile_tune
