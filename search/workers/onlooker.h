// Whoever wants to know what is going on while work takes its time.
#pragma once

#include <functional>
#include <string>

namespace tile_tune::search {

struct Onlooker {
  using Tell = std::function<void(const std::string&)>;

  Tell doing = {};    // what is being done, in a few words ("compiling 3 of 4"); the next takes their place
  Tell waiting = {};  // whom for and how long already, again and again while the wait goes on
  Tell warning = {};  // a sentence to be kept

  void tell_doing(const std::string& words) const {
    if (doing) doing(words);
  }
  void tell_waiting(const std::string& sentence) const {
    if (waiting) waiting(sentence);
  }
  void warn(const std::string& sentence) const {
    if (warning) warning(sentence);
  }
};

}  // namespace tile_tune::search
