// ExpiryQueue: which rows are the next to expire, of more rows than memory holds the keys of.
//
// It knows all rows that are before its horizon, by time and key, and none of the others. When time
// comes to the horizon, whoever owns the rows walks over them once, a part at a time, and the queue
// keeps those with the smallest times, as many as it has room for; the smallest that it had no room
// for is the next horizon. Rows that all fit are known for good, and no walk follows. So a walk
// over N rows is followed by the end of as many as fit, and a store need not keep anything about
// ends: the time of a row is all there is, whatever the rule was when it was written.
//
// A row that is touched again stays where it is; it is put back by its new time when its turn
// comes. Tested by tests/unit/dsl/expiry_test.cc.
#ifndef KSTREAM_DSL_EXPIRY_QUEUE_H_
#define KSTREAM_DSL_EXPIRY_QUEUE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace kstream::dsl {

// Belongs to one task.
class ExpiryQueue {
 public:
  using Row = std::pair<int64_t, std::string>;  // time, key

  // Has room for so many bytes. `knows_all`: there are no rows yet but those that will be added.
  ExpiryQueue(size_t most_bytes, bool knows_all)
      : most_bytes_(most_bytes), horizon_(knows_all ? INT64_MAX : INT64_MIN, "") {}

  // Whether all rows of this time and before are known.
  bool Knows(int64_t time) const { return !is_walking_ && time < horizon_.first; }
  // A walk over all rows begins; each of them, and each new one meanwhile, is added.
  void BeginWalk() {
    is_walking_ = true;
    horizon_ = {INT64_MAX, ""};
  }
  void EndWalk() { is_walking_ = false; }
  bool is_walking() const { return is_walking_; }

  // A row that is there, or new. One that is too late to be known is not kept.
  void Add(std::string_view key, int64_t time) {
    if (!IsBefore(time, key, horizon_.first, horizon_.second) ||
        !IsBefore(passed_.first, passed_.second, time, key))
      return;
    if (!rows_.emplace(time, key).second) return;
    bytes_ += SizeOf(key);
    while (bytes_ > most_bytes_ && rows_.size() > 1) {
      horizon_ = std::move(rows_.extract(std::prev(rows_.end())).value());
      bytes_ -= SizeOf(horizon_.second);
    }
  }

  // Whether Pop may give a row, or rows are unknown.
  bool Has(int64_t time) const {
    return !Knows(time) || (!rows_.empty() && rows_.begin()->first <= time);
  }
  // The first row by time and key, if it is of this time or before, and no row that is not known
  // may come before it. It is not known any more.
  std::optional<Row> Pop(int64_t time) {
    if (is_walking_ || rows_.empty() || rows_.begin()->first > time) return std::nullopt;
    Row first = std::move(rows_.extract(rows_.begin()).value());
    bytes_ -= SizeOf(first.second);
    return first;
  }
  // A row that came by Pop has expired: should a walk find it still, it is not added.
  void Pass(const Row& row) { passed_ = std::max(passed_, row); }

 private:
  static constexpr size_t kNodeBytes = 96;  // what a row costs beside its key
  static size_t SizeOf(std::string_view key) { return kNodeBytes + key.size(); }
  static bool IsBefore(int64_t time, std::string_view key, int64_t than, std::string_view its_key) {
    return time < than || (time == than && key < its_key);
  }

  const size_t most_bytes_;
  Row horizon_;  // the first row that is not known
  bool is_walking_ = false;
  std::set<Row> rows_;
  size_t bytes_ = 0;
  Row passed_{INT64_MIN, ""};
};

}  // namespace kstream::dsl

#endif  // KSTREAM_DSL_EXPIRY_QUEUE_H_
