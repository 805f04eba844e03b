#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>
#include <catch2/catch.hpp>
#include <csignal>
#include <cstring>
#include <fstream>

#include "frontend/tensor/npy.h"

using namespace tile_tune;
using namespace tile_tune::tensor;
namespace fs = std::filesystem;

namespace {

// A folder that lives as long as the test case.
struct Folder {
  fs::path path;
  Folder() {
    std::string name = (fs::temp_directory_path() / "npy_test_XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path = name;
  }
  ~Folder() { fs::remove_all(path); }
  size_t files() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(path), fs::directory_iterator()));
  }
};

std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_file(const fs::path& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

// A file of the given version; the header is padded as numpy does.
std::string npy(const std::string& dictionary, const std::string& data, int major = 1) {
  std::string header = dictionary;
  const size_t length_bytes = major == 1 ? 2 : 4;
  while ((8 + length_bytes + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::string text = std::string("\x93NUMPY", 6) + static_cast<char>(major) + '\0';
  for (size_t i = 0; i < length_bytes; ++i) text += static_cast<char>(header.size() >> (8 * i));
  return text + header + data;
}

template <typename T>
std::string bytes(std::vector<T> values) {
  std::string text(values.size() * sizeof(T), '\0');
  std::memcpy(text.data(), values.data(), text.size());
  return text;
}

template <typename T>
std::vector<T> elements(const Array& array) {
  return {array.as<T>(), array.as<T>() + array.element_count()};
}

template <typename T>
Array make_array(DType type, std::vector<int64_t> shape, std::vector<T> values) {
  Array array = Array::zeros(type, std::move(shape));
  REQUIRE(array.data.size() == values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(array.data.data(), values.data(), array.data.size());
  return array;
}

}  // namespace

TEST_CASE("a file of each version reads alike") {
  Folder folder;
  for (const int version : {1, 2, 3}) {
    write_file(folder.path / "a.npy", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }",
                                          bytes<float>({1, -2, 3, 4, 5, 6.5f}), version));
    const auto array = read_npy(folder.path / "a.npy");
    REQUIRE(array);
    CHECK(array->type == DType::F32);
    CHECK(array->shape == std::vector<int64_t>{2, 3});
    CHECK(elements<float>(*array) == std::vector<float>{1, -2, 3, 4, 5, 6.5f});
  }
}

TEST_CASE("Fortran order is turned into C order") {
  Folder folder;
  // Columns of a 2x3x2 array whose element (a, b, c) is 100a + 10b + c.
  std::vector<int16_t> stored;
  for (int c = 0; c < 2; ++c)
    for (int b = 0; b < 3; ++b)
      for (int a = 0; a < 2; ++a) stored.push_back(static_cast<int16_t>(100 * a + 10 * b + c));
  write_file(folder.path / "a.npy",
             npy("{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3, 2), }", bytes(stored)));
  const auto array = read_npy(folder.path / "a.npy");
  REQUIRE(array);
  CHECK(elements<int16_t>(*array) == std::vector<int16_t>{0, 1, 10, 11, 20, 21, 100, 101, 110, 111, 120, 121});
}

TEST_CASE("headers that Python could also have written are read") {
  Folder folder;
  const auto read = [&](const std::string& dictionary) {
    write_file(folder.path / "a.npy", npy(dictionary, bytes<int64_t>({7, 8, 9})));
    return read_npy(folder.path / "a.npy");
  };
  CHECK(read("{\"shape\":(3L,),\"fortran_order\":True,\"descr\":\"<i8\"}")->shape == std::vector<int64_t>{3});
  CHECK(read("{ 'descr' : '<i8' , 'fortran_order' : False , 'shape' : ( 1 , 3 , ) }")->shape ==
        std::vector<int64_t>{1, 3});
  CHECK(read("{'descr': '<i8', 'fortran_order': False, 'shape': ()}")->shape.empty());
  CHECK(read("{'descr': '<i8', 'fortran_order': False, 'shape': (0, 5)}")->data.empty());
  for (const std::string shape :
       {"(0, 4611686018427387904)", "(4611686018427387904, 0)", "(9223372036854775807, 9223372036854775807, 0)"})
    for (const std::string order : {"False", "True"}) {
      const auto empty = read("{'descr': '<i8', 'fortran_order': " + order + ", 'shape': " + shape + "}");
      REQUIRE(empty);
      CHECK(empty->element_count() == 0);
      CHECK(empty->data.empty());
      REQUIRE(write_npy(folder.path / "again.npy", *empty, order == "True"));
      CHECK(read_npy(folder.path / "again.npy")->shape == empty->shape);
    }
  CHECK(read("{'descr': '>i1', 'fortran_order': False, 'shape': (3,)}")->type == DType::I8);
  // numpy reads as many elements as the shape says and leaves the rest.
  CHECK(elements<int64_t>(*read("{'descr': '<i8', 'fortran_order': False, 'shape': (2,)}")) ==
        std::vector<int64_t>{7, 8});
}

TEST_CASE("bf16 travels as unsigned 16-bit patterns") {
  Folder folder;
  const auto path = folder.path / "a.npy";
  REQUIRE(write_npy(path, make_array<uint16_t>(DType::BF16, {2}, {0x3f80, 0xc000})));
  CHECK(contents(path).find("'<u2'") != std::string::npos);
  CHECK(read_npy(path)->type == DType::U16);
  CHECK(read_npy(path, DType::F32)->type == DType::U16);
  const auto array = read_npy(path, DType::BF16);
  CHECK(array->type == DType::BF16);
  CHECK(elements<uint16_t>(*array) == std::vector<uint16_t>{0x3f80, 0xc000});
}

TEST_CASE("any non-zero byte of a bool array is true") {
  Folder folder;
  write_file(folder.path / "a.npy",
             npy("{'descr': '|b1', 'fortran_order': False, 'shape': (3,), }", std::string("\0\1\7", 3)));
  CHECK(elements<uint8_t>(*read_npy(folder.path / "a.npy")) == std::vector<uint8_t>{0, 1, 1});
}

TEST_CASE("what is written is what numpy writes, byte for byte") {
  Folder folder;
  REQUIRE(write_npy(folder.path / "a.npy", make_array<float>(DType::F32, {3}, {1, 2, 3})));
  CHECK(contents(folder.path / "a.npy") ==
        npy("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }", bytes<float>({1, 2, 3})));
  REQUIRE(write_npy(folder.path / "a.npy", make_array<int32_t>(DType::I32, {2, 3}, {1, 2, 3, 4, 5, 6}), true));
  CHECK(contents(folder.path / "a.npy") ==
        npy("{'descr': '<i4', 'fortran_order': True, 'shape': (2, 3), }", bytes<int32_t>({1, 4, 2, 5, 3, 6})));
  CHECK(contents(folder.path / "a.npy").size() == 128 + 24);
}

TEST_CASE("every type and order survives a round trip") {
  Folder folder;
  const auto path = folder.path / "a.npy";
  for (const DType type :
       {DType::Bool, DType::I8, DType::U8, DType::I16, DType::U16, DType::I32, DType::U32, DType::I64, DType::U64,
        DType::F16, DType::BF16, DType::F32, DType::F64, DType::C32, DType::C64})
    for (const auto& shape : std::vector<std::vector<int64_t>>{{}, {0}, {1}, {5}, {3, 0, 2}, {2, 3, 5}})
      for (const bool fortran_order : {false, true}) {
        Array array = Array::zeros(type, shape);
        for (size_t i = 0; i < array.data.size(); ++i)
          array.data[i] = std::byte(type == DType::Bool ? i % 2 : 37 * i + 1);
        REQUIRE(write_npy(path, array, fortran_order));
        const auto back = read_npy(path, type);
        REQUIRE(back);
        CHECK(back->type == type);
        CHECK(back->shape == shape);
        CHECK(back->data == array.data);
      }
  CHECK(folder.files() == 1);
}

TEST_CASE("malformed files give one diagnostic that names the file") {
  Folder folder;
  const auto path = folder.path / "bad.npy";
  const std::string good =
      npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", bytes<float>({1, 2, 3, 4, 5, 6}));
  const auto dictionary = [](const std::string& shape, const std::string& descr = "'<f4'",
                             const std::string& order = "False") {
    return npy("{'descr': " + descr + ", 'fortran_order': " + order + ", 'shape': " + shape + ", }",
               std::string(24, 'x'));
  };
  struct Case {
    std::string text, code, message;
  };
  std::string version_4 = good, version_1_1 = good, long_header = good, huge_v2 = npy("{}", "", 2);
  version_4[6] = 4;
  version_1_1[7] = 1;
  long_header[9] = 0x7f;
  for (const int i : {8, 9, 10, 11}) huge_v2[i] = '\xff';
  const std::vector<Case> cases{
      {"", "malformed-npy", "it ends within its first bytes"},
      {"PK\3\4 a zip archive", "malformed-npy", "magic bytes"},
      {version_4, "malformed-npy", "its format version 4.0 is unknown"},
      {version_1_1, "malformed-npy", "its format version 1.1 is unknown"},
      {good.substr(0, 9), "malformed-npy", "it ends within the length of its header"},
      {good.substr(0, 40), "malformed-npy", "it ends within its header"},
      {long_header, "malformed-npy", "it ends within its header"},
      {huge_v2, "malformed-npy", "it ends within its header"},
      {npy("", ""), "malformed-npy", "the header is not a Python dictionary"},
      {npy("{'descr': '<f4' 'shape': ()}", ""), "malformed-npy", "the header is not a Python dictionary"},
      {npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)", ""), "malformed-npy", "not a Python dictionary"},
      {npy("{'descr': '<f4', 'fortran_order': False, 'shape': ()} x", ""), "malformed-npy", "does not end after"},
      {npy("{'fortran_order': False, 'shape': ()}", ""), "malformed-npy", "the header has no 'descr'"},
      {npy("{'descr': '<f4', 'shape': ()}", ""), "malformed-npy", "the header has no 'fortran_order'"},
      {npy("{'descr': '<f4', 'fortran_order': False}", ""), "malformed-npy", "the header has no 'shape'"},
      {npy("{'descr': '<f4', 'order': 1}", ""), "malformed-npy", "unknown entry 'order'"},
      {dictionary("()", "4"), "malformed-npy", "'descr' in the header is not a type"},
      {dictionary("()", "'<f4"), "malformed-npy", ""},
      {dictionary("()", "'<f4'", "0"), "malformed-npy", "'fortran_order' in the header"},
      {dictionary("(-2, 3)"), "malformed-npy", "'shape' in the header"},
      {dictionary("(2 3)"), "malformed-npy", "'shape' in the header"},
      {dictionary("(6)"), "malformed-npy", "'shape' in the header"},
      {dictionary("6"), "malformed-npy", "'shape' in the header"},
      {dictionary("(,)"), "malformed-npy", "'shape' in the header"},
      {dictionary("(1.5,)"), "malformed-npy", "'shape' in the header"},
      {dictionary("(99999999999999999999,)"), "malformed-npy", "'shape' in the header"},
      {dictionary("(9223372036854775807,)"), "malformed-npy", "needs more bytes than the 24"},
      {dictionary("(4294967296, 4294967296)"), "malformed-npy", "needs more bytes"},
      {dictionary("(1000000000000,)"), "malformed-npy", "needs more bytes"},
      {dictionary("(7,)"), "malformed-npy", "shape (7) of f32 needs more bytes than the 24 that follow"},
      {good.substr(0, good.size() - 1), "malformed-npy", "needs more bytes than the 23"},
      {dictionary("(2,)", "'>f4'"), "npy-type", "big-endian"},
      {dictionary("(2,)", "'|O'"), "npy-type", "Python objects"},
      {dictionary("(2,)", "[('a', '<f4'), ('b', [('c', '<i4')])]"), "npy-type",
       "records [('a', '<f4'), ('b', [('c', '<i4')])], not"},
      {dictionary("(2,)", "[('a', '<f4')"), "malformed-npy", "'descr' in the header is not a type"},
      {dictionary("(2,)", "'<U5'"), "npy-type", "'<U5'"},
      {dictionary("(2,)", "'<f16'"), "npy-type", "'<f16'"},
      {dictionary("(2,)", "''"), "npy-type", "''"},
  };
  for (const auto& [text, code, message] : cases) {
    write_file(path, text);
    const auto array = read_npy(path);
    INFO(text);
    REQUIRE(!array);
    CHECK(array.error().error_class == ErrorClass::Mismatch);
    CHECK(array.error().code == code);
    CHECK_THAT(array.error().message, Catch::Contains(path.string()) && Catch::Contains(message));
  }
}

TEST_CASE("every prefix and every flipped header byte is read or refused") {
  Folder folder;
  const auto path = folder.path / "bad.npy";
  const std::string good =
      npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", bytes<float>({1, 2, 3, 4, 5, 6}));
  for (size_t length = 0; length < good.size(); ++length) {
    write_file(path, good.substr(0, length));
    CHECK(!read_npy(path));
  }
  for (size_t i = 0; i < 128; ++i)
    for (const char mask : {'\x01', '\x20', '\x80'}) {
      std::string text = good;
      text[i] = static_cast<char>(text[i] ^ mask);
      write_file(path, text);
      if (const auto array = read_npy(path)) CHECK(array->data.size() <= text.size());
    }
}

TEST_CASE("what is no readable file is a failure") {
  Folder folder;
  for (const fs::path& path : {folder.path / "missing.npy", folder.path, fs::path("/dev/zero")}) {
    const auto array = read_npy(path);
    REQUIRE(!array);
    CHECK(array.error().error_class == ErrorClass::Failure);
    CHECK(array.error().code == "cannot-open");
    CHECK_THAT(array.error().message, Catch::Contains(path.string()));
  }
}

TEST_CASE("a write that fails leaves nothing and spoils nothing") {
  Folder folder;
  const auto path = folder.path / "a.npy";
  const Array array = Array::zeros(DType::F32, {1000, 1000});
  SECTION("no such folder") {
    const auto written = write_npy(folder.path / "none" / "a.npy", array);
    REQUIRE(!written);
    CHECK(written.error().code == "cannot-write");
    CHECK(written.error().error_class == ErrorClass::Failure);
    CHECK(folder.files() == 0);
  }
  SECTION("the target is a folder") { CHECK(!write_npy(folder.path, array)); }
  SECTION("no space on a device") {
    const auto written = write_npy("/dev/full", array);
    REQUIRE(!written);
    CHECK_THAT(written.error().message, Catch::Contains("/dev/full") && Catch::Contains("No space left"));
    CHECK(fs::is_character_file("/dev/full"));
  }
  SECTION("no space for a file") {
    write_file(path, "older");
    // The system refuses to let the file grow beyond 1 MB, as a full disk would.
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    rlimit limit = before;
    limit.rlim_cur = 1'000'000;
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    const auto written = write_npy(path, array);
    setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, handler);
    REQUIRE(!written);
    CHECK(written.error().code == "cannot-write");
    CHECK(contents(path) == "older");
    CHECK(folder.files() == 1);
  }
}

TEST_CASE("a symbolic link keeps pointing at the file that is replaced") {
  Folder folder;
  write_file(folder.path / "real.npy", "older");
  fs::create_symlink("real.npy", folder.path / "link.npy");
  REQUIRE(write_npy(folder.path / "link.npy", make_array<float>(DType::F32, {1}, {5})));
  CHECK(fs::is_symlink(folder.path / "link.npy"));
  CHECK(elements<float>(*read_npy(folder.path / "real.npy")) == std::vector<float>{5});
}
