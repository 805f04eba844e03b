/* bin/tile-tune of a bundle (scripts/bundle), linked statically: starts the tool by the bundle's own dynamic loader on
   its own C library, so that the machine's may be older, or absent. Needs /proc. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
  static char self[4096], loader[4200], tool[4200];
  const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  if (length < 0) {
    perror("tile-tune: /proc/self/exe");
    return 1;
  }
  /* SELF is ROOT/bin/tile-tune. */
  char root[4096];
  strcpy(root, self);
  for (int parts = 0; parts < 2; ++parts) *strrchr(root, '/') = '\0';
  if (strpbrk(root, ":;") != NULL) {
    fprintf(stderr, "tile-tune: %s: the loader takes ':' and ';' for the ends of folders: move the bundle\n", root);
    return 1;
  }
  snprintf(loader, sizeof loader, "%s/lib/tile_tune/libc/loader", root);
  /* Behind the bundle's own what the machine names: a driver may lie there. */
  const char* further = getenv("LD_LIBRARY_PATH");
  if (further == NULL) further = "";
  const size_t size = 2 * sizeof root + strlen(further) + 64;
  char* const libraries = malloc(size);
  if (libraries == NULL) return 1;
  snprintf(libraries, size, "%s/lib/tile_tune/libc:%s/lib/tile_tune%s%s", root, root,
           further[0] != '\0' ? ":" : "", further);
  snprintf(tool, sizeof tool, "%s/lib/tile_tune/tile-tune", root);

  enum { kBefore = 6 };
  char** arguments = calloc((size_t)argc + kBefore + 1, sizeof *arguments);
  if (arguments == NULL) return 1;
  /* argv[0] is this launcher: the tool starts its workers by it. */
  char* before[kBefore] = {loader, "--library-path", libraries, "--argv0", self, tool};
  memcpy(arguments, before, sizeof before);
  for (int at = 1; at < argc; ++at) arguments[kBefore + at - 1] = argv[at];
  execv(loader, arguments);
  perror("tile-tune: cannot start the bundle's loader");
  return 1;
}
