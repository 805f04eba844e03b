#include "search/judge/buffers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace tile_tune::search {
namespace {

/// What lies between the elements of an argument: NaN, where these are floats.
constexpr std::byte kGap{0xff};

bool has_gaps(const ir::Tensor& tensor) {
  return !tensor.storage.is_compact() && ir::reach(tensor).count > ir::element_count(tensor);
}

}  // namespace

std::vector<Buffers::Place> Buffers::make_places(const Problem& problem, Flush flush) {
  const auto& program = problem.program;
  std::vector<Place> places;
  auto add = [&](int number, bool is_output, std::optional<int> source) {
    const auto& tensor = program.tensors[number];
    Place place{number, is_output, {}, {}, GuardedBuffer(tensor.name, storage_bytes(tensor), flush)};
    if (source && lies_as(problem.inputs.at(*source), tensor)) {
      place.initial = problem.inputs.at(*source).data;
    } else if (source) {
      place.permuted.resize(static_cast<size_t>(place.buffer.size()), kGap);
      to_storage(tensor, problem.inputs.at(*source), place.permuted.data());
      place.initial = place.permuted;  // moving the vector moves its elements' owner, not the elements
    }
    std::copy(place.initial.begin(), place.initial.end(), place.buffer.data());
    places.push_back(std::move(place));
  };
  for (const int input : program.inputs) add(input, false, input);
  for (const int output : program.outputs) add(output, true, program.initial_value_of(output));
  return places;
}

std::map<int, std::byte*> Buffers::memory_of(const std::vector<Place>& places) {
  std::map<int, std::byte*> memory;
  for (const auto& place : places) memory[place.tensor] = place.buffer.data();
  return memory;
}

Buffers::Buffers(const Problem& problem, Flush flush)
    : program_(problem.program),
      places_(make_places(problem, flush)),
      arguments_(problem.program, memory_of(places_)) {}

bool Buffers::fill_pages() const {
  return std::all_of(places_.begin(), places_.end(), [](const Place& place) { return place.buffer.fills_pages(); });
}

void Buffers::prepare_outputs(std::byte pattern) {
  pattern_ = pattern;
  for (auto& place : places_)
    if (place.is_output && place.initial.empty())
      std::memset(place.buffer.data(), static_cast<int>(pattern), static_cast<size_t>(place.buffer.size()));
  restore();
}

void Buffers::restore() {
  for (auto& place : places_)
    if (place.is_output) std::copy(place.initial.begin(), place.initial.end(), place.buffer.data());
}

void Buffers::evict() const {
  for (const auto& place : places_) place.buffer.evict();
}

tensor::Array Buffers::output(int tensor) const {
  for (const auto& place : places_)
    if (place.tensor == tensor) return from_storage(program_.tensors[tensor], place.buffer.data());
  return {};
}

tensor::Array Buffers::stored_output(int tensor) const {
  for (const auto& place : places_)
    if (place.tensor == tensor) return as_stored(program_.tensors[tensor], place.buffer.data());
  return {};
}

std::string Buffers::trespass() const {
  for (const auto& place : places_) {
    if (!place.buffer.gap_untouched() || !gaps_untouched(place))
      return fmt::format("it wrote outside {}", place.buffer.name());
    // std::equal takes bytes one by one: 3 % of the search of a convolution with 55 MB of input.
    if (!place.is_output && !place.initial.empty() &&
        std::memcmp(place.initial.data(), place.buffer.data(), place.initial.size()) != 0)
      return fmt::format("it changed its input {}", place.buffer.name());
  }
  return "";
}

bool Buffers::gaps_untouched(const Place& place) const {
  const auto& tensor = program_.tensors[place.tensor];
  if (!place.is_output || !has_gaps(tensor)) return true;
  const std::span now(place.buffer.data(), static_cast<size_t>(place.buffer.size()));
  std::vector<std::byte> expected(now.size(), pattern_);
  std::copy(place.initial.begin(), place.initial.end(), expected.begin());
  to_storage(tensor, from_storage(tensor, now.data()), expected.data());
  return std::equal(now.begin(), now.end(), expected.begin());
}

std::vector<std::string> Buffers::names() const {
  std::vector<std::string> names;
  for (const auto& place : places_) names.push_back(place.buffer.name());
  return names;
}

std::vector<std::span<std::byte>> Buffers::data() const {
  std::vector<std::span<std::byte>> data;
  for (const auto& place : places_) data.emplace_back(place.buffer.data(), static_cast<size_t>(place.buffer.size()));
  return data;
}

std::vector<bool> Buffers::restored() const {
  std::vector<bool> restored;
  for (const auto& place : places_) restored.push_back(place.is_output && !place.initial.empty());
  return restored;
}

int Buffers::guarding(const void* address) const {
  for (size_t i = 0; i < places_.size(); ++i)
    if (places_[i].buffer.guards(address)) return static_cast<int>(i);
  return -1;
}

}  // namespace tile_tune::search
