#include "admin/row_sum.h"

#include <algorithm>

namespace kstream::admin {

RowSum::RowSum(const std::string& store, int32_t task, const RowKeys& keys)
    : sessions_(keys.has_sessions()), totals_{.store = store, .task = task} {
  if (keys.windowed() && !keys.has_moments()) totals_.windows = 0;
}

void RowSum::Add(const InspectedRow& row) {
  totals_.rows++;
  totals_.key_bytes += row.key.size();
  totals_.value_bytes += row.value.size();
  totals_.largest_value = std::max<uint64_t>(totals_.largest_value, row.value.size());
  totals_.oldest = std::min(totals_.oldest.value_or(row.timestamp), row.timestamp);
  totals_.newest = std::max(totals_.newest.value_or(row.timestamp), row.timestamp);
  if (totals_.windows && (sessions_ || window_ != row.window_start)) ++*totals_.windows;
  window_ = row.window_start;
}

}  // namespace kstream::admin
