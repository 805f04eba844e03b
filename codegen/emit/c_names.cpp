#include "codegen/emit/c_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <set>

namespace tile_tune::codegen {
namespace {

using Names = std::set<std::string_view>;

const Names kKeywords = {
    // C11 and C23
    "auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum", "extern", "float",
    "for", "goto", "if", "inline", "int", "long", "register", "restrict", "return", "short", "signed", "sizeof",
    "static", "struct", "switch", "typedef", "typeof", "typeof_unqual", "union", "unsigned", "void", "volatile",
    "while", "asm", "bool", "complex", "imaginary", "noreturn",
    // C++20
    "alignas", "alignof", "and", "and_eq", "bitand", "bitor", "catch", "char8_t", "char16_t", "char32_t", "class",
    "co_await", "co_return", "co_yield", "compl", "concept", "const_cast", "consteval", "constexpr", "constinit",
    "decltype", "delete", "dynamic_cast", "explicit", "export", "false", "friend", "mutable", "namespace", "new",
    "noexcept", "not", "not_eq", "nullptr", "operator", "or", "or_eq", "private", "protected", "public",
    "reinterpret_cast", "requires", "static_assert", "static_cast", "std", "template", "this", "thread_local", "throw",
    "true", "try", "typeid", "typename", "using", "virtual", "wchar_t", "xor", "xor_eq",
    // macros of compilers (GNU mode) and of headers that programs include before ours
    "linux", "unix", "i386", "I", "NULL", "EOF", "assert", "errno", "stdin", "stdout", "stderr", "offsetof", "isnan",
    "isinf", "isfinite", "isnormal", "signbit", "fpclassify", "setjmp", "va_start", "va_arg", "va_end", "va_copy"};

// <math.h> and <complex.h>: each also exists with the suffixes f and l.
const Names kMathFunctions = {
    "acos",   "acosh",  "asin",   "asinh",  "atan",    "atan2",     "atanh",       "cbrt",       "ceil",   "copysign",
    "cos",    "cosh",   "erf",    "erfc",   "exp",     "exp10",     "exp2",        "expm1",      "fabs",   "fdim",
    "floor",  "fma",    "fmax",   "fmin",   "fmod",    "frexp",     "gamma",       "hypot",      "ilogb",  "j0",
    "j1",     "jn",     "ldexp",  "lgamma", "llrint",  "llround",   "log",         "log10",      "log1p",  "log2",
    "logb",   "lrint",  "lround", "modf",   "nan",     "nearbyint", "nextafter",   "nexttoward", "pow",    "remainder",
    "remquo", "rint",   "round",  "scalb",  "scalbln", "scalbn",    "significand", "sin",        "sincos", "sinh",
    "sqrt",   "tan",    "tanh",   "tgamma", "trunc",   "y0",        "y1",          "yn",         "cabs",   "cacos",
    "cacosh", "carg",   "casin",  "casinh", "catan",   "catanh",    "ccos",        "ccosh",      "cexp",   "cimag",
    "clog",   "clog10", "conj",   "cpow",   "cproj",   "creal",     "csin",        "csinh",      "csqrt",  "ctan",
    "ctanh"};

const Names kLibraryNames = {
    // the program itself
    "main", "environ",
    // <stdlib.h>, <string.h>, <ctype.h>
    "abort", "abs", "aligned_alloc", "at_quick_exit", "atexit", "atof", "atoi", "atol", "atoll", "bsearch", "calloc",
    "div", "exit", "free", "getenv", "labs", "ldiv", "llabs", "lldiv", "malloc", "mblen", "mbstowcs", "mbtowc", "qsort",
    "quick_exit", "rand", "realloc", "srand", "strtod", "strtof", "strtol", "strtold", "strtoll", "strtoul", "strtoull",
    "system", "wcstombs", "wctomb", "memchr", "memcmp", "memcpy", "memmove", "memset", "strcat", "strchr", "strcmp",
    "strcoll", "strcpy", "strcspn", "strerror", "strlen", "strncat", "strncmp", "strncpy", "strpbrk", "strrchr",
    "strspn", "strstr", "strtok", "strxfrm", "isalnum", "isalpha", "isblank", "iscntrl", "isdigit", "isgraph",
    "islower", "isprint", "ispunct", "isspace", "isupper", "isxdigit", "tolower", "toupper",
    // <stdio.h>
    "clearerr", "fclose", "feof", "ferror", "fflush", "fgetc", "fgetpos", "fgets", "fopen", "fprintf", "fputc", "fputs",
    "fread", "freopen", "fscanf", "fseek", "fsetpos", "ftell", "fwrite", "getc", "getchar", "gets", "perror", "printf",
    "putc", "putchar", "puts", "remove", "rename", "rewind", "scanf", "setbuf", "setvbuf", "snprintf", "sprintf",
    "sscanf", "tmpfile", "tmpnam", "ungetc", "vfprintf", "vfscanf", "vprintf", "vscanf", "vsnprintf", "vsprintf",
    "vsscanf",
    // <time.h>, <signal.h>, <locale.h>, <setjmp.h>, <fenv.h>
    "asctime", "clock", "ctime", "difftime", "gmtime", "localtime", "mktime", "strftime", "time", "timespec_get",
    "raise", "signal", "localeconv", "setlocale", "longjmp", "feclearexcept", "fegetround", "feraiseexcept",
    "fesetround", "fetestexcept",
    // POSIX
    "accept", "access", "alarm", "basename", "bcmp", "bcopy", "bind", "brk", "bzero", "chdir", "chmod", "chown",
    "close", "connect", "creat", "daemon", "dirname", "drand48", "dup", "dup2", "execl", "execv", "execve", "execvp",
    "fcntl", "ffs", "fileno", "fork", "fstat", "fsync", "ftok", "ftruncate", "getcwd", "getopt", "getpid", "glob",
    "iconv", "index", "ioctl", "isatty", "kill", "link", "listen", "lseek", "lstat", "madvise", "mkdir", "mmap",
    "mprotect", "msync", "munmap", "nice", "open", "opendir", "optarg", "optind", "pause", "pclose", "pipe", "poll",
    "popen", "pread", "pwrite", "random", "read", "readdir", "readlink", "recv", "rindex", "rmdir", "sbrk", "select",
    "send", "setenv", "sigaction", "sleep", "socket", "srandom", "stat", "strdup", "swab", "symlink", "sync", "sysconf",
    "tee", "timezone", "truncate", "tzname", "ualarm", "umask", "uname", "unlink", "unsetenv", "usleep", "utime",
    "vfork", "wait", "waitpid", "write"};

// Types of headers that ours or most programs include.
const Names kTypes = {"FILE",       "DIR",       "DLTensor",     "size_t",    "ssize_t",   "ptrdiff_t", "max_align_t",
                      "nullptr_t",  "intptr_t",  "uintptr_t",    "intmax_t",  "uintmax_t", "wint_t",    "wctype_t",
                      "wctrans_t",  "mbstate_t", "div_t",        "ldiv_t",    "lldiv_t",   "imaxdiv_t", "fpos_t",
                      "va_list",    "jmp_buf",   "sig_atomic_t", "clock_t",   "time_t",    "off_t",     "pid_t",
                      "uid_t",      "gid_t",     "mode_t",       "dev_t",     "ino_t",     "nlink_t",   "id_t",
                      "key_t",      "locale_t",  "float_t",      "double_t",  "fenv_t",    "fexcept_t", "pthread_t",
                      "sigset_t",   "timer_t",   "clockid_t",    "blksize_t", "blkcnt_t",  "socklen_t", "suseconds_t",
                      "useconds_t", "regoff_t",  "register_t",   "u_char",    "u_short",   "u_int",     "u_long",
                      "uint",       "ulong",     "ushort",       "quad_t",    "daddr_t",   "caddr_t",   "fd_set"};

// Macros of C11 and common ones of POSIX in capitals, besides those that is_system_macro() knows by their form.
const Names kMacros = {
    // <stdio.h>, <stdlib.h>, <math.h>, <complex.h>, <time.h>, <locale.h>, <fenv.h>
    "BUFSIZ", "FOPEN_MAX", "FILENAME_MAX", "TMP_MAX", "SEEK_CUR", "SEEK_END", "SEEK_SET", "EXIT_FAILURE",
    "EXIT_SUCCESS", "RAND_MAX", "MB_CUR_MAX", "MB_LEN_MAX", "HUGE_VAL", "HUGE_VALF", "HUGE_VALL", "INFINITY", "NAN",
    "SNAN", "MAXFLOAT", "MATH_ERRNO", "MATH_ERREXCEPT", "FP_NAN", "FP_INFINITE", "FP_ZERO", "FP_SUBNORMAL", "FP_NORMAL",
    "FP_ILOGB0", "FP_ILOGBNAN", "CMPLX", "CMPLXF", "CMPLXL", "CLOCKS_PER_SEC", "TIME_UTC", "LC_ALL", "LC_COLLATE",
    "LC_CTYPE", "LC_MONETARY", "LC_NUMERIC", "LC_TIME", "LC_MESSAGES", "FE_ALL_EXCEPT", "FE_DIVBYZERO", "FE_INEXACT",
    "FE_INVALID", "FE_OVERFLOW", "FE_UNDERFLOW", "FE_DOWNWARD", "FE_TONEAREST", "FE_TOWARDZERO", "FE_UPWARD",
    "FE_DFL_ENV", "WEOF", "FLT_RADIX", "FLT_ROUNDS", "FLT_EVAL_METHOD", "DECIMAL_DIG", "CHAR_BIT", "WORD_BIT",
    "LONG_BIT",
    // <errno.h>
    "E2BIG", "EACCES", "EAGAIN", "EALREADY", "EBADF", "EBADMSG", "EBUSY", "ECANCELED", "ECHILD", "EDEADLK", "EDOM",
    "EEXIST", "EFAULT", "EFBIG", "EIDRM", "EILSEQ", "EINPROGRESS", "EINTR", "EINVAL", "EIO", "EISDIR", "ELOOP",
    "EMFILE", "EMLINK", "EMSGSIZE", "ENFILE", "ENODATA", "ENODEV", "ENOENT", "ENOEXEC", "ENOLCK", "ENOMEM", "ENOMSG",
    "ENOSPC", "ENOSYS", "ENOTDIR", "ENOTEMPTY", "ENOTSUP", "ENOTTY", "ENXIO", "EOVERFLOW", "EPERM", "EPIPE", "EPROTO",
    "ERANGE", "EROFS", "ESPIPE", "ESRCH", "ESTALE", "ETIME", "ETIMEDOUT", "EWOULDBLOCK", "EXDEV",
    // <unistd.h>, <fcntl.h>, <sys/wait.h>, <sys/select.h>, <endian.h>, <limits.h>
    "F_OK", "R_OK", "W_OK", "X_OK", "F_LOCK", "F_TEST", "F_TLOCK", "F_ULOCK", "L_SET", "L_INCR", "L_XTND",
    "STDIN_FILENO", "STDOUT_FILENO", "STDERR_FILENO", "O_APPEND", "O_CREAT", "O_DIRECT", "O_EXCL", "O_RDONLY", "O_RDWR",
    "O_SYNC", "O_TRUNC", "O_WRONLY", "O_NONBLOCK", "WNOHANG", "WUNTRACED", "WCONTINUED", "FD_SET", "FD_CLR", "FD_ISSET",
    "FD_ZERO", "FD_SETSIZE", "NFDBITS", "BIG_ENDIAN", "LITTLE_ENDIAN", "PDP_ENDIAN", "BYTE_ORDER", "PATH_MAX",
    "NAME_MAX", "PIPE_BUF", "IOV_MAX", "ARG_MAX", "NGROUPS_MAX", "NZERO", "NSIG", "MINSIGSTKSZ",
    // <termios.h>: speeds and modes
    "B0", "B50", "B75", "B110", "B134", "B150", "B200", "B300", "B600", "B1200", "B1800", "B2400", "B4800", "B9600",
    "B19200", "B38400", "BS0", "BS1", "CR0", "CR1", "CR2", "CR3", "CS5", "CS6", "CS7", "CS8", "FF0", "FF1", "NL0",
    "NL1", "TAB0", "TAB1", "TAB2", "TAB3", "VT0", "VT1", "ECHO", "EXTA", "EXTB"};

// Library NAME puts NAME.h on the include path and libNAME.a on the library path: headers of C and POSIX, and
// libraries that every program links, must not be found there.
const Names kSystemFiles = {
    "alloca", "assert",      "complex",  "ctype",   "dirent",    "dlfcn",   "elf",     "endian",    "errno",
    "error",  "fcntl",       "features", "fenv",    "float",     "fnmatch", "getopt",  "glob",      "inttypes",
    "iso646", "langinfo",    "libgen",   "limits",  "link",      "locale",  "malloc",  "math",      "memory",
    "netdb",  "poll",        "pthread",  "pwd",     "regex",     "sched",   "search",  "semaphore", "setjmp",
    "signal", "spawn",       "stdalign", "stdarg",  "stdatomic", "stdbool", "stddef",  "stdint",    "stdio",
    "stdlib", "stdnoreturn", "string",   "strings", "termios",   "tgmath",  "threads", "time",      "uchar",
    "unistd", "utime",       "values",   "wchar",   "wctype",    "c",       "dl",      "gcc",       "gcc_s",
    "m",      "rt",          "util"};

bool is_fixed_width_type(std::string_view name) {
  const auto skip = [&](std::string_view prefix) {
    if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  };
  skip("u");
  if (!name.starts_with("int")) return false;
  skip("int");
  skip("_least");
  skip("_fast");
  return name == "8_t" || name == "16_t" || name == "32_t" || name == "64_t";
}

/// SIGINT, M_PI, PRId64, INT_MAX, FLT_EPSILON.
bool is_system_macro(std::string_view name) {
  const auto starts = [&](std::initializer_list<std::string_view> list) {
    return std::any_of(list.begin(), list.end(), [&](std::string_view prefix) { return name.starts_with(prefix); });
  };
  const auto ends = [&](std::initializer_list<std::string_view> list) {
    return std::any_of(list.begin(), list.end(), [&](std::string_view suffix) { return name.ends_with(suffix); });
  };
  if (kMacros.contains(name)) return true;
  const auto is_small = [](char c) { return c >= 'a' && c <= 'z'; };
  if (starts({"SIG", "M_"})) return std::none_of(name.begin(), name.end(), is_small);
  if (starts({"PRI", "SCN"})) return ends({"8", "16", "32", "64", "MAX", "PTR"});
  if (starts({"FLT_", "DBL_", "LDBL_"})) return ends({"_DIG", "_EPSILON", "_EXP", "_MAX", "_MIN", "_SUBNORM"});
  return starts({"BOOL_", "CHAR_", "SCHAR_", "UCHAR_", "SHRT_", "USHRT_", "INT", "UINT", "LONG_", "ULONG_", "LLONG_",
                 "ULLONG_", "SIZE_", "SSIZE_", "PTRDIFF_", "WCHAR_", "WINT_", "SIG_ATOMIC_"}) &&
         ends({"_MAX", "_MIN", "_WIDTH", "_C"});
}

}  // namespace

bool is_c_identifier(std::string_view name) {
  auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  auto letter_or_digit = [&](char c) { return letter(c) || (c >= '0' && c <= '9'); };
  return !name.empty() && letter(name.front()) && std::all_of(name.begin(), name.end(), letter_or_digit);
}

bool is_c_keyword(std::string_view name) {
  return kKeywords.contains(name) || kTypes.contains(name) || is_fixed_width_type(name) || is_system_macro(name);
}

bool is_c_library_name(std::string_view name) {
  if (kLibraryNames.contains(name) || kMathFunctions.contains(name)) return true;
  const bool suffixed = name.ends_with('f') || name.ends_with('l');
  return suffixed && kMathFunctions.contains(name.substr(0, name.size() - 1));
}

Result<void> check_external_name(std::string_view what, std::string_view name) {
  auto refuse = [&](std::string_view reason) {
    return fail(ErrorClass::Program, "bad-name", fmt::format("'{}' cannot name a {}: {}", name, what, reason),
                "choose another name with --name");
  };
  // 200: file names such as libNAME.a must stay below the 255 bytes of usual file systems.
  if (name.size() > 200) return refuse("it is longer than 200 characters");
  if (!is_c_identifier(name))
    return refuse("a name has letters, digits and underscores, and does not start with a digit");
  if (name.front() == '_' || name.find("__") != name.npos)
    return refuse("C and C++ reserve names with a leading or a double underscore");
  if (is_c_keyword(name)) return refuse("it means something else in C or C++");
  if (is_c_library_name(name)) return refuse("the C library has a symbol of that name");
  if (what == "library" && kSystemFiles.contains(name))
    return refuse("the system has a header or library of that name");
  // A function named like one of Halide's runtime would be renamed with it.
  for (const std::string_view prefix : {"tile_tune", "TILE_TUNE", "halide_"})
    if (name.starts_with(prefix))
      return refuse(fmt::format("names that start with {} belong to the shared runtime", prefix));
  return {};
}

std::vector<std::string> parameter_names(const std::vector<std::string>& tensors) {
  std::vector<std::string> names;
  for (const std::string& tensor : tensors) {
    const bool usable = is_c_identifier(tensor) && !is_c_keyword(tensor) && tensor.front() != '_' &&
                        tensor.find("__") == tensor.npos && std::count(tensors.begin(), tensors.end(), tensor) == 1 &&
                        !tensor.starts_with("arg");
    names.push_back(usable ? tensor : fmt::format("arg{}", names.size()));
  }
  return names;
}

}  // namespace tile_tune::codegen
