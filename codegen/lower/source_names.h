// Names of Halide's variables and Funcs as identifiers of a C++ text.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tile_tune::codegen {

class SourceNames {
 public:
  SourceNames();
  /// The same identifier for the same name of the same kind, and one that nothing else has. Of a variable that Halide
  /// made of another one ("x.xi") only the last part is its name.
  std::string var(const std::string& name) { return identifier('v', name.substr(name.rfind('.') + 1), &vars_); }
  /// Of a part of a reduction's loop, asked for before any of them is taken for a pure variable.
  std::string rvar(const std::string& name) { return identifier('v', name.substr(name.rfind('.') + 1), &rvars_); }
  std::string func(const std::string& name) { return identifier('f', name, nullptr); }
  /// One that nothing has yet.
  std::string fresh(const std::string& wish);

  /// What a Func or variable of this name is called in the text, if it is not an identifier of its own.
  void set_func(const std::string& name, const std::string& text) { given_['f' + name] = text; }
  void set_var(const std::string& name, const std::string& text) { given_['v' + name] = text; }

  /// In identifiers `to` stands for the name `from`, also where more follows ("stage0_acc").
  void call(const std::string& from, const std::string& to) { called_.emplace_back(from, to); }

  /// Pure variables that were asked for, by name.
  const std::map<std::string, std::string>& vars() const { return vars_; }
  /// The same of those of reductions that are no dimension of one.
  const std::map<std::string, std::string>& rvars() const { return rvars_; }

 private:
  std::string identifier(char kind, const std::string& name, std::map<std::string, std::string>* asked_for);
  std::string wish(const std::string& name) const;

  std::set<std::string> taken_;
  std::map<std::string, std::string> given_;
  std::map<std::string, std::string> vars_, rvars_;
  std::vector<std::pair<std::string, std::string>> called_;
};

}  // namespace tile_tune::codegen
