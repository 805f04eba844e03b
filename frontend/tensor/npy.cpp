#include "frontend/tensor/npy.h"

#include <fmt/format.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "frontend/tensor/copy_elements.h"
#include "frontend/tensor/npy_header.h"

namespace tile_tune::tensor {
namespace {

static_assert(std::endian::native == std::endian::little,
              "elements are copied to and from files as they lie in memory");

namespace fs = std::filesystem;

constexpr std::string_view kMagic("\x93NUMPY", 6);
// numpy pads headers so that the data starts at a multiple of this.
constexpr size_t kAlignment = 64;
// Far above what plain element types need (numpy itself refuses above 10,000 unless told otherwise).
constexpr uint32_t kMaxHeaderBytes = 1 << 20;

struct NpyType {
  DType type;
  std::string_view descr;
};
constexpr std::array<NpyType, 14> kTypes{{{DType::Bool, "|b1"},
                                          {DType::I8, "|i1"},
                                          {DType::U8, "|u1"},
                                          {DType::I16, "<i2"},
                                          {DType::U16, "<u2"},
                                          {DType::I32, "<i4"},
                                          {DType::U32, "<u4"},
                                          {DType::I64, "<i8"},
                                          {DType::U64, "<u8"},
                                          {DType::F16, "<f2"},
                                          {DType::F32, "<f4"},
                                          {DType::F64, "<f8"},
                                          {DType::C32, "<c8"},
                                          {DType::C64, "<c16"}}};

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

tl::unexpected<Diagnostic> malformed(const fs::path& path, std::string_view what) {
  return fail(ErrorClass::Mismatch, "malformed-npy",
              fmt::format("{} is not a valid .npy file: {}", path.string(), what));
}

tl::unexpected<Diagnostic> cannot(std::string_view verb, const fs::path& path, const std::error_code& error) {
  return failure(fmt::format("cannot-{}", verb), fmt::format("cannot {} {}: {}", verb, path.string(), error.message()));
}

std::error_code last_error() { return {errno, std::generic_category()}; }

/// An open regular file, its size and how far it has been read.
struct Source {
  const fs::path& path;
  File file;
  uintmax_t remaining;

  Result<void> read(void* target, size_t bytes, std::string_view what) {
    if (bytes > remaining) return malformed(path, fmt::format("it ends within {}", what));
    if (bytes > 0 && std::fread(target, 1, bytes, file.get()) != bytes)
      return cannot("read", path, std::ferror(file.get()) ? last_error() : std::make_error_code(std::errc::io_error));
    remaining -= bytes;
    return {};
  }
};

Result<Source> open_source(const fs::path& path) {
  std::error_code error;
  if (const auto status = fs::status(path, error); fs::exists(status) && !fs::is_regular_file(status))
    return failure("cannot-open", fmt::format("cannot open {}: it is not a regular file", path.string()));
  File file(std::fopen(path.c_str(), "rb"));
  if (!file) return cannot("open", path, last_error());
  const auto size = fs::file_size(path, error);
  if (error) return cannot("open", path, error);
  return Source{path, std::move(file), size};
}

Result<NpyHeader> read_header(Source& source) {
  std::array<char, 8> start{};
  TILE_TUNE_CHECK(source.read(start.data(), start.size(), "its first bytes"));
  if (std::string_view(start.data(), kMagic.size()) != kMagic)
    return malformed(source.path, "it does not start with numpy's magic bytes");
  const int major = static_cast<uint8_t>(start[6]), minor = static_cast<uint8_t>(start[7]);
  if (major < 1 || major > 3 || minor != 0)
    return malformed(source.path, fmt::format("its format version {}.{} is unknown", major, minor));
  uint32_t length = 0;
  TILE_TUNE_CHECK(source.read(&length, major == 1 ? 2 : 4, "the length of its header"));
  if (length > source.remaining) return malformed(source.path, "it ends within its header");
  if (length > kMaxHeaderBytes) return malformed(source.path, fmt::format("its header has {} bytes", length));
  std::string text(length, '\0');
  TILE_TUNE_CHECK(source.read(text.data(), text.size(), "its header"));
  auto header = parse_npy_header(text);
  if (!header) return malformed(source.path, header.error());
  return std::move(*header);
}

Result<DType> element_type(const fs::path& path, std::string_view descr, std::optional<DType> expected) {
  const auto unsupported = [&](std::string_view what, std::string note) {
    return fail(ErrorClass::Mismatch, "npy-type", fmt::format("{} holds {}", path.string(), what), std::move(note));
  };
  if (descr.starts_with('|') && descr.substr(1).starts_with('O'))
    return unsupported("Python objects, not numbers", "save it with a numeric dtype");
  const auto known = std::find_if(kTypes.begin(), kTypes.end(), [&](const NpyType& entry) {
    // Byte order means nothing for single bytes, whichever sign numpy put there.
    return entry.descr == descr ||
           (entry.descr[0] == '|' && !descr.empty() && descr.substr(1) == entry.descr.substr(1));
  });
  if (known != kTypes.end()) return known->type == DType::U16 && expected == DType::BF16 ? DType::BF16 : known->type;
  if (descr.starts_with('['))
    return unsupported(fmt::format("records {}, not numbers", descr), "save each field as an array of its own");
  if (descr.starts_with('>'))
    return unsupported(fmt::format("big-endian elements ('{}')", descr),
                       "save it as little-endian: array.astype(array.dtype.newbyteorder('<'))");
  return unsupported(fmt::format("elements of type '{}', which tile-tune does not have", descr),
                     "supported are |b1, i1 to i8, u1 to u8, f2, f4, f8, c8 and c16, little-endian");
}

bool is_empty(const std::vector<int64_t>& shape) { return std::find(shape.begin(), shape.end(), 0) != shape.end(); }

// Bytes of an array of this shape, if they fit 63 bits.
std::optional<int64_t> byte_count(const std::vector<int64_t>& shape, DType type) {
  if (is_empty(shape)) return 0;
  int64_t bytes = static_cast<int64_t>(dtype_size(type));
  for (const int64_t extent : shape)
    if (__builtin_mul_overflow(bytes, extent, &bytes)) return std::nullopt;
  return bytes;
}

// The same elements, the first subscript fastest.
Array in_fortran_order(const Array& array) {
  const auto strides = fortran_strides(array.shape);
  if (array.strides == strides) return array;
  Array result{array.type, array.shape, std::vector<std::byte>(array.element_count() * dtype_size(array.type)),
               strides};
  const auto size = static_cast<int64_t>(dtype_size(array.type));
  copy_elements(
      {array.data.data() + array.origin * size, array.strides.empty() ? c_strides(array.shape) : array.strides},
      {result.data.data(), strides}, array.shape, array.type);
  return result;
}

// The bytes before the elements: magic, version 1.0, length, dictionary padded to the alignment.
std::string file_start(const Array& array, bool fortran_order) {
  const DType stored = array.type == DType::BF16 ? DType::U16 : array.type;
  const auto entry =
      std::find_if(kTypes.begin(), kTypes.end(), [&](const auto& known) { return known.type == stored; });
  std::string header = format_npy_header({std::string(entry->descr), fortran_order, array.shape});
  const size_t prefix = kMagic.size() + 4;  // version and length
  const size_t total = (prefix + header.size() + 1 + kAlignment - 1) / kAlignment * kAlignment;
  header.resize(total - prefix - 1, ' ');
  header += '\n';
  std::string start(kMagic);
  start += {'\1', '\0', static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  return start + header;
}

std::error_code write_and_close(File file, const Array& array, bool fortran_order) {
  const std::string start = file_start(array, fortran_order);
  const bool as_it_lies = array.strides.empty() && !(fortran_order && array.shape.size() > 1);
  const Array other = as_it_lies ? Array() : fortran_order ? in_fortran_order(array) : array.in_c_order();
  const auto& data = as_it_lies ? array.data : other.data;
  if (std::fwrite(start.data(), 1, start.size(), file.get()) != start.size()) return last_error();
  if (!data.empty() && std::fwrite(data.data(), 1, data.size(), file.get()) != data.size()) return last_error();
  return std::fclose(file.release()) == 0 ? std::error_code() : last_error();
}

// A name in the target's folder that no other process or thread uses.
fs::path name_beside(const fs::path& target) {
  static std::atomic<unsigned> count{0};
  fs::path result = target;
  result += fmt::format(".{}.{}.tmp", getpid(), count++);
  return result;
}

}  // namespace

Result<Array> read_npy(const fs::path& path, std::optional<DType> expected) {
  TILE_TUNE_TRY(array, read_npy_as_stored(path, expected));
  return array.strides.empty() ? std::move(array) : array.in_c_order();
}

Result<Array> read_npy_as_stored(const fs::path& path, std::optional<DType> expected) {
  TILE_TUNE_TRY(source, open_source(path));
  TILE_TUNE_TRY(header, read_header(source));
  TILE_TUNE_TRY(type, element_type(path, header.descr, expected));
  const auto bytes = byte_count(header.shape, type);
  if (!bytes || static_cast<uintmax_t>(*bytes) > source.remaining)
    return malformed(path, fmt::format("its shape ({}) of {} needs more bytes than the {} that follow the header",
                                       fmt::join(header.shape, ", "), dtype_name(type), source.remaining));
  Array array{type, std::move(header.shape), std::vector<std::byte>(static_cast<size_t>(*bytes))};
  TILE_TUNE_CHECK(source.read(array.data.data(), array.data.size(), "its elements"));
  if (header.fortran_order && array.shape.size() > 1) array.strides = fortran_strides(array.shape);
  if (type == DType::Bool)  // numpy takes any non-zero byte as true, kernels rely on 0 and 1
    for (auto& byte : array.data) byte = std::byte{byte != std::byte{0}};
  return array;
}

Result<void> write_npy(const fs::path& path, const Array& array, bool fortran_order) {
  std::error_code ignored;
  const auto status = fs::status(path, ignored);
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    File file(std::fopen(path.c_str(), "wb"));
    if (!file) return cannot("write", path, last_error());
    if (const auto error = write_and_close(std::move(file), array, fortran_order)) return cannot("write", path, error);
    return {};
  }
  // Through a symbolic link the file it names is replaced, not the link.
  std::error_code error;
  const fs::path target = fs::exists(status) ? fs::canonical(path, error) : path;
  if (error) return cannot("write", path, error);
  const fs::path temporary = name_beside(target);
  File file(std::fopen(temporary.c_str(), "wbx"));
  if (!file) return cannot("write", path, last_error());
  error = write_and_close(std::move(file), array, fortran_order);
  if (!error) fs::rename(temporary, target, error);
  if (!error) return {};
  fs::remove(temporary, ignored);
  return cannot("write", path, error);
}

}  // namespace tile_tune::tensor
