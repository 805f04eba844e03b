// A value, or what is wrong. Part of the SDK: the standard library is all this header needs.
//
// One type for all of the SDK's calls that return errors: of data (tile_tune::tensor) and of what is computed with it
// (tile_tune::engine).
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace tile_tune::tensor {

struct Error {
  std::string code;       // its kind, short and stable, for example "size-conflict"
  std::string message;    // one sentence
  std::string note = {};  // how to mend it; empty where unknown
  /// Of errors of tensors and linear algebra: the function, and the numbers that the sentence has, in its order. Each
  /// code's numbers are in docs/tensors.md.
  std::string operation = {};
  std::vector<int64_t> numbers = {};
};

/// To be asked before it is used: value() and error() of what is not there are undefined.
template <typename T>
class [[nodiscard]] Expected {
 public:
  Expected(T value) : held_(std::in_place_index<0>, std::move(value)) {}
  Expected(Error error) : held_(std::in_place_index<1>, std::move(error)) {}

  explicit operator bool() const { return held_.index() == 0; }
  T& value() & { return *std::get_if<0>(&held_); }
  const T& value() const& { return *std::get_if<0>(&held_); }
  T&& value() && { return std::move(*std::get_if<0>(&held_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T operator*() && { return std::move(*this).value(); }  // a value: what it is of may end with the expression
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  const Error& error() const { return *std::get_if<1>(&held_); }

 private:
  std::variant<T, Error> held_;
};

template <>
class [[nodiscard]] Expected<void> {
 public:
  Expected() = default;
  Expected(Error error) : error_(std::move(error)), is_error_(true) {}

  explicit operator bool() const { return !is_error_; }
  const Error& error() const { return error_; }

 private:
  Error error_;
  bool is_error_ = false;
};

}  // namespace tile_tune::tensor

namespace tile_tune::engine {
using tensor::Error;
using tensor::Expected;
}  // namespace tile_tune::engine
