#include "search/judge/guarded_buffer.h"

#include <unistd.h>

#include <catch2/catch.hpp>

using namespace tile_tune::search;

TEST_CASE("data touches the guard it is flush with") {
  const int64_t bytes = GENERATE(0, 1, 4, 4096, 4097, 100000);
  CAPTURE(bytes);
  const GuardedBuffer at_end("t", bytes, Flush::End), at_begin("t", bytes, Flush::Begin);
  CHECK(at_end.guards(at_end.data() + bytes));
  CHECK(at_begin.guards(at_begin.data() - 1));
  if (bytes > 0) {
    CHECK_FALSE(at_end.guards(at_end.data()));
    CHECK_FALSE(at_end.guards(at_end.data() + bytes - 1));
    CHECK_FALSE(at_begin.guards(at_begin.data() + bytes - 1));
  }
  const int64_t page = sysconf(_SC_PAGESIZE);
  CHECK(at_end.guards(at_end.data() - page - 1));
  CHECK(at_begin.guards(at_begin.data() + bytes + page));
  CHECK(at_end.guards(at_end.data() + bytes + GuardedBuffer::kGuardBytes - 1));
  CHECK_FALSE(at_end.guards(at_end.data() + bytes + GuardedBuffer::kGuardBytes));
}

TEST_CASE("what leaves the caches is in memory") {
  const int64_t bytes = GENERATE(0, 1, 63, 65, 100003);
  const GuardedBuffer buffer("t", bytes, Flush::End);
  for (int64_t i = 0; i < bytes; ++i) buffer.data()[i] = static_cast<std::byte>(i % 251);
  buffer.evict();
  for (int64_t i = 0; i < bytes; ++i) REQUIRE(buffer.data()[i] == static_cast<std::byte>(i % 251));
  CHECK(buffer.gap_untouched());
}

TEST_CASE("a write into the gap is noticed on either side") {
  GuardedBuffer at_begin("t", 10, Flush::Begin), at_end("t", 10, Flush::End);
  for (int i = 0; i < 10; ++i) at_begin.data()[i] = at_end.data()[i] = std::byte{1};
  CHECK(at_begin.gap_untouched());
  CHECK(at_end.gap_untouched());
  at_begin.data()[10] = std::byte{0};
  at_end.data()[-1] = std::byte{0};
  CHECK_FALSE(at_begin.gap_untouched());
  CHECK_FALSE(at_end.gap_untouched());
}
