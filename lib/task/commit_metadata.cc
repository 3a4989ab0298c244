#include "task/commit_metadata.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

namespace kstream::task {
namespace {

constexpr size_t kLimit = 4096;  // the broker's offset.metadata.max.bytes
constexpr std::string_view kVersion = "1";

// The letters of topics' names, and so of most clusters'.
bool IsPlain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '-';
}

void AppendName(std::string_view name, std::string* text) {
  for (const char c : name) {
    if (IsPlain(c)) {
      text->push_back(c);
    } else {
      fmt::format_to(std::back_inserter(*text), "%{:02X}", static_cast<unsigned char>(c));
    }
  }
}

// Takes what is before `end` off *text; all of it when `end` does not come.
std::string_view TakeUntil(char end, std::string_view* text) {
  const size_t at = text->find(end);
  const std::string_view taken = text->substr(0, at);
  text->remove_prefix(at == text->npos ? text->size() : at + 1);
  return taken;
}

std::optional<std::string> ParseName(std::string_view text) {
  std::string name;
  while (!text.empty()) {
    if (IsPlain(text[0])) {
      name.push_back(text[0]);
      text.remove_prefix(1);
      continue;
    }
    unsigned char byte = 0;
    if (text[0] != '%' || text.size() < 3) return std::nullopt;
    const auto [end, error] = std::from_chars(text.data() + 1, text.data() + 3, byte, 16);
    if (error != std::errc() || end != text.data() + 3) return std::nullopt;
    name.push_back(static_cast<char>(byte));
    text.remove_prefix(3);
  }
  return name;
}

template <typename Number>
std::optional<Number> ParseNumber(std::string_view text) {
  Number number;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, number);
  if (error != std::errc() || end != last) return std::nullopt;
  return number;
}

// "<cluster>/<topic>/<partition>:<offset>"; false: damaged, or there already.
bool ParsePosition(std::string_view text, std::map<InputPartition, int64_t>* positions) {
  const std::optional<std::string> cluster = ParseName(TakeUntil('/', &text));
  const std::optional<std::string> topic = ParseName(TakeUntil('/', &text));
  const std::optional<int32_t> partition = ParseNumber<int32_t>(TakeUntil(':', &text));
  const std::optional<int64_t> offset = ParseNumber<int64_t>(text);
  if (!cluster || !topic || topic->empty() || !partition || *partition < 0 || !offset) return false;
  return positions->emplace(InputPartition{*cluster, *topic, *partition}, *offset).second;
}

bool ParseFields(std::string_view text, CommitMetadata* metadata) {
  if (text.starts_with("t=")) {
    text.remove_prefix(2);
    const bool more = text.find(' ') != text.npos;
    metadata->stream_time = ParseNumber<int64_t>(TakeUntil(' ', &text));
    if (!metadata->stream_time || more != !text.empty()) return false;
    if (!more) return true;
  }
  if (!text.starts_with("p=")) return false;
  text.remove_prefix(2);
  do {
    const bool more = text.find(',') != text.npos;
    if (!ParsePosition(TakeUntil(',', &text), &metadata->positions)) return false;
    if (more && text.empty()) return false;
  } while (!text.empty());
  return true;
}

// The version in "ks<version> ", and what comes behind it; nullopt: another program's text.
std::optional<std::pair<std::string_view, std::string_view>> Split(std::string_view text) {
  if (!text.starts_with("ks")) return std::nullopt;
  const size_t space = text.find(' ');
  if (space == text.npos) return std::nullopt;
  const std::string_view version = text.substr(2, space - 2);
  if (version.empty() || version[0] == '0' ||
      version.find_first_not_of("0123456789") != version.npos) {
    return std::nullopt;
  }
  return std::pair(version, text.substr(space + 1));
}

}  // namespace

Result<std::string> CommitMetadata::Encode() const {
  std::string text;
  if (!stream_time && positions.empty()) return text;
  text = fmt::format("ks{}", kVersion);
  if (stream_time) text += fmt::format(" t={}", *stream_time);
  std::string_view before = " p=";
  size_t fit = 0;
  for (const auto& [input, offset] : positions) {
    text += std::exchange(before, ",");
    AppendName(input.cluster, &text);
    text += '/';
    AppendName(input.topic, &text);
    text += fmt::format("/{}:{}", input.partition, offset);
    if (text.size() > kLimit) {
      return Status::Usage(fmt::format(
          "a task keeps the positions of {} partitions in the {} bytes of a commit's metadata, and "
          "only {} fit: read fewer partitions of other clusters and broadcast topics in a task",
          positions.size(), kLimit, fit));
    }
    fit++;
  }
  return text;
}

Result<CommitMetadata> CommitMetadata::Decode(std::string_view text) {
  CommitMetadata metadata;
  const auto parts = Split(text);
  if (!parts) return metadata;
  const auto& [version, fields] = *parts;
  if (version != kVersion) {
    return Status(StatusCode::kState,
                  fmt::format("the committed metadata is of version {}, and this program knows "
                              "version {}: run the newer one",
                              version.substr(0, 20), kVersion));
  }
  if (!ParseFields(fields, &metadata)) {
    return Status(StatusCode::kState, fmt::format("the committed metadata is damaged: {}", text));
  }
  return metadata;
}

}  // namespace kstream::task
