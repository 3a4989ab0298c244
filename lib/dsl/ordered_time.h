// OrderedTime: a time in the keys of a store, in 8 bytes that are ordered as times are: big-endian,
// the sign bit flipped. The form never changes. Tested by tests/unit/dsl/span_key_test.cc and
// window_state_test.cc.
#ifndef KSTREAM_DSL_ORDERED_TIME_H_
#define KSTREAM_DSL_ORDERED_TIME_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace kstream::dsl {

inline constexpr size_t kOrderedTime = sizeof(int64_t);

inline void AppendOrderedTime(int64_t time, std::string* key) {
  const uint64_t ordered = static_cast<uint64_t>(time) ^ uint64_t { 1 } << 63;
  for (size_t shift = 8 * kOrderedTime; shift > 0;) {
    key->push_back(static_cast<char>(ordered >> (shift -= 8)));
  }
}

// `bytes` has kOrderedTime bytes at least.
inline int64_t OrderedTimeOf(std::string_view bytes) {
  uint64_t ordered = 0;
  for (const char c : bytes.substr(0, kOrderedTime)) {
    ordered = ordered << 8 | static_cast<unsigned char>(c);
  }
  return static_cast<int64_t>(ordered ^ uint64_t{1} << 63);
}

}  // namespace kstream::dsl

#endif  // KSTREAM_DSL_ORDERED_TIME_H_
