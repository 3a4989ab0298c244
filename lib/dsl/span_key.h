// SpanKey: the keys in a store of what an aggregate keeps by group and span of time. Two kinds are
// told apart by their first byte:
//
//   rows    kind ++ group ++ 00 00 ++ start       the rows of a group lie together, by start
//   timers  't'  ++ end ++ start ++ group         by time, whatever the group
//
// A 00 in a group is written 00 FF, so that groups keep the order of their bytes; times are those
// of ordered_time.h. The form is told in share/doc/kstream/windows.md, and never changes. Tested by
// tests/unit/dsl/span_key_test.cc.
#ifndef KSTREAM_DSL_SPAN_KEY_H_
#define KSTREAM_DSL_SPAN_KEY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kstream::dsl {

struct SpanKey {
  // Of rows.
  enum class Kind : char { kSession = 's', kMoment = 'm' };

  std::string group = {};
  int64_t start = 0;

  // What the keys of a group's rows begin with, and the first key behind them.
  static std::string From(Kind kind, std::string_view group);
  static std::string Behind(Kind kind, std::string_view group);
  static std::string Of(Kind kind, std::string_view group, int64_t start);
  // nullopt: it is no such key.
  static std::optional<SpanKey> Parse(Kind kind, std::string_view key);
};

struct TimerKey {
  static constexpr char kKind = 't';  // behind all rows

  int64_t end = 0, start = 0;
  std::string group = {};

  static std::string Of(int64_t end, int64_t start, std::string_view group);
  static std::optional<TimerKey> Parse(std::string_view key);
};

}  // namespace kstream::dsl

#endif  // KSTREAM_DSL_SPAN_KEY_H_
