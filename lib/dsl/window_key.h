// WindowKey: the keys of windowed rows in a store: the start of the window (ordered_time.h), then
// the group's key. The first row of the store, under 8 bytes of 0, which no window has, says in
// JSON what windows these are, for whoever finds the rows without their aggregate. The form is told
// in share/doc/kstream/windows.md, and never changes. Tested by
// tests/unit/dsl/window_state_test.cc.
#ifndef KSTREAM_DSL_WINDOW_KEY_H_
#define KSTREAM_DSL_WINDOW_KEY_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "dsl/ordered_time.h"

namespace kstream::dsl {

inline constexpr size_t kWindowPrefix = kOrderedTime;

// What the keys of a window's rows begin with.
inline std::string WindowPrefix(int64_t start) {
  std::string prefix;
  AppendOrderedTime(start, &prefix);
  return prefix;
}

// The key of the row that says what windows these are.
inline const std::string kWindowsKey(kWindowPrefix, '\0');

// The start of the window that a key is of; nullopt: it is no such key.
inline std::optional<int64_t> StartOfKey(std::string_view key) {
  if (key.size() < kWindowPrefix) return std::nullopt;
  return OrderedTimeOf(key);
}

}  // namespace kstream::dsl

#endif  // KSTREAM_DSL_WINDOW_KEY_H_
