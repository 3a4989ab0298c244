// WindowKey: the keys of windowed rows in a store: the start of the window in 8 bytes that are
// ordered as starts are (big-endian, the sign bit flipped), then the group's key. The first row of
// the store, under 8 bytes of 0, which no window has, says in JSON what windows these are, for
// whoever finds the rows without their aggregate. The form is told in share/doc/kstream/windows.md,
// and never changes. Tested by tests/unit/dsl/window_state_test.cc.
#ifndef KSTREAM_DSL_WINDOW_KEY_H_
#define KSTREAM_DSL_WINDOW_KEY_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kstream::dsl {

inline constexpr size_t kWindowPrefix = sizeof(int64_t);

// What the keys of a window's rows begin with.
inline std::string WindowPrefix(int64_t start) {
  const uint64_t ordered = static_cast<uint64_t>(start) ^ uint64_t { 1 } << 63;
  std::string prefix(kWindowPrefix, '\0');
  for (size_t i = 0; i < kWindowPrefix; i++) {
    prefix[i] = static_cast<char>(ordered >> (8 * (kWindowPrefix - 1 - i)));
  }
  return prefix;
}

// The key of the row that says what windows these are.
inline const std::string kWindowsKey(kWindowPrefix, '\0');

// The start of the window that a key is of; nullopt: it is no such key.
inline std::optional<int64_t> StartOfKey(std::string_view key) {
  if (key.size() < kWindowPrefix) return std::nullopt;
  uint64_t ordered = 0;
  for (const char c : key.substr(0, kWindowPrefix)) {
    ordered = ordered << 8 | static_cast<unsigned char>(c);
  }
  return static_cast<int64_t>(ordered ^ uint64_t{1} << 63);
}

}  // namespace kstream::dsl

#endif  // KSTREAM_DSL_WINDOW_KEY_H_
