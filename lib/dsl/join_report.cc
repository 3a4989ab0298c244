#include "dsl/join_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/printable.h"
#include "kstream/log.h"

namespace kstream::dsl {

JoinReport::JoinReport(std::shared_ptr<JoinTotals> totals)
    : totals_(std::move(totals)), skips_(totals_->skips) {
  totals_->tasks++;
}

// The smallest key, so that it does not depend on which task came first.
void JoinReport::Example(JoinSide side, std::string_view key) {
  const std::lock_guard lock(totals_->mutex);
  auto& example = totals_->keys[static_cast<size_t>(side)];
  if (!example || key < *example) example = key;
}

void JoinReport::Tell(std::string_view node) {
  skips_.Tell(node);
  if (!totals_) return;
  const std::shared_ptr<JoinTotals> totals = std::exchange(totals_, nullptr);
  totals->pairs += pairs_;
  for (size_t i = 0; i < kJoinSides; i++) {
    totals->records[i] += records_[i];
    totals->keyless[i] += keyless_[i];
  }
  if (--totals->tasks > 0) return;
  const int64_t pairs = totals->pairs.exchange(0);
  const int64_t left = totals->records[0].exchange(0), right = totals->records[1].exchange(0);
  for (size_t i = 0; i < kJoinSides; i++) {
    const int64_t keyless = totals->keyless[i].exchange(0);
    if (keyless == 0 || (i == 0 ? left : right) > 0) continue;
    Log(LogLevel::kWarning, fmt::format("{}: none of {} {} records has a key to be joined by", node,
                                        keyless, i == 0 ? "left" : "right"));
  }
  const std::lock_guard lock(totals->mutex);
  const auto keys = std::exchange(totals->keys, {});
  if (pairs > 0 || left == 0 || right == 0) return;
  Log(LogLevel::kWarning,
      fmt::format("{}: nothing matched: none of {} left and {} right records had equal keys {}; "
                  "keys are bytes: a left one is {}, a right one {}",
                  node, left, right, totals->when_they_meet, Printable(*keys[0]),
                  Printable(*keys[1])));
}

}  // namespace kstream::dsl
