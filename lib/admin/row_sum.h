// RowSum: what walking over the rows of an instance tells. Tested by
// tests/unit/admin/app_inspector_test.cc.
#ifndef KSTREAM_ADMIN_ROW_SUM_H_
#define KSTREAM_ADMIN_ROW_SUM_H_

#include <cstdint>
#include <optional>
#include <string>

#include "admin/row_keys.h"
#include "kstream/inspect.h"

namespace kstream::admin {

class RowSum {
 public:
  RowSum(const std::string& store, int32_t task, const RowKeys& keys);

  // In the order of the store, by which rows of windows come by window.
  void Add(const InspectedRow& row);
  const StoreTotals& totals() const { return totals_; }

 private:
  const bool sessions_;
  StoreTotals totals_;
  std::optional<int64_t> window_;
};

}  // namespace kstream::admin

#endif  // KSTREAM_ADMIN_ROW_SUM_H_
