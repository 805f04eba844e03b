#include "db/identity.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "base/sha256.h"
#include "db/former_target.h"

namespace tile_tune::db {
namespace {

/// The fields of a row, each with its length in front, so that no two lists of fields have the same bytes.
class Fields {
 public:
  explicit Fields(const std::string& kind) { *this << kind; }
  Fields& operator<<(const std::string& text) {
    *this << static_cast<int64_t>(text.size());
    bytes_ += text;
    return *this;
  }
  Fields& operator<<(int64_t value) {
    for (int shift = 0; shift < 64; shift += 8) bytes_ += static_cast<char>(static_cast<uint64_t>(value) >> shift);
    return *this;
  }
  Fields& operator<<(int value) { return *this << static_cast<int64_t>(value); }
  Fields& operator<<(double value) {
    // SQLite keeps neither the sign of zero nor the bits of a NaN.
    if (value == 0) value = 0;
    if (std::isnan(value)) value = std::numeric_limits<double>::quiet_NaN();
    int64_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    return *this << bits;
  }
  template <typename T>
  Fields& operator<<(const std::vector<T>& values) {
    *this << static_cast<int64_t>(values.size());
    for (const T& value : values) *this << value;
    return *this;
  }
  std::string sha256() const { return base::sha256_hex(bytes_); }

 private:
  std::string bytes_;
};

}  // namespace

std::string workload_id(const ProgramRow& program) {
  return (Fields("workload") << program.content_hash << program.layout).sha256();
}

std::string program_id(const ProgramRow& program) {
  return (Fields("program") << program.content_hash << program.family_hash << program.name << program.frontend
                            << program.source << program.canonical_json << program.sizes_json << program.dtypes
                            << program.layout << program.flops << program.bytes)
      .sha256();
}

std::string target_id(const TargetRow& target) {
  const TargetWords words = words_of(target);
  return (Fields("target") << words.text << words.cpu_model << words.facts << words.threads).sha256();
}

std::string tool_id(const ToolRow& tool) {
  return (Fields("tool") << tool.tile_tune << tool.halide << tool.llvm << tool.schedule_version
                         << tool.protocol_version)
      .sha256();
}

std::string session_digest(const SessionKey& key, const SessionRow& session) {
  return (Fields("session") << session.id << key.program << key.target << key.tool << static_cast<int64_t>(session.seed)
                            << session.strategy << session.options_json << session.budget_json << session.created_ms)
      .sha256();
}

std::string trial_id(const SessionKey& key, const std::string& session, const TrialRow& trial) {
  // Of schema version 1, where it was the trial's name; its files go on being read.
  const std::string place =
      (Fields("trial") << key.program << key.target << key.tool << trial.schedule_id << session << trial.sequence)
          .sha256();
  return (Fields("trial content") << place << session << trial.sequence << trial.generation << trial.origin
                                  << trial.parents << trial.schedule_id << trial.outcome << trial.reason
                                  << trial.code_hash << trial.compile_ms << trial.verify_error << trial.samples_ns
                                  << trial.median_ns << trial.ratio << trial.ratio_lo << trial.ratio_hi
                                  << trial.peak_fraction << trial.peak_fraction_lo << trial.peak_fraction_hi
                                  << static_cast<int>(trial.disturbed) << trial.elapsed_s << trial.created_ms)
      .sha256();
}

std::string winner_digest(const std::string& trial_id, const std::string& workload, int64_t accepted_ms) {
  return (Fields("winner") << trial_id << workload << accepted_ms).sha256();
}

namespace {
bool is_hex(const std::string& text, size_t digits) {
  return text.size() == digits && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}
}  // namespace

bool is_hash(const std::string& text) { return is_hex(text, 64); }
bool is_session_id(const std::string& text) { return is_hex(text, 32); }

}  // namespace tile_tune::db
