// Skips: records that are of no group, or late, counted over all tasks of an operator and told
// once, by the last of them that closes.
#ifndef KSTREAM_DSL_SKIPS_H_
#define KSTREAM_DSL_SKIPS_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "kstream/record.h"

namespace kstream::dsl {

// Shared by the tasks of an operator.
struct SkipTotals {
  std::atomic<int> tasks{0};
  std::atomic<int64_t> no_key{0}, no_value{0}, late{0}, expired{0}, open{0};
  std::atomic<int64_t> repeats{0}, keyless{0}, unsure{0};  // of Distinct
};

// Of one task.
class Skips {
 public:
  explicit Skips(std::shared_ptr<SkipTotals> totals) : totals_(std::move(totals)) {
    totals_->tasks++;
  }
  ~Skips() { Tell("aggregate"); }
  Skips(const Skips&) = delete;
  Skips& operator=(const Skips&) = delete;

  void NoKey() { no_key_++; }
  void NoValue() { no_value_++; }
  // It came when its windows had closed.
  void Late() { late_++; }
  // Its time was so long ago that its row would have expired.
  void Expired() { expired_++; }
  // It repeats another one; it has no key to be unique by; or it came so late that what it may
  // repeat may have been forgotten.
  void Repeat() { repeats_++; }
  void Keyless() { keyless_++; }
  void Unsure() { unsure_++; }
  // So many windows stay open where the run ends.
  void Open(size_t windows) { open_ += static_cast<int64_t>(windows); }
  // The task closes: `node` is the operator's.
  void Tell(std::string_view node);

 private:
  std::shared_ptr<SkipTotals> totals_;  // null once told
  int64_t no_key_ = 0, no_value_ = 0, late_ = 0, expired_ = 0, open_ = 0;
  int64_t repeats_ = 0, keyless_ = 0, unsure_ = 0;
};

}  // namespace kstream::dsl

#endif  // KSTREAM_DSL_SKIPS_H_
