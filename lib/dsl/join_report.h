// JoinReport: what a join has to say when it closes: what it left out, what came late, and, where
// nothing met, what the keys of both sides look like. Counted over all tasks, told once.
#ifndef KSTREAM_DSL_JOIN_REPORT_H_
#define KSTREAM_DSL_JOIN_REPORT_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "dsl/join_rows.h"
#include "dsl/skips.h"
#include "kstream/record.h"

namespace kstream::dsl {

// Shared by the tasks of a join.
struct JoinTotals {
  explicit JoinTotals(std::string_view when) : when_they_meet(when) {}
  const std::string when_they_meet;  // as the report says it: "within the window"
  std::atomic<int> tasks{0};
  std::atomic<int64_t> pairs{0};
  std::array<std::atomic<int64_t>, kJoinSides> records{}, keyless{};
  std::mutex mutex;                                           // guards keys
  std::array<std::optional<std::string>, kJoinSides> keys{};  // an example of each side
  std::shared_ptr<SkipTotals> skips = std::make_shared<SkipTotals>();
};

// Of one task.
class JoinReport {
 public:
  explicit JoinReport(std::shared_ptr<JoinTotals> totals);
  ~JoinReport() { Tell("join"); }
  JoinReport(const JoinReport&) = delete;
  JoinReport& operator=(const JoinReport&) = delete;

  Skips& skips() { return skips_; }
  // A record with a key and a value has come.
  void Record(JoinSide side, std::string_view key) {
    if (records_[static_cast<size_t>(side)]++ == 0) Example(side, key);
  }
  // One without a key, which is left out.
  void NoKey(JoinSide side) {
    skips_.NoKey();
    keyless_[static_cast<size_t>(side)]++;
  }
  void Pairs(size_t count) { pairs_ += static_cast<int64_t>(count); }
  // The task closes: `node` is the join's.
  void Tell(std::string_view node);

 private:
  void Example(JoinSide side, std::string_view key);

  std::shared_ptr<JoinTotals> totals_;  // null once told
  Skips skips_;
  int64_t pairs_ = 0;
  std::array<int64_t, kJoinSides> records_{}, keyless_{};
};

}  // namespace kstream::dsl

#endif  // KSTREAM_DSL_JOIN_REPORT_H_
