#include "codegen/schedule/fusion.h"

#include <fmt/format.h>
#include <algorithm>

namespace tile_tune::codegen {
namespace {

ir::AffineExpr scaled(const ir::AffineExpr& a, int64_t factor) {
  ir::AffineExpr result = a;
  for (auto& term : result.terms) term.second *= factor;
  result.constant = result.constant * factor;
  return result;
}

ir::AffineExpr sum(const ir::AffineExpr& a, const ir::AffineExpr& b) {
  std::map<int, int64_t> terms(a.terms.begin(), a.terms.end());
  for (const auto& [index, coefficient] : b.terms) terms[index] += coefficient;
  ir::AffineExpr result;
  for (const auto& term : terms)
    if (term.second != 0) result.terms.push_back(term);
  result.constant = a.constant + b.constant;
  return result;
}

bool equal(const ir::AffineExpr& a, const ir::AffineExpr& b) {
  return a.terms == b.terms && a.constant == b.constant && a.denominator == b.denominator;
}

int statement_writing(const ir::Program& program, int tensor) {
  for (size_t s = 0; s < program.statements.size(); ++s)
    if (program.statements[s].target == tensor) return static_cast<int>(s);
  return -1;
}

}  // namespace

bool operator==(const Access& a, const Access& b) {
  return a.tensor == b.tensor && a.subscripts.has_value() == b.subscripts.has_value() &&
         (!a.subscripts || std::equal(a.subscripts->begin(), a.subscripts->end(), b.subscripts->begin(), equal));
}

Fusion::Fusion(const ir::Program& program, const Schedule& schedule) : program_(program), schedule_(schedule) {
  for (const auto& statement : program.statements) loops_.push_back(loops_of(program, statement));
  accesses_.resize(program.statements.size());
  for (size_t s = 0; s < program.statements.size(); ++s) {
    std::vector<std::optional<ir::AffineExpr>> values;
    for (size_t i = 0; i < program.statements[s].indices.size(); ++i)
      values.push_back(ir::AffineExpr::index(static_cast<int>(i)));
    collect(static_cast<int>(s), values, true, accesses_[s]);
  }
}

// Which elements the statement reads follows from its loops alone.
bool Fusion::is_whole(int s) const {
  const auto& statement = program_.statements[s];
  const Loops& loops = loops_[s];
  if (!loops.direct || !statement.constraints.empty()) return false;
  for (size_t p = 0; p < loops.output.size(); ++p) {
    const auto range = ir::range(statement.indices[loops.output_index[p]]);
    if (range.lo > loops.first[p] || range.hi < loops.first[p] + loops.output[p]) return false;
  }
  return true;
}

// Elements of the caller's buffer must have been read before anything is written there.
bool Fusion::starts_from_the_caller(int s) const {
  const auto& statement = program_.statements[s];
  const auto from = statement.previous ? statement.previous : statement.unwritten;
  return from && program_.tensors[*from].role == ir::Role::InOut;
}

void Fusion::collect(int s, const std::vector<std::optional<ir::AffineExpr>>& values, bool exact,
                     std::vector<Access>& into) const {
  const auto& statement = program_.statements[s];
  exact = exact && is_whole(s);
  const auto in_terms_of_values = [&](const ir::AffineExpr& subscript) -> std::optional<ir::AffineExpr> {
    ir::AffineExpr result;
    result.constant = subscript.constant;
    for (const auto& [index, coefficient] : subscript.terms) {
      if (!values[index]) return std::nullopt;
      result = sum(result, scaled(*values[index], coefficient));
    }
    return result;
  };
  const auto visit = [&](int tensor, const std::vector<const ir::AffineExpr*>& subscripts) {
    Access access{tensor, std::vector<ir::AffineExpr>()};
    for (size_t d = 0; d < subscripts.size() && access.subscripts; ++d) {
      const bool known = exact && subscripts[d] && subscripts[d]->denominator == 1 &&
                         stays_inside(statement, *subscripts[d], ir::extent(program_.tensors[tensor], d));
      const auto subscript = known ? in_terms_of_values(*subscripts[d]) : std::nullopt;
      if (subscript)
        access.subscripts->push_back(*subscript);
      else
        access.subscripts.reset();
    }
    if (std::find(into.begin(), into.end(), access) != into.end()) return;
    into.push_back(access);
    const int producer = statement_writing(program_, tensor);
    if (producer < 0 || !schedule_.stages[producer].is_inlined()) return;
    std::vector<std::optional<ir::AffineExpr>> inner(program_.statements[producer].indices.size());
    const Loops& loops = loops_[producer];
    for (size_t p = 0; p < loops.output.size() && loops.direct && access.subscripts; ++p) {
      inner[loops.output_index[p]] = (*access.subscripts)[p];
      inner[loops.output_index[p]]->constant = inner[loops.output_index[p]]->constant + loops.first[p];
    }
    collect(producer, inner, access.subscripts.has_value(), into);
  };
  for (const auto& operand : loops_[s].operands) {
    std::vector<const ir::AffineExpr*> subscripts;
    for (const auto& subscript : operand.subscripts) subscripts.push_back(std::get_if<ir::AffineExpr>(&subscript));
    visit(operand.tensor, subscripts);
  }
  for (const auto& from : {statement.previous, statement.unwritten}) {
    if (!from) continue;
    std::vector<const ir::AffineExpr*> subscripts;
    for (const auto& subscript : statement.subscripts) subscripts.push_back(&subscript);
    visit(*from, subscripts);
  }
}

int Fusion::owner_of(int s) const {
  const StageSchedule& stage = schedule_.stages[s];
  if (stage.is_inlined()) return -1;
  return stage.epilogue() ? stage.epilogue()->of : s;
}

int Fusion::stored_by(int owner) const {
  for (size_t s = 0; s < schedule_.stages.size(); ++s)
    if (const auto* epilogue = schedule_.stages[s].epilogue(); epilogue && epilogue->of == owner)
      return static_cast<int>(s);
  return owner;
}

namespace {

// By output loop of an element-wise statement, the host's output loop that runs over the same elements, if the
// statement reads exactly the element of its own position: `subscripts`, into the host's target. Loops that run once
// may be read at a constant instead (operands that are broadcast), and stand for each other in their order.
std::optional<std::vector<int>> places_of_loops(const Loops& own, const Loops& hosts,
                                                const std::vector<ir::AffineExpr>& subscripts) {
  std::vector<int> taking(own.output.size(), -1);
  std::vector<int> constant;
  for (size_t p = 0; p < subscripts.size(); ++p) {
    if (subscripts[p].terms.empty() && hosts.output[p] == 1) constant.push_back(static_cast<int>(p));
    for (size_t q = 0; q < own.output.size(); ++q)
      if (subscripts[p].terms == ir::AffineExpr::index(own.output_index[q]).terms &&
          subscripts[p].constant.constant() == -own.first[q] && own.output[q] == hosts.output[p])
        taking[q] = static_cast<int>(p);
  }
  auto next = constant.begin();
  for (size_t q = 0; q < own.output.size(); ++q) {
    if (taking[q] >= 0) continue;
    if (own.output[q] != 1 || next == constant.end()) return std::nullopt;
    taking[q] = *next++;
  }
  return taking;
}

}  // namespace

std::optional<std::vector<int>> Fusion::epilogue_loops(int s, int host) const {
  const auto& reduction = program_.statements[host];
  const Loops &own = loops_[s], &hosts = loops_[host];
  if (host >= s || hosts.reduction.empty() || !own.reduction.empty() || !hosts.direct || !is_whole(s) ||
      program_.tensors[reduction.target].role != ir::Role::Temporary || starts_from_the_caller(s) ||
      starts_from_the_caller(host) || own.output.size() != hosts.output.size())
    return std::nullopt;
  for (size_t other = 0; other < accesses_.size(); ++other) {
    if (static_cast<int>(other) == s || schedule_.stages[other].is_inlined()) continue;
    for (const auto& access : accesses_[other])
      if (access.tensor == reduction.target) return std::nullopt;
  }
  std::optional<std::vector<int>> result;
  for (const auto& access : accesses_[s]) {
    if (access.tensor != reduction.target) continue;
    if (!access.subscripts) return std::nullopt;
    const auto taking = places_of_loops(own, hosts, *access.subscripts);
    if (!taking || (result && *result != *taking)) return std::nullopt;
    result = taking;
  }
  return result;
}

bool Fusion::may_join(int owner, int host) const {
  const int stored = stored_by(owner);
  return owner != host && owner_of(owner) == owner && owner_of(host) == host && !schedule_.stages[host].compute_at() &&
         !schedule_.stages[host].nest().parallel_reduction && !schedule_.stages[host].nest().scan &&
         !schedule_.stages[owner].nest().scan && stored < stored_by(host) && loops_[owner].direct &&
         loops_[stored].direct && loops_[host].direct &&
         program_.tensors[program_.statements[stored].target].role == ir::Role::Temporary &&
         !starts_from_the_caller(owner) && !starts_from_the_caller(stored);
}

std::pair<int, int> Fusion::depths(int host) const {
  const NestSchedule& stage = schedule_.stages[host].nest();
  const Loops& loops = loops_[host];
  // With a home for its results the inner levels belong to what fills it.
  const size_t levels = has_home(program_, program_.statements[host], loops, stage) ? 1 : stage.order.size();
  if (stage.is_gpu()) return {1, 0};
  return {std::max(stage.cpu().parallel, 1), static_cast<int>(loops.output.size() * levels)};
}

Fusion::Box Fusion::host_box(int host, int depth) const {
  const NestSchedule& stage = schedule_.stages[host].nest();
  const Loops& loops = loops_[host];
  Box box;
  for (const int64_t extent : loops.output) box.push_back({std::vector<int64_t>(loops.output.size(), 0), 0, extent});
  for (int i = 0; i < depth; ++i) {
    const size_t level = static_cast<size_t>(i) / loops.output.size();
    const int p = stage.order[level][static_cast<size_t>(i) % loops.output.size()];
    box[p].extent = std::min(box[p].extent, stage.tiles[p][level]);
    box[p].origin[p] = box[p].extent < loops.output[p] ? 1 : 0;
  }
  return box;
}

// What one access of the statement `reader` touches while its nest's owner runs over a box.
std::optional<Fusion::Box> Fusion::read_box(int reader, const Access& access, const Box& of_owner) const {
  if (!access.subscripts) return std::nullopt;
  const auto& statement = program_.statements[reader];
  const Loops& loops = loops_[reader];
  const int owner = owner_of(reader);
  const auto taking = owner == reader ? std::nullopt : epilogue_loops(reader, owner);
  if (owner != reader && !taking) return std::nullopt;
  Box result;
  for (const auto& subscript : *access.subscripts) {
    Side side{std::vector<int64_t>(of_owner.empty() ? 0 : of_owner[0].origin.size(), 0),
              subscript.constant.constant().value(), 1};
    for (const auto& [index, coefficient] : subscript.terms) {
      int64_t first = 0, last = 0;  // of the index's values, but for the origins
      const auto p =
          std::find(loops.output_index.begin(), loops.output_index.end(), index) - loops.output_index.begin();
      if (p < static_cast<std::ptrdiff_t>(loops.output.size())) {
        const Side& along = of_owner[taking ? (*taking)[p] : p];
        first = loops.first[p] + along.min;
        last = first + along.extent - 1;
        for (size_t q = 0; q < side.origin.size(); ++q) side.origin[q] += coefficient * along.origin[q];
      } else {
        const auto range = ir::range(statement.indices[index]);
        first = range.lo;
        last = range.hi - 1;
      }
      if (last < first) return std::nullopt;
      side.min += std::min(coefficient * first, coefficient * last);
      side.extent += std::abs(coefficient) * (last - first);
    }
    result.push_back(side);
  }
  return result;
}

std::optional<Fusion::Box> Fusion::box(int owner, int least_depth, Place& place) const {
  if (owner == place.host) return host_box(place.host, place.depth);
  if (const auto known = place.boxes.find(owner); known != place.boxes.end()) return known->second;
  std::optional<Box>& result = place.boxes[owner];
  const int stored = stored_by(owner), tensor = program_.statements[stored].target;
  std::optional<Box> all;
  for (size_t reader = 0; reader < accesses_.size(); ++reader) {
    for (const auto& access : accesses_[reader]) {
      const int reading = owner_of(static_cast<int>(reader));
      if (access.tensor != tensor || reading < 0) continue;
      const auto* at = schedule_.stages[reading].compute_at();
      if (reading != place.host && !(at && at->statement == place.host && at->depth >= least_depth))
        return std::nullopt;
      const auto of_reader = box(reading, least_depth, place);
      const auto part = of_reader ? read_box(static_cast<int>(reader), access, *of_reader) : std::nullopt;
      if (!part) return std::nullopt;
      if (!all) all = part;
      for (size_t d = 0; d < part->size(); ++d) {
        Side& side = (*all)[d];
        if (side.origin != (*part)[d].origin) return std::nullopt;
        const int64_t end = std::max(side.min + side.extent, (*part)[d].min + (*part)[d].extent);
        side.min = std::min(side.min, (*part)[d].min);
        side.extent = end - side.min;
      }
    }
  }
  if (!all || owner == stored) return result = all;
  const auto taking = epilogue_loops(stored, owner);
  if (!taking) return std::nullopt;
  Box of_owner(all->size());
  for (size_t q = 0; q < all->size(); ++q) of_owner[(*taking)[q]] = (*all)[q];
  return place.boxes[owner] = of_owner;
}

std::optional<std::vector<int64_t>> Fusion::extents(int owner, const ComputeAt& at) const {
  if (!may_join(owner, at.statement)) return std::nullopt;
  const auto [first, last] = depths(at.statement);
  if (at.depth < first || at.depth > last) return std::nullopt;
  Place place{at.statement, at.depth, {}};
  const auto of_owner = box(owner, at.depth, place);
  if (!of_owner) return std::nullopt;
  std::vector<int64_t> result;
  for (const Side& side : *of_owner) result.push_back(side.extent);
  return result;
}

std::optional<std::vector<int64_t>> Fusion::extents(int owner) const {
  const auto* at = schedule_.stages[owner].compute_at();
  return at ? extents(owner, *at) : loops_[owner].output;
}

int Fusion::least_packing_depth(int owner, int operand) const {
  int least = 0;
  const auto look_at = [&](int tensor, const auto& again) -> void {
    const int producer = statement_writing(program_, tensor);
    if (producer < 0) return;
    if (schedule_.stages[producer].is_inlined()) {
      for (const auto& access : accesses_[producer]) again(access.tensor, again);
      return;
    }
    const auto* at = schedule_.stages[owner_of(producer)].compute_at();
    if (at && at->statement == owner) least = std::max(least, at->depth);
  };
  const int tensor = loops_[owner].operands[operand].tensor;
  if (schedule_.stages[owner].compute_at() && program_.tensors[tensor].role == ir::Role::Input) return -1;
  look_at(tensor, look_at);
  return least;
}

int Fusion::copy_depth(int owner, int operand) const {
  const auto* at = schedule_.stages[owner].compute_at();
  if (!at) return 0;
  Place place{at->statement, at->depth, {}};
  const auto of_owner = box(owner, at->depth, place);
  const NestSchedule& host = schedule_.stages[at->statement].nest();
  const size_t outputs = loops_[at->statement].output.size();
  const auto moves = [&](const ir::Subscript& subscript, int q) {
    for (size_t p = 0; p < loops_[owner].output.size(); ++p)
      if (std::get<ir::AffineExpr>(subscript).coefficient(loops_[owner].output_index[p]) != 0 &&
          (*of_owner)[p].origin[q] != 0)
        return true;
    return false;
  };
  int depth = 0;
  for (int i = 0; i < at->depth; ++i) {
    const int q = host.order[static_cast<size_t>(i) / outputs][static_cast<size_t>(i) % outputs];
    for (const auto& subscript : loops_[owner].operands[operand].subscripts)
      if (of_owner && moves(subscript, q)) depth = i + 1;
  }
  return depth > 0 ? std::max(depth, host.cpu().parallel) : 0;
}

Result<void> check_roles(const ir::Program& program, const Schedule& schedule) {
  const int count = static_cast<int>(program.statements.size());
  std::vector<bool> has_epilogue(count, false);
  const auto invalid = [](size_t s, const char* what) {
    return fail(ErrorClass::Program, "invalid-schedule",
                fmt::format("the schedule does not fit statement {} of this program: {}", s, what));
  };
  for (size_t s = 0; s < schedule.stages.size(); ++s) {
    const StageSchedule& stage = schedule.stages[s];
    if (stage.is_inlined() && inline_consumer(program, static_cast<int>(s)) < 0)
      return invalid(s, "it cannot be computed inside its consumer");
    if (!stage.epilogue()) continue;
    const int host = stage.epilogue()->of;
    if (host < 0 || host >= static_cast<int>(s) || has_epilogue[host] || !schedule.stages[host].find_nest())
      return invalid(s, "it is the epilogue of a statement that cannot have one");
    has_epilogue[host] = true;
  }
  for (size_t s = 0; s < schedule.stages.size(); ++s)
    if (const auto* at = schedule.stages[s].compute_at(); at && (at->statement < 0 || at->statement >= count))
      return invalid(s, "it is computed inside a statement that is not there");
  return {};
}

}  // namespace tile_tune::codegen
