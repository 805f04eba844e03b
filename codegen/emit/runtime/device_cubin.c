#if !defined(_WIN32) && !defined(__wasm__)
#define _GNU_SOURCE
#include "device_cubin.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file is this, the text and the binary. */
struct header {
  char magic[16];
  int32_t capability, driver;
  uint64_t text_size, binary_size, binary_digest;
};
static const char magic[16] = "tile-tune cubin";

/* FNV-1a: tells texts apart, which are compared in full, and sees damage; it is no defence. */
static uint64_t digest(uint64_t state, const void* bytes, size_t size) {
  for (size_t i = 0; i < size; ++i) state = (state ^ ((const unsigned char*)bytes)[i]) * 0x100000001b3u;
  return state;
}
static const uint64_t kDigestStart = 0xcbf29ce484222325u;

const char* tile_tune_device2_cubin_folder(void) {
  const char* folder = getenv("TILE_TUNE_CUBINS");
  return folder != NULL && folder[0] != '\0' ? folder : NULL;
}

static int path_of(char* path, size_t size, const char* folder, const struct tile_tune_device_cubin_key* key) {
  const uint64_t name = digest(kDigestStart, key->text, strlen(key->text));
  const int written =
      snprintf(path, size, "%s/%016" PRIx64 "-sm_%d-%d.cubin", folder, name, key->capability, key->driver);
  return written > 0 && (size_t)written < size;
}

static int is_for(const struct header* header, const struct tile_tune_device_cubin_key* key, uint64_t file_size) {
  const uint64_t text_size = strlen(key->text);
  return memcmp(header->magic, magic, sizeof magic) == 0 && header->capability == key->capability &&
         header->driver == key->driver && header->text_size == text_size &&
         file_size == sizeof *header + text_size + header->binary_size;
}

static void* read_binary(FILE* file, const struct tile_tune_device_cubin_key* key, size_t* size) {
  struct header header;
  struct stat facts;
  /* Code is taken from nobody else. */
  if (fstat(fileno(file), &facts) != 0 || facts.st_uid != geteuid()) return NULL;
  if (fread(&header, sizeof header, 1, file) != 1 || !is_for(&header, key, (uint64_t)facts.st_size)) return NULL;
  char* const text = malloc(header.text_size + 1);
  void* const binary = malloc(header.binary_size + 1);
  const int is_right = text != NULL && binary != NULL && fread(text, 1, header.text_size, file) == header.text_size &&
                       memcmp(text, key->text, header.text_size) == 0 &&
                       fread(binary, 1, header.binary_size, file) == header.binary_size &&
                       digest(kDigestStart, binary, header.binary_size) == header.binary_digest;
  free(text);
  if (is_right) {
    *size = header.binary_size;
    return binary;
  }
  free(binary);
  return NULL;
}

void* tile_tune_device2_find_cubin(const char* folder, const struct tile_tune_device_cubin_key* key, size_t* size) {
  char path[4096];
  if (!path_of(path, sizeof path, folder, key)) return NULL;
  const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  FILE* const file = descriptor >= 0 ? fdopen(descriptor, "rb") : NULL;
  if (file == NULL) {
    if (descriptor >= 0) close(descriptor);
    return NULL;
  }
  void* const binary = read_binary(file, key, size);
  fclose(file);
  return binary;
}

void tile_tune_device2_keep_cubin(const char* folder, const struct tile_tune_device_cubin_key* key, const void* binary,
                                  size_t size) {
  char path[4096], beside[4112];
  if (!path_of(path, sizeof path, folder, key)) return;
  mkdir(folder, 0700);
  snprintf(beside, sizeof beside, "%s.XXXXXX", path);
  const int descriptor = mkostemp(beside, O_CLOEXEC);
  if (descriptor < 0) return;
  struct header header = {
      {0}, key->capability, key->driver, strlen(key->text), size, digest(kDigestStart, binary, size)};
  memcpy(header.magic, magic, sizeof magic);
  FILE* const file = fdopen(descriptor, "wb");
  if (file == NULL) {
    close(descriptor);
    unlink(beside);
    return;
  }
  const int is_written = fwrite(&header, sizeof header, 1, file) == 1 &&
                         fwrite(key->text, 1, header.text_size, file) == header.text_size &&
                         fwrite(binary, 1, size, file) == size;
  if (fclose(file) != 0 || !is_written || rename(beside, path) != 0) unlink(beside);
}

#endif

typedef int tile_tune_device_cubin_is_no_empty_file;
