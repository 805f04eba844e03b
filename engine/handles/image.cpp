#include "engine/handles/image.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/json_text.h"

namespace tile_tune::engine {
namespace {

using nlohmann::json;

// A line of JSON, then the object.
constexpr std::string_view kMagic = "tile-tune kernel 2\n";

json to_json(const ImageArgument& argument) {
  return {{"kind", static_cast<int>(argument.kind)},
          {"name", argument.name},
          {"position", argument.position},
          {"type", dtype_name(argument.type)},
          {"shape", argument.shape},
          {"strides", argument.strides},
          {"order", argument.order},
          {"strided", argument.is_strided},
          {"free", argument.free}};
}

json to_json(const Message& message) {
  return {{"notice", message.severity == Message::Severity::Notice}, {"code", message.code}, {"text", message.text}};
}

tl::unexpected<Diagnostic> bad(const std::string& why) { return failure("bad-kernel", "a compiled kernel " + why); }

Result<ImageArgument> argument_from(const json& from, const KernelImage& image) {
  const auto type = parse_dtype(from.at("type").get<std::string>());
  if (!type) return bad("has an element type that is none");
  const int kind = from.at("kind");
  if (kind < 0 || kind > static_cast<int>(ImageArgument::Kind::Check)) return bad("has an argument of no kind");
  ImageArgument argument{static_cast<ImageArgument::Kind>(kind),
                         from.at("name"),
                         from.at("position"),
                         *type,
                         from.at("shape"),
                         from.at("strides"),
                         from.at("order"),
                         from.at("strided"),
                         from.at("free")};
  const size_t rank = argument.shape.size();
  auto sorted = argument.order;
  std::sort(sorted.begin(), sorted.end());
  std::vector<int> all(rank);
  std::iota(all.begin(), all.end(), 0);
  const auto is_dimension = [&](int d) { return d >= 0 && d < static_cast<int>(rank); };
  if (argument.strides.size() != rank || sorted != all ||
      !std::all_of(argument.free.begin(), argument.free.end(), is_dimension))
    return bad("has an argument whose dimensions do not fit");
  const auto all_of_kind = [&] {
    if (argument.kind == ImageArgument::Kind::Input) return image.inputs;
    return argument.kind == ImageArgument::Kind::Check ? image.checks : image.outputs;
  };
  if (argument.position < 0 || argument.position >= all_of_kind()) return bad("has an argument that nobody gives");
  return argument;
}

}  // namespace

std::string to_bytes(const KernelImage& image) {
  json arguments = json::array();
  for (const auto& argument : image.arguments) arguments.push_back(to_json(argument));
  json messages = json::array();
  for (const auto& message : image.messages) messages.push_back(to_json(message));
  const json header{{"messages", messages},           {"program", image.program},        {"function", image.function},
                    {"arguments", arguments},         {"inputs", image.inputs},          {"outputs", image.outputs},
                    {"checks", image.checks},         {"threads", image.threads},        {"rung", image.rung},
                    {"provenance", image.provenance}, {"many", image.is_for_many_sizes}, {"recorded", image.recorded}};
  return std::string(kMagic) + base::json_text(header) + "\n" + image.object;
}

Result<KernelImage> image_from_bytes(std::string_view bytes) {
  if (!bytes.starts_with(kMagic)) return bad("is none");
  bytes.remove_prefix(kMagic.size());
  const size_t end = bytes.find('\n');
  const json header = json::parse(bytes.substr(0, end), nullptr, false);
  if (end == bytes.npos || !header.is_object()) return bad("cannot be read");
  KernelImage image;
  try {
    image.program = header.at("program");
    image.function = header.at("function");
    image.inputs = header.at("inputs");
    image.outputs = header.at("outputs");
    image.checks = header.at("checks");
    image.threads = header.at("threads");
    image.provenance = header.at("provenance");
    image.rung = header.at("rung");
    image.is_for_many_sizes = header.at("many");
    image.recorded = header.at("recorded");
    for (const auto& one : header.at("messages"))
      image.messages.push_back({one.at("notice") ? Message::Severity::Notice : Message::Severity::Warning,
                                one.at("code"), one.at("text"), "", 0});
    for (const auto& one : header.at("arguments")) {
      TILE_TUNE_TRY(argument, argument_from(one, image));
      image.arguments.push_back(std::move(argument));
    }
  } catch (const json::exception& error) {
    return bad(fmt::format("cannot be read: {}", error.what()));
  }
  image.object = bytes.substr(end + 1);
  return image;
}

}  // namespace tile_tune::engine
