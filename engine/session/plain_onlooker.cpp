#include "engine/session/plain_onlooker.h"

#include <memory>
#include <set>

namespace tile_tune::engine {

search::Onlooker plain_onlooker(const Reporter& report) {
  const auto told = std::make_shared<std::set<std::string>>();
  const auto is_new = [told](const std::string& text) { return told->insert(text).second; };
  search::Onlooker onlooker;
  onlooker.waiting = [&report, is_new](const std::string& sentence) {
    if (is_new("a wait")) report.notice(sentence);
  };
  onlooker.warning = [&report, is_new](const std::string& sentence) {
    if (is_new(sentence)) report.warn("machine", sentence);
  };
  return onlooker;
}

}  // namespace tile_tune::engine
