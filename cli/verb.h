// Verbs and options as the command line declares them. CLI11 parses; its one header costs 5 s in each file that
// includes it (g++ 12, AMD EPYC (Zen 5), 2026-11-23), so that verb.cpp and command_line.cpp alone do.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace tile_tune::cli {

/// What is wrong with a value, in words that follow the option's name; empty: nothing.
using ValueCheck = std::function<std::string(const std::string& value)>;

/// An option that was declared: a handle, valid as long as its verb. What it lacks is said in a chain.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  Option& required();
  Option& type_name(const std::string& name);
  Option& group(const std::string& name);
  /// Several values in one word.
  Option& delimiter(char between);
  /// One value each time it is given: the words after it are no more of its values.
  Option& one_value_each();
  Option& check(const ValueCheck& check);
  Option& one_of(const std::vector<std::string>& words);
  /// --help shows what the variable holds now.
  Option& show_default();
  Option& excludes(const Option& other);
  Option& needs(const std::string& other);

  /// Whether the parsed command line has it.
  bool is_given() const;

 private:
  CLI::Option* option_;
};

/// A command, or the tool itself: a handle, valid as long as the parser.
class Verb {
 public:
  explicit Verb(CLI::App* app) : app_(app) {}

  Verb add_verb(const std::string& name, const std::string& help);
  /// Another name, which an earlier version had.
  void also_called(const std::string& name);
  /// One of its verbs has to be named.
  void need_verb();
  /// `names`: "-s,--size", or a word without dashes for what stands by itself. Values: those that verb.cpp
  /// instantiates this for.
  template <typename Value>
  Option add_option(const std::string& names, Value& value, const std::string& help);
  Option add_flag(const std::string& names, bool& value, const std::string& help);

  /// The option of this name, which has been added.
  Option option(const std::string& name) const;
  /// All but --help that have been added so far.
  std::vector<Option> options() const;
  /// The --help of what it belongs to leaves it out.
  void hide();
  /// What is called once the command line has named this verb and is right.
  void on_parsed(std::function<void()> call);

 private:
  CLI::App* app_;
};

}  // namespace tile_tune::cli
