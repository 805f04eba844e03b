#include "engine/session/plain_onlooker.h"

namespace tile_tune::engine {

search::Onlooker plain_onlooker(const Reporter& report) {
  search::Onlooker onlooker;
  onlooker.waiting = [&report](const std::string& sentence) {
    if (report.is_news("a wait")) report.notice(sentence);
  };
  onlooker.warning = [&report](const std::string& sentence) {
    if (report.is_news(sentence)) report.warn("machine", sentence);
  };
  return onlooker;
}

}  // namespace tile_tune::engine
