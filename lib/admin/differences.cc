#include "admin/differences.h"

#include <algorithm>
#include <optional>

#include "admin/row_keys.h"

namespace kstream::admin {
namespace {

// One side, and whether it stands on a row.
struct Walker {
  StoreView::Cursor rows;
  bool there = false;

  void Next() { there = rows.Next(); }
  RowDifference::Side side() const { return {rows.value(), rows.timestamp()}; }
};

}  // namespace

Result<uint64_t> Compare(const Instance& instance, StoreView* left, StoreView* right,
                         const StoredDifferenceVisitor& visit) {
  KSTREAM_ASSIGN_OR_RETURN(RowKeys keys, RowKeys::Of(left));
  if (!keys.windowed()) {
    KSTREAM_ASSIGN_OR_RETURN(keys, RowKeys::Of(right));
  }
  KSTREAM_ASSIGN_OR_RETURN(StoreView::Cursor left_rows, left->Walk());
  KSTREAM_ASSIGN_OR_RETURN(StoreView::Cursor right_rows, right->Walk());
  Walker a{std::move(left_rows)}, b{std::move(right_rows)};
  a.Next();
  b.Next();
  uint64_t compared = 0;
  for (; a.there || b.there; compared++) {
    const int order = !b.there ? -1 : !a.there ? 1 : a.rows.key().compare(b.rows.key());
    RowDifference difference{.row = {.store = instance.store, .task = instance.task}};
    if (order <= 0) difference.left = a.side();
    if (order >= 0) difference.right = b.side();
    const bool alike = order == 0 && difference.left->value == difference.right->value &&
                       difference.left->timestamp == difference.right->timestamp;
    if (!alike) {
      const std::string_view key = order <= 0 ? a.rows.key() : b.rows.key();
      InspectedRow& row = difference.row;
      row.timestamp = (order <= 0 ? difference.left : difference.right)->timestamp;
      if (!keys.Read(key, {}, &row)) row.key = key;
      KSTREAM_RETURN_IF_ERROR(visit(key, difference));
    }
    if (order <= 0) a.Next();
    if (order >= 0) b.Next();
  }
  KSTREAM_RETURN_IF_ERROR(a.rows.status());
  KSTREAM_RETURN_IF_ERROR(b.rows.status());
  return compared;
}

}  // namespace kstream::admin
