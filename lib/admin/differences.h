// Differences: two views of one instance, walked side by side. Event times count as values do.
// Tested by tests/unit/admin/compare_test.cc.
#ifndef KSTREAM_ADMIN_DIFFERENCES_H_
#define KSTREAM_ADMIN_DIFFERENCES_H_

#include <cstdint>
#include <functional>
#include <string_view>

#include "admin/instances.h"
#include "admin/store_view.h"
#include "kstream/inspect.h"

namespace kstream::admin {

// Calls `visit` with the stored key of each row that differs, and with the difference, which has
// key and window as people know them. Gives how many keys were compared. kState.
using StoredDifferenceVisitor =
    std::function<Status(std::string_view stored_key, const RowDifference& difference)>;
Result<uint64_t> Compare(const Instance& instance, StoreView* left, StoreView* right,
                         const StoredDifferenceVisitor& visit);

}  // namespace kstream::admin

#endif  // KSTREAM_ADMIN_DIFFERENCES_H_
