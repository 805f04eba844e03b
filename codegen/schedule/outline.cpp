#include "codegen/schedule/outline.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "codegen/schedule/collapsed_form.h"
#include "codegen/schedule/fusion.h"
#include "codegen/schedule/gpu_nest.h"
#include "frontend/ir/describe.h"

namespace tile_tune::codegen {

namespace {

std::string times_text(int64_t count) { return count == 1 ? "once" : fmt::format("{} times", count); }

/// A loop over tiles: `depth` tile loops are open inside it.
struct TileLoop {
  int depth = 0;
  std::string text;  // "m by 128 (4 times)"
  bool parallel = false;
  bool single = false;  // one iteration: not worth a word
};

class Writer {
 public:
  Writer(const ir::Program& program, const Schedule& schedule) : program_(program), schedule_(schedule) {}

  std::string text() {
    for (size_t s = 0; s < program_.statements.size(); ++s) {
      const auto& stage = schedule_.stages[s];
      if (stage.is_inlined()) inlined(static_cast<int>(s));
      if (stage.find_nest() && !stage.compute_at()) nest(static_cast<int>(s), 0);
    }
    return text_;
  }

 private:
  const ir::Statement& statement(int s) const { return program_.statements[static_cast<size_t>(s)]; }
  std::string statement_text(int s) const { return ir::to_text(program_, statement(s)); }

  void line(int indent, const std::string& words) {
    text_ += std::string(2 * static_cast<size_t>(indent), ' ') + words + "\n";
  }

  void inlined(int s) { line(0, statement_text(s) + "    computed where it is read"); }

  /// One nest, its loops by level.
  struct Nest {
    int statement;
    const NestSchedule& stage;
    Loops loops;
    std::vector<int64_t> extents;  // of the output loops, in one run of the nest
  };

  std::string output_name(const Nest& nest, int p) const {
    const int index = nest.loops.output_index[static_cast<size_t>(p)];
    const auto& indices = statement(nest.statement).indices;
    return index >= 0 && index < static_cast<int>(indices.size()) ? indices[static_cast<size_t>(index)].name
                                                                  : fmt::format("element {}", p);
  }
  std::string reduction_name(const Nest& nest, int r) const {
    const int index = nest.loops.reduction_index[static_cast<size_t>(r)];
    return statement(nest.statement).indices[static_cast<size_t>(index)].name;
  }

  std::string operand_name(const Nest& nest, int number) const {
    for (const auto& operand : nest.loops.operands)
      if (operand.number == number) return program_.tensors[static_cast<size_t>(operand.tensor)].name;
    return fmt::format("operand {}", number);
  }

  std::vector<TileLoop> tile_loops(const Nest& nest) const {
    std::vector<TileLoop> result;
    for (size_t level = 0; level < nest.stage.order.size(); ++level)
      for (const int p : nest.stage.order[level]) {
        const int64_t tile = nest.stage.tiles[p][level];
        const int64_t whole = level == 0 ? nest.extents[p] : nest.stage.tiles[p][level - 1];
        const int64_t count = (whole + tile - 1) / tile;
        const std::string name = output_name(nest, p);
        TileLoop loop;
        loop.depth = static_cast<int>(result.size()) + 1;
        loop.text = tile == 1 ? fmt::format("{} ({})", name, times_text(count))
                              : fmt::format("{} by {} ({})", name, tile, times_text(count));
        loop.parallel = loop.depth <= nest.stage.cpu().parallel;
        loop.single = count == 1;
        result.push_back(std::move(loop));
      }
    return result;
  }

  /// Loops over blocks of the reduction, between two visits of where the sums are kept.
  std::vector<std::string> block_loops(const Nest& nest) const {
    std::vector<std::string> result;
    for (const int r : nest.stage.reduction_order) {
      const int64_t block = nest.stage.reduction_block[r];
      if (block < nest.loops.reduction[r])
        result.push_back(fmt::format("{} by {} ({})", reduction_name(nest, r), block,
                                     times_text(block_count(nest.loops, nest.stage, r))));
    }
    return result;
  }

  /// What is made where `depth` tile loops of the nest are open.
  std::vector<int> children_at(int s, int depth) const {
    std::vector<int> result;
    for (size_t t = 0; t < schedule_.stages.size(); ++t)
      if (const auto* at = schedule_.stages[t].compute_at(); at && at->statement == s && at->depth == depth)
        result.push_back(static_cast<int>(t));
    return result;
  }

  std::vector<std::string> copies_at(const Nest& nest, int depth) const {
    std::vector<std::string> result;
    for (const auto& packing : nest.stage.packings)
      if (std::max(packing.depth, 0) == depth)
        result.push_back(fmt::format("copy {}, packed", operand_name(nest, packing.operand)));
    return result;
  }

  void extras(const Nest& nest, int depth, int indent) {
    for (const int child : children_at(nest.statement, depth)) this->nest(child, indent);
    for (const auto& copy : copies_at(nest, depth)) line(indent, copy);
  }

  bool has_extras(const Nest& nest, int depth) const {
    return !children_at(nest.statement, depth).empty() || !copies_at(nest, depth).empty();
  }

  void nest(int s, int indent) {
    const auto& stage = schedule_.stages[static_cast<size_t>(s)].nest();
    Loops loops = one_piece(loops_of(program_, statement(s)), stage);
    auto extents = Fusion(program_, schedule_).extents(s).value_or(loops.output);
    const Nest nest{s, stage, std::move(loops), std::move(extents)};
    if (stage.is_gpu()) return gpu_nest(nest, indent);
    if (stage.scan) line(indent, "running totals, each element added once; then");
    extras(nest, 0, indent);
    if (stage.parallel_reduction) {
      const auto& [loop, pieces] = *stage.parallel_reduction;
      const int64_t rest = left_over(loops_of(program_, statement(s)), stage);
      line(indent++, fmt::format("parallel for {} pieces of {}, combined at the end{}", pieces,
                                 reduction_name(nest, loop), rest > 0 ? fmt::format(" with {} left over", rest) : ""));
    }
    indent = write_tile_loops(nest, indent);
    write_tile(nest, indent);
  }

  /// Of each loop of a level that `count` says runs several times: "m by 128 (4 times)".
  template <typename Count>
  std::string loops_of_level(const Nest& nest, size_t level, Count count) const {
    std::vector<std::string> loops;
    for (const int p : nest.stage.order[level])
      if (count(p) > 1)
        loops.push_back(fmt::format("{} by {} ({})", output_name(nest, p), nest.stage.tiles[p][level], count(p)));
    return loops.empty() ? "one" : fmt::format("{}", fmt::join(loops, ", "));
  }

  std::string staged_text(const Nest& nest) const {
    std::vector<std::string> names;
    for (const auto& packing : nest.stage.packings) names.push_back(operand_name(nest, packing.operand));
    std::string text = fmt::format("copy {} into shared memory", fmt::join(names, ", "));
    if (nest.stage.gpu().padding > 0) text += fmt::format(", {} elements between its rows", nest.stage.gpu().padding);
    if (nest.stage.gpu().pipelined) text += ", one block ahead";
    return text;
  }

  void gpu_nest(const Nest& nest, int indent) {
    const GpuMapping& mapping = nest.stage.gpu();
    const auto blocks = [&](int p) { return blocks_of_loop(nest.loops, nest.stage, p); };
    const auto threads = [&](int p) { return threads_of_loop(nest.stage, p); };
    line(indent++, "blocks: " + loops_of_level(nest, 0, blocks));
    if (const auto cut = block_loops(nest); !cut.empty()) line(indent++, fmt::format("for {}", fmt::join(cut, ", ")));
    if (!nest.stage.packings.empty()) line(indent, staged_text(nest));
    line(indent++,
         fmt::format("threads: {}, {} in a block", loops_of_level(nest, 1, threads), gpu_threads(nest.stage)));
    if (mapping.reduction_threads > 1)
      line(indent, fmt::format("{} of them share a reduction", mapping.reduction_threads));
    write_tile(nest, indent);
  }

  int write_tile_loops(const Nest& nest, int indent) {
    const auto loops = tile_loops(nest);
    const auto blocks = block_loops(nest);
    const int outermost = static_cast<int>(nest.loops.output.size());
    std::vector<std::string> words;
    bool parallel = false;
    const auto flush = [&] {
      if (!words.empty())
        line(indent++, fmt::format("{} {}", parallel ? "parallel for" : "for", fmt::join(words, ", ")));
      words.clear();
    };
    const auto end_of_level = [&](int depth) {
      if (depth == outermost && !blocks.empty()) {
        flush();
        line(indent++, fmt::format("for {}", fmt::join(blocks, ", ")));
      }
      if (depth > 0 && has_extras(nest, depth)) {
        flush();
        extras(nest, depth, indent);
      }
    };
    if (outermost == 0) end_of_level(0);
    for (const auto& loop : loops) {
      const bool new_level = outermost > 0 && (loop.depth - 1) % outermost == 0;
      if (new_level || loop.parallel != parallel) flush();
      parallel = loop.parallel;
      if (!loop.single || loop.parallel) words.push_back(loop.text);
      end_of_level(loop.depth);
    }
    flush();
    return indent;
  }

  void write_tile(const Nest& nest, int indent) {
    const int outputs = static_cast<int>(nest.loops.output.size());
    const int tile = indent;
    for (const int r : nest.stage.reduction_order) {
      const int64_t count = std::min(nest.stage.reduction_block[r], nest.loops.reduction[r]);
      const bool in_lanes = nest.stage.vector_loop() == outputs + r;
      std::string how;
      if (in_lanes) how += fmt::format(", in vectors of {}", nest.stage.lanes());
      if (nest.stage.reduction_unroll[r] > 1) how += fmt::format(", unrolled by {}", nest.stage.reduction_unroll[r]);
      if (count > 1) line(indent++, fmt::format("for {} ({}){}", reduction_name(nest, r), times_text(count), how));
    }
    line(indent, statement_text(nest.statement) + tile_text(nest));
    for (size_t t = 0; t < schedule_.stages.size(); ++t)
      if (const auto* epilogue = schedule_.stages[t].epilogue(); epilogue && epilogue->of == nest.statement)
        line(tile, statement_text(static_cast<int>(t)) + "    before the tile is stored");
  }

  /// "    6 m x 32 n in registers, vectors of 16 n"
  std::string tile_text(const Nest& nest) const {
    std::vector<std::string> sides;
    const int outputs = static_cast<int>(nest.loops.output.size());
    for (int p = 0; p < outputs; ++p)
      if (!nest.stage.tiles[p].empty() && nest.stage.tiles[p].back() > 1)
        sides.push_back(fmt::format("{} {}", nest.stage.tiles[p].back(), output_name(nest, p)));
    if (sides.empty()) return "";
    std::string text =
        fmt::format("    {} {}", fmt::join(sides, " x "), nest.loops.reduction.empty() ? "at once" : "in registers");
    if (nest.stage.lanes() > 1 && nest.stage.vector_loop() >= 0 && nest.stage.vector_loop() < outputs)
      text += fmt::format(", vectors of {} {}", nest.stage.lanes(), output_name(nest, nest.stage.vector_loop()));
    if (nest.stage.partial_sums > 0) text += fmt::format(", {} sums of each", nest.stage.partial_sums);
    if (nest.stage.is_gpu() && nest.stage.gpu().interleaved) text += ", interleaved with other threads'";
    if (nest.stage.dot_product)
      text += nest.stage.dot_tiles   ? ", dot products of tiles"
              : nest.stage.dot_pairs ? ", dot products of pairs"
                                     : ", dot-product instructions";
    if (!nest.stage.is_gpu() && nest.stage.cpu().streaming) text += ", stored past the caches";
    for (const auto& [operand, loop, distance] : nest.stage.prefetches)
      text += fmt::format(", {} asked for {} {} ahead", operand_name(nest, operand), distance,
                          loop < outputs ? output_name(nest, loop) : reduction_name(nest, loop - outputs));
    return text;
  }

  const ir::Program& program_;
  const Schedule& schedule_;
  std::string text_;
};

}  // namespace

std::string outline(const ir::Program& program, const Schedule& schedule) {
  if (!schedule.collapsed) return Writer(program, schedule).text();
  const auto form = collapsed_form(program, schedule);
  return Writer(form->program, form->schedule).text();
}

}  // namespace tile_tune::codegen
