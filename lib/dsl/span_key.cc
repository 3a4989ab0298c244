#include "dsl/span_key.h"

#include <cstddef>
#include <utility>

namespace kstream::dsl {
namespace {

constexpr size_t kTime = sizeof(int64_t);
constexpr uint64_t kSign = uint64_t{1} << 63;

void AppendTime(int64_t time, std::string* key) {
  const uint64_t ordered = static_cast<uint64_t>(time) ^ kSign;
  for (size_t shift = 8 * kTime; shift > 0;)
    key->push_back(static_cast<char>(ordered >> (shift -= 8)));
}

int64_t TimeAt(std::string_view key, size_t at) {
  uint64_t ordered = 0;
  for (const char c : key.substr(at, kTime)) ordered = ordered << 8 | static_cast<unsigned char>(c);
  return static_cast<int64_t>(ordered ^ kSign);
}

std::string Escaped(SpanKey::Kind kind, std::string_view group) {
  std::string key(1, static_cast<char>(kind));
  for (const char c : group) {
    key.push_back(c);
    if (c == '\0') key.push_back('\xff');
  }
  return key;
}

}  // namespace

std::string SpanKey::From(Kind kind, std::string_view group) {
  return Escaped(kind, group).append(2, '\0');
}

std::string SpanKey::Behind(Kind kind, std::string_view group) {
  return Escaped(kind, group).append({'\0', '\1'});
}

std::string SpanKey::Of(Kind kind, std::string_view group, int64_t start) {
  std::string key = From(kind, group);
  AppendTime(start, &key);
  return key;
}

std::optional<SpanKey> SpanKey::Parse(Kind kind, std::string_view key) {
  if (key.empty() || key[0] != static_cast<char>(kind)) return std::nullopt;
  SpanKey parsed;
  size_t at = 1;
  for (; at < key.size(); at++) {
    if (key[at] == '\0') {
      if (++at == key.size()) return std::nullopt;
      if (key[at] == '\0') break;
      if (key[at] != '\xff') return std::nullopt;
      parsed.group.push_back('\0');
    } else {
      parsed.group.push_back(key[at]);
    }
  }
  if (key.size() != at + 1 + kTime) return std::nullopt;
  parsed.start = TimeAt(key, at + 1);
  return parsed;
}

std::string TimerKey::Of(int64_t end, int64_t start, std::string_view group) {
  std::string key(1, kKind);
  AppendTime(end, &key);
  AppendTime(start, &key);
  return key.append(group);
}

std::optional<TimerKey> TimerKey::Parse(std::string_view key) {
  if (key.size() < 1 + 2 * kTime || key[0] != kKind) return std::nullopt;
  return TimerKey{TimeAt(key, 1), TimeAt(key, 1 + kTime), std::string(key.substr(1 + 2 * kTime))};
}

}  // namespace kstream::dsl
