/* PTX as text: functions are found by their braces, as ".visible .entry NAME(...) {...}". */
#include "device_ptx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char* skip_quoted(const char* at, const char* end) {
  for (++at; at < end && *at != '"'; ++at)
    if (*at == '\\') ++at;
  return at < end ? at + 1 : end;
}

/* The first of `wanted` outside comments and quotes, or `end`. */
static const char* find(const char* at, const char* end, const char* wanted) {
  const size_t length = strlen(wanted);
  while (at < end) {
    if (end - at > 1 && at[0] == '/' && at[1] == '/') {
      while (at < end && *at != '\n') ++at;
    } else if (end - at > 1 && at[0] == '/' && at[1] == '*') {
      for (at += 2; at < end && !(at[-1] == '*' && at[0] == '/'); ++at) {
      }
    } else if (*at == '"') {
      at = skip_quoted(at, end);
    } else if ((size_t)(end - at) >= length && memcmp(at, wanted, length) == 0) {
      return at;
    } else {
      ++at;
    }
  }
  return end;
}

/* Behind the brace that closes the one at `at`. */
static const char* behind_body(const char* at, const char* end) {
  int depth = 0;
  while (at < end) {
    const char *opening = find(at, end, "{"), *closing = find(at, end, "}");
    if (opening < closing) {
      ++depth;
      at = opening + 1;
    } else if (closing < end) {
      at = closing + 1;
      if (--depth == 0) return at;
    } else {
      return end;
    }
  }
  return end;
}

static int is_named(const char* at, const char* end, const char* name) {
  const size_t length = strlen(name);
  if ((size_t)(end - at) <= length || memcmp(at, name, length) != 0) return 0;
  return strchr("( \t\r\n", at[length]) != NULL;
}

struct out {
  char* text;
  size_t size;
};

static void append(struct out* out, const char* from, const char* to) {
  memcpy(out->text + out->size, from, (size_t)(to - from));
  out->size += (size_t)(to - from);
}

char* tile_tune_device2_bounded_ptx(const char* text, int size, const char* entry, const int* threads, int resident) {
  static const char kEntry[] = ".entry ";
  const char *end = memchr(text, '\0', (size_t)size), *at = text;
  if (end == NULL) end = text + size;
  char bounds[128];
  const int written = snprintf(bounds, sizeof bounds, ".maxntid %d, %d, %d\n", threads[0], threads[1], threads[2]);
  if (resident > 0) snprintf(bounds + written, sizeof bounds - (size_t)written, ".minnctapersm %d\n", resident);
  struct out out = {malloc((size_t)(end - text) + sizeof bounds + 1), 0};
  if (out.text == NULL) return NULL;
  int found = 0;
  while (at < end) {
    const char* const name = find(at, end, kEntry);
    if (name == end) break;
    const char* line = name;
    while (line > at && line[-1] != '\n') --line;
    const char *body = find(name, end, "{"), *behind = behind_body(body, end);
    append(&out, at, line);
    if (is_named(name + sizeof kEntry - 1, end, entry)) {
      found = 1;
      append(&out, line, body);
      if (find(name, body, ".maxntid") == body) append(&out, bounds, bounds + strlen(bounds));
      append(&out, body, behind);
    }
    at = behind;
  }
  append(&out, at, end);
  out.text[out.size] = '\0';
  if (found) return out.text;
  free(out.text);
  return NULL;
}

int tile_tune_device2_ptx_capability(const char* text, int size) {
  static const char kTarget[] = ".target sm_";
  const char* end = memchr(text, '\0', (size_t)size);
  if (end == NULL) end = text + size;
  const char* at = find(text, end, kTarget);
  int capability = 0;
  for (at += at < end ? sizeof kTarget - 1 : 0; at < end && *at >= '0' && *at <= '9' && capability < 10000; ++at)
    capability = 10 * capability + (*at - '0');
  return capability;
}
