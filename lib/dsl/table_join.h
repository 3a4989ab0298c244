// Joins with tables. A record of a stream meets the row of its key as it is when the record's turn
// comes, in task time; a change of the row makes no result. Two tables make a third: whenever a row
// of one changes, the row of its key in the result does, and ceases when it has nothing to be made
// of. Rows are kept in stores (row_store.h).
//
// Of two tables a row of the result is not kept: whether it was there before follows from the rows
// that were. One whose value expression gives nothing, or fails, counts as not there, so the
// tombstone for a row that ceases may be one for a row that never was.
//
// Tested by tests/unit/testdriver/table_join_test.cc and, row by row, by
// share/doc/kstream/joins.md.
#ifndef KSTREAM_DSL_TABLE_JOIN_H_
#define KSTREAM_DSL_TABLE_JOIN_H_

#include <array>
#include <memory>
#include <optional>
#include <string>

#include "dsl/join_report.h"
#include "dsl/join_turn.h"
#include "dsl/join_value.h"
#include "dsl/operator.h"
#include "dsl/route.h"
#include "dsl/row_store.h"
#include "kstream/joins.h"

namespace kstream::dsl {

// What the processors of all tasks have in common.
struct TableJoinPlan {
  TableJoinSpec spec;
  std::string turn;  // of two tables
  Serdes left, right;
  std::shared_ptr<JoinTotals> totals;
};

// What both have: values of each side, and the way to a result.
class TableJoin : public Processor {
 protected:
  explicit TableJoin(const TableJoinPlan& plan);

  Status Init(ProcessorContext& context) override {
    context_ = &context;
    return Status::Ok();
  }
  void Close() override { report_.Tell(context_ ? context_->node() : "join"); }

  JoinReport& report() { return report_; }
  // As JoinValue::Read; each side has memory of its own.
  Status Read(JoinSide side, const Record& record, KeptRecord* kept);
  // Sets the value of `result`. *made false: there is none.
  Status Make(const KeptRecord* left, const KeptRecord* right, Record* result, bool* made);
  Status Forward(Record* result);

 private:
  std::array<JoinValue, kJoinSides> values_;
  Route route_;
  JoinReport report_;
  ProcessorContext* context_ = nullptr;
  std::optional<std::string> text_;
  FreshCache cache_;
};

// The table's side of a join with a stream: keeps the rows, unless the table does, and says nothing
// of their changes.
class JoinedTable final : public Processor {
 public:
  explicit JoinedTable(const TableJoinPlan& plan);
  Status Init(ProcessorContext& context) override;
  Status Process(const Record& record) override;
  void Close() override { report_.Tell(name_); }

 private:
  const std::string name_;  // of the join
  const bool keeps_;
  RowStore rows_;
  JoinValue value_;
  JoinReport report_;
};

// The stream's side of a join with a table, whose store is the specification's.
class StreamTableJoin final : public TableJoin {
 public:
  explicit StreamTableJoin(const TableJoinPlan& plan);
  Status Init(ProcessorContext& context) override;
  Status Process(const Record& record) override;

 private:
  const bool alone_;
  RowStore rows_;
  StoredRow row_;
};

// Both sides of a join of tables, whose rows are in "<store>-left" and "<store>-right".
class TablesJoin final : public TableJoin {
 public:
  explicit TablesJoin(const TableJoinPlan& plan);
  Status Init(ProcessorContext& context) override;
  Status Process(const Record& record) override;

 private:
  // Whether there is a result of these.
  bool Exists(bool left, bool right) const;

  const std::string turn_name_;
  const JoinType type_;
  JoinTurn* turn_ = nullptr;
  std::array<RowStore, kJoinSides> rows_;
  StoredRow old_, other_;
};

}  // namespace kstream::dsl

#endif  // KSTREAM_DSL_TABLE_JOIN_H_
