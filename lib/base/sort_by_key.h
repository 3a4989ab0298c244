// SortByKey: puts items in the order of the bytes of their keys, those of one key in the order they
// had. Keys lie scattered over memory, so what a comparison costs is the way to them: the first
// eight bytes of each are taken along, and most comparisons look no further. Tested by
// tests/unit/base/sort_by_key_test.cc.
#ifndef KSTREAM_BASE_SORT_BY_KEY_H_
#define KSTREAM_BASE_SORT_BY_KEY_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace kstream {

// The first bytes of a key as a number that compares as they do; what is missing is 0.
inline uint64_t HeadOf(std::string_view key) {
  uint64_t head = 0;
  const size_t size = std::min(key.size(), sizeof(head));
  for (size_t i = 0; i < size; i++) {
    head |= uint64_t{static_cast<unsigned char>(key[i])} << (56 - 8 * i);
  }
  return head;
}

// `key_of(item)` is a std::string_view that stays valid while items move.
template <typename T, typename KeyOf>
void SortByKey(std::vector<T>* items, KeyOf key_of) {
  struct Ranked {
    uint64_t head;
    size_t at;
  };
  std::vector<Ranked> ranks;
  ranks.reserve(items->size());
  for (const T& item : *items) ranks.push_back({HeadOf(key_of(item)), ranks.size()});
  std::sort(ranks.begin(), ranks.end(), [&](const Ranked& a, const Ranked& b) {
    if (a.head != b.head) return a.head < b.head;
    const int order = key_of((*items)[a.at]).compare(key_of((*items)[b.at]));
    return order != 0 ? order < 0 : a.at < b.at;
  });
  std::vector<T> sorted;
  sorted.reserve(items->size());
  for (const Ranked& rank : ranks) sorted.push_back(std::move((*items)[rank.at]));
  *items = std::move(sorted);
}

}  // namespace kstream

#endif  // KSTREAM_BASE_SORT_BY_KEY_H_
