#include "dsl/span_key.h"

#include <cstddef>
#include <utility>

#include "dsl/ordered_time.h"

namespace kstream::dsl {
namespace {

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
  AppendOrderedTime(start, &key);
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
  if (key.size() != at + 1 + kOrderedTime) return std::nullopt;
  parsed.start = OrderedTimeOf(key.substr(at + 1));
  return parsed;
}

std::string TimerKey::Of(int64_t end, int64_t start, std::string_view group) {
  std::string key(1, kKind);
  AppendOrderedTime(end, &key);
  AppendOrderedTime(start, &key);
  return key.append(group);
}

std::optional<TimerKey> TimerKey::Parse(std::string_view key) {
  if (key.size() < 1 + 2 * kOrderedTime || key[0] != kKind) return std::nullopt;
  return TimerKey{OrderedTimeOf(key.substr(1)), OrderedTimeOf(key.substr(1 + kOrderedTime)),
                  std::string(key.substr(1 + 2 * kOrderedTime))};
}

}  // namespace kstream::dsl
