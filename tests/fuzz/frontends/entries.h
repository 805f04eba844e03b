// What the fuzzers call: everything the tool does with a text or a file before it compiles anything.
//
// Each entry takes any bytes whatsoever and returns, whether or not they mean something. It throws std::logic_error
// where what a reader accepted breaks a promise of its header: a parser's program that is not valid, a program that
// its JSON form does not keep, a canonical form that is not canonical. The entries are linked into libFuzzer targets
// (preset `fuzz`) and into a test that replays the corpus in every run.
#pragma once

#include <string_view>
#include <vector>

namespace tile_tune::fuzz {

/// Text of Tensor Comprehensions: parsed, bound to small sizes, made canonical, hashed, described.
void tc(std::string_view bytes);
/// Subscripts up to the first newline; the bytes after it choose element types and extents.
void einsum(std::string_view bytes);
/// A saved program.
void program_json(std::string_view bytes);
/// A schedule as the database holds it, checked against a few programs.
void schedule_json(std::string_view bytes);
/// A .npy file.
void npy(std::string_view bytes);
/// A layout of a tensor and views of it: numbers of a byte, or of eight behind 0x80.
void layout(std::string_view bytes);

struct Entry {
  std::string_view name;  // of the corpus folder, and of the target behind "fuzz_"
  void (*run)(std::string_view bytes);
};
inline const std::vector<Entry> kEntries{
    {"tc", tc},   {"einsum", einsum}, {"program_json", program_json}, {"schedule_json", schedule_json},
    {"npy", npy}, {"layout", layout}};

}  // namespace tile_tune::fuzz
