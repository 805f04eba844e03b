#include "db/json_lines.h"

#include <fmt/format.h>
#include <sodium.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "db/former_target.h"
#include "db/target_columns.h"

namespace tile_tune::db {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFileKind = "tile-tune-records";
constexpr int kFormat = 2, kOldestFormat = 1;  // format 1 has targets in the words of TargetWords
constexpr const char* kFormerText = "halide";

/// Programs nest as deep as their expressions; what nests deeper would exhaust the stack of whoever walks it.
constexpr int kDeepest = 512;

constexpr int kBase64 = sodium_base64_VARIANT_ORIGINAL;

Json parse(const std::string& text) {
  return Json::parse(
      text, [](int depth, Json::parse_event_t, Json&) { return depth <= kDeepest; }, false);
}

/// Texts that are JSON objects as nlohmann writes them are shown as objects: a difference in a schedule is then seen.
/// Others are texts; bytes that are no UTF-8 are {"base64": ...}.
Json shown(const std::string& text) {
  if (text.starts_with('{')) {
    Json object = parse(text);
    if (object.is_object() && !object.contains("base64") && object.dump() == text) return object;
  }
  try {
    Json(text).dump();
    return text;
  } catch (const Json::type_error&) {  // not UTF-8
    std::string encoded(sodium_base64_encoded_len(text.size(), kBase64), '\0');
    sodium_bin2base64(encoded.data(), encoded.size(), reinterpret_cast<const unsigned char*>(text.data()), text.size(),
                      kBase64);
    encoded.pop_back();  // sodium's terminating zero
    return {{"base64", encoded}};
  }
}

Json shown(double value) {
  if (std::isnan(value)) return nullptr;
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

/// Puts fields into an object.
class Writer {
 public:
  explicit Writer(Json& object) : object_(object) {}
  void text(const char* name, const std::string& value) { object_[name] = shown(value); }
  template <typename Check>
  void hex(const char* name, const std::string& value, Check) {
    object_[name] = value;
  }
  void hashes(const char* name, const std::vector<std::string>& values) { object_[name] = values; }
  void number(const char* name, double value) { object_[name] = shown(value); }
  void numbers(const char* name, const std::vector<double>& values) {
    Json list = Json::array();
    for (const double value : values) list.push_back(shown(value));
    object_[name] = std::move(list);
  }
  template <typename Integer>
  void integer(const char* name, Integer value) {
    object_[name] = value;
  }

 private:
  Json& object_;
};

/// Takes fields out of an object. Throws std::runtime_error with a sentence; caught in record_from_line.
class Reader {
 public:
  explicit Reader(const Json& object) : object_(object) {}
  bool took_all() const { return taken_ == object_.size(); }
  bool has(const char* name) const { return object_.contains(name); }

  void text(const char* name, std::string& value) {
    const Json& field = take(name);
    if (field.is_string()) {
      value = field.get<std::string>();
    } else if (field.is_object() && field.size() == 1 && field.contains("base64")) {
      value = decoded(name, field["base64"]);
    } else if (field.is_object()) {
      value = field.dump();
    } else {
      wrong(name);
    }
  }
  template <typename Check>
  void hex(const char* name, std::string& value, Check check) {
    const Json& field = take(name);
    if (!field.is_string() || !check(field.get<std::string>())) wrong(name);
    value = field.get<std::string>();
  }
  void hashes(const char* name, std::vector<std::string>& values) {
    const Json& field = take(name);
    if (!field.is_array()) wrong(name);
    for (const Json& one : field) {
      if (!one.is_string() || !is_hash(one.get<std::string>())) wrong(name);
      values.push_back(one.get<std::string>());
    }
  }
  void number(const char* name, double& value) { value = real(name, take(name)); }
  void numbers(const char* name, std::vector<double>& values) {
    const Json& field = take(name);
    if (!field.is_array()) wrong(name);
    for (const Json& one : field) values.push_back(real(name, one));
  }
  void integer(const char* name, bool& value) {
    const Json& field = take(name);
    if (!field.is_boolean()) wrong(name);
    value = field.get<bool>();
  }
  template <typename Integer>
  void integer(const char* name, Integer& value) {
    const Json& field = take(name);
    const bool fits = field.is_number_unsigned()  ? std::in_range<Integer>(field.get<uint64_t>())
                      : field.is_number_integer() ? std::in_range<Integer>(field.get<int64_t>())
                                                  : false;
    if (!fits) wrong(name);
    value = field.get<Integer>();
  }

 private:
  [[noreturn]] static void wrong(const char* name) {
    throw std::runtime_error(fmt::format("its field \"{}\" has a wrong value", name));
  }
  const Json& take(const char* name) {
    const auto found = object_.find(name);
    if (found == object_.end()) throw std::runtime_error(fmt::format("its field \"{}\" is missing", name));
    ++taken_;
    return *found;
  }
  static double real(const char* name, const Json& field) {
    if (field.is_number()) return field.get<double>();
    if (field.is_null()) return std::numeric_limits<double>::quiet_NaN();
    if (field == "inf") return std::numeric_limits<double>::infinity();
    if (field == "-inf") return -std::numeric_limits<double>::infinity();
    wrong(name);
  }
  static std::string decoded(const char* name, const Json& field) {
    if (!field.is_string()) wrong(name);
    const auto encoded = field.get<std::string>();
    std::string bytes(encoded.size(), '\0');
    size_t size = 0;
    const char* end = nullptr;
    const int rc = sodium_base642bin(reinterpret_cast<unsigned char*>(bytes.data()), bytes.size(), encoded.data(),
                                     encoded.size(), nullptr, &size, &end, kBase64);
    if (rc != 0 || end != encoded.data() + encoded.size()) wrong(name);
    bytes.resize(size);
    return bytes;
  }

  const Json& object_;
  size_t taken_ = 0;
};

// The fields of each kind, in the order of a line; a Writer leaves them as they are, a Reader sets them.

template <typename Archive>
void fields(Archive& archive, ProgramRow& row) {
  archive.text("name", row.name);
  archive.text("sizes", row.sizes_json);
  archive.text("dtypes", row.dtypes);
  archive.text("layout", row.layout);
  archive.text("content_hash", row.content_hash);
  archive.text("family_hash", row.family_hash);
  archive.text("frontend", row.frontend);
  archive.text("source", row.source);
  archive.text("canonical", row.canonical_json);
  archive.number("flops", row.flops);
  archive.number("bytes", row.bytes);
}

template <typename Archive>
void fields(Archive& archive, CodeColumns& code, codegen::Target& machine) {
  bool deterministic = code.deterministic != 0;
  archive.text("architecture", code.architecture);
  archive.text("os", code.os);
  archive.text("features", code.features);
  archive.integer("scalable_bits", code.scalable_bits);
  archive.text("device", code.device);
  archive.integer("deterministic", deterministic);
  archive.text("tuned_for", code.tuned_for);
  archive.text("cpu_model", machine.cpu_model);
  archive.integer("threads", machine.threads);
  archive.integer("vector_bytes", machine.vector_bytes);
  archive.integer("vector_registers", machine.vector_registers);
  archive.integer("l1_bytes", machine.l1_bytes);
  archive.integer("l2_bytes", machine.l2_bytes);
  archive.integer("l3_bytes", machine.l3_bytes);
  code.deterministic = deterministic;
}

/// All of format 1, and targets that are known in its words alone.
template <typename Archive>
void fields(Archive& archive, TargetWords& words) {
  archive.text(kFormerText, words.text);
  archive.text("cpu_model", words.cpu_model);
  archive.integer("threads", words.threads);
  archive.text("features", words.facts);
}

void fields(Writer& writer, TargetRow& row) {
  if (row.former_text || row.former_facts) {
    TargetWords words = words_of(row);
    return fields(writer, words);
  }
  CodeColumns code = code_columns(row);
  fields(writer, code, row.machine);
}

void fields(Reader& reader, TargetRow& row) {
  if (reader.has(kFormerText)) {
    TargetWords words;
    fields(reader, words);
    row = target_row(words);
    return;
  }
  CodeColumns code;
  codegen::Target figures;
  fields(reader, code, figures);
  const auto machine = target_from(code, figures);
  if (!machine) throw std::runtime_error("it is of a target that is not known");
  row = {.machine = *machine};
}

template <typename Archive>
void fields(Archive& archive, ToolRow& row) {
  archive.text("tile_tune", row.tile_tune);
  archive.text("halide", row.halide);
  archive.text("llvm", row.llvm);
  archive.integer("schedule_version", row.schedule_version);
  archive.integer("protocol_version", row.protocol_version);
}

template <typename Archive>
void fields(Archive& archive, SessionRecord& session) {
  archive.hex("session", session.row.id, is_session_id);
  archive.hex("program", session.key.program, is_hash);
  archive.hex("target", session.key.target, is_hash);
  archive.hex("tool", session.key.tool, is_hash);
  archive.integer("seed", session.row.seed);
  archive.text("strategy", session.row.strategy);
  archive.text("options", session.row.options_json);
  archive.text("budget", session.row.budget_json);
  archive.integer("created_ms", session.row.created_ms);
  archive.text("state", session.row.state);
}

template <typename Archive>
void fields(Archive& archive, ScheduleRow& schedule) {
  archive.text("schedule", schedule.json);
}

template <typename Archive>
void fields(Archive& archive, TrialRecord& trial) {
  archive.hex("session", trial.session, is_session_id);
  auto& row = trial.row;
  archive.integer("sequence", row.sequence);
  archive.integer("generation", row.generation);
  archive.text("origin", row.origin);
  archive.hex("schedule", row.schedule_id, is_hash);
  archive.hashes("parents", row.parents);
  archive.text("outcome", row.outcome);
  archive.text("reason", row.reason);
  archive.number("median_ns", row.median_ns);
  archive.number("ratio", row.ratio);
  archive.number("ratio_lo", row.ratio_lo);
  archive.number("ratio_hi", row.ratio_hi);
  archive.number("peak_fraction", row.peak_fraction);
  archive.number("peak_fraction_lo", row.peak_fraction_lo);
  archive.number("peak_fraction_hi", row.peak_fraction_hi);
  archive.number("verify_error", row.verify_error);
  archive.number("compile_ms", row.compile_ms);
  archive.text("code_hash", row.code_hash);
  archive.integer("disturbed", row.disturbed);
  archive.number("elapsed_s", row.elapsed_s);
  archive.integer("created_ms", row.created_ms);
  archive.numbers("samples_ns", row.samples_ns);
}

template <typename Archive>
void fields(Archive& archive, WinnerRow& winner) {
  archive.hex("trial", winner.trial, is_hash);
  archive.hex("workload", winner.workload, is_hash);
  archive.integer("accepted_ms", winner.accepted_ms);
}

Content empty_content(const std::string& kind) {
  static const std::vector<Content> kEmpty = {ProgramRow(),  TargetRow(),   ToolRow(),  SessionRecord(),
                                              ScheduleRow(), TrialRecord(), WinnerRow()};
  for (const Content& content : kEmpty)
    if (kind_name(content.index()) == kind) return content;
  throw std::runtime_error(fmt::format("records of kind \"{}\" are not known", kind));
}

Record read_record(const Json& json) {
  Reader reader(json);
  std::string kind;
  reader.text("kind", kind);
  Record record;
  reader.hex("digest", record.digest, is_hash);
  record.content = empty_content(kind);
  std::visit([&](auto& content) { fields(reader, content); }, record.content);
  if (auto* schedule = std::get_if<ScheduleRow>(&record.content)) schedule->id = record.digest;
  if (!reader.took_all()) throw std::runtime_error("it has a field that is not known");
  return record;
}

tl::unexpected<Diagnostic> bad_file(std::string sentence, std::string note = "") {
  return failure("bad-record-file", std::move(sentence), std::move(note));
}

Result<void> check_header(const std::string& line, const std::string& path) {
  const Json json = parse(line);
  const auto kind = json.is_object() ? json.find("kind") : json.end();
  if (!json.is_object() || kind == json.end() || *kind != kFileKind || !json.contains("format") ||
      !json["format"].is_number_integer())
    return bad_file(fmt::format("{} holds no tuning records", path), "`tile-tune db export` writes such files");
  if (json["format"] < kOldestFormat || json["format"] > kFormat)
    return bad_file(fmt::format("{} has format {}, this tile-tune reads formats {} to {}", path, json["format"].dump(),
                                kOldestFormat, kFormat),
                    "update tile-tune");
  return {};
}

}  // namespace

std::string header_line() { return Json{{"kind", kFileKind}, {"format", kFormat}}.dump(); }

std::string to_line(const Record& record) {
  Json json = Json::object();
  Writer writer(json);
  json["kind"] = kind_name(record.content.index());
  json["digest"] = record.digest;
  Content content = record.content;
  std::visit([&](auto& one) { fields(writer, one); }, content);
  return json.dump();
}

Result<Record> record_from_line(const std::string& line) {
  const Json json = parse(line);
  if (!json.is_object()) return bad_file("the line is no JSON object");
  try {
    return read_record(json);
  } catch (const std::runtime_error& error) {
    return bad_file(fmt::format("the record cannot be read: {}", error.what()));
  }
}

Result<RecordSource> records_of(std::istream& stream, const std::string& path) {
  std::string header;
  if (!std::getline(stream, header)) return bad_file(fmt::format("{} is empty", path));
  TILE_TUNE_CHECK(check_header(header, path));
  return [&stream, path](const RecordVisitor& visitor) -> Result<void> {
    std::string line;
    for (int number = 2; std::getline(stream, line); ++number) {
      if (line.empty()) continue;
      auto record = record_from_line(line);
      if (!record) {
        const char* note = stream.eof()
                               ? "the file seems to be cut short; what was taken in before changes nothing when "
                                 "it is taken in again"
                               : "what was taken in before changes nothing when it is taken in again";
        return bad_file(fmt::format("{}:{}: {}", path, number, record.error().message), note);
      }
      record->place = fmt::format("{}:{}", path, number);
      TILE_TUNE_CHECK(visitor(*record));
    }
    if (stream.bad()) return failure("cannot-read", fmt::format("{} cannot be read to its end", path));
    return {};
  };
}

}  // namespace tile_tune::db
