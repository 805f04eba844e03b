#include "cli/verb.h"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <utility>

namespace tile_tune::cli {

Option& Option::required() {
  option_->required();
  return *this;
}

Option& Option::type_name(const std::string& name) {
  option_->type_name(name);
  return *this;
}

Option& Option::group(const std::string& name) {
  option_->group(name);
  return *this;
}

Option& Option::delimiter(char between) {
  option_->delimiter(between);
  return *this;
}

Option& Option::one_value_each() {
  option_->allow_extra_args(false);
  return *this;
}

Option& Option::check(const ValueCheck& check) {
  option_->check(check);
  return *this;
}

Option& Option::one_of(const std::vector<std::string>& words) {
  option_->check(CLI::IsMember(words));
  return *this;
}

Option& Option::show_default() {
  option_->capture_default_str();
  return *this;
}

Option& Option::excludes(const Option& other) {
  option_->excludes(other.option_);
  return *this;
}

Option& Option::needs(const std::string& other) {
  option_->needs(other);
  return *this;
}

bool Option::is_given() const { return option_->count() > 0; }

Verb Verb::add_verb(const std::string& name, const std::string& help) { return Verb(app_->add_subcommand(name, help)); }

void Verb::also_called(const std::string& name) { app_->alias(name); }

void Verb::need_verb() { app_->require_subcommand(1); }

template <typename Value>
Option Verb::add_option(const std::string& names, Value& value, const std::string& help) {
  return Option(app_->add_option(names, value, help));
}

template Option Verb::add_option(const std::string&, std::string&, const std::string&);
template Option Verb::add_option(const std::string&, std::vector<std::string>&, const std::string&);
template Option Verb::add_option(const std::string&, int&, const std::string&);
template Option Verb::add_option(const std::string&, double&, const std::string&);
template Option Verb::add_option(const std::string&, uint64_t&, const std::string&);
template Option Verb::add_option(const std::string&, std::optional<uint64_t>&, const std::string&);
template Option Verb::add_option(const std::string&, std::optional<double>&, const std::string&);
template Option Verb::add_option(const std::string&, std::optional<int>&, const std::string&);

Option Verb::add_flag(const std::string& names, bool& value, const std::string& help) {
  return Option(app_->add_flag(names, value, help));
}

Option Verb::option(const std::string& name) const { return Option(app_->get_option(name)); }

std::vector<Option> Verb::options() const {
  std::vector<Option> options;
  for (CLI::Option* option : app_->get_options())
    if (option != app_->get_help_ptr()) options.emplace_back(option);
  return options;
}

void Verb::hide() { app_->group(""); }

void Verb::on_parsed(std::function<void()> call) { app_->callback(std::move(call)); }

}  // namespace tile_tune::cli
