#include "dsl/table_join.h"

#include <algorithm>
#include <utility>

namespace kstream::dsl {
namespace {

constexpr size_t At(JoinSide side) { return static_cast<size_t>(side); }

JoinValue ValueOf(const TableJoinPlan& plan) {
  return {plan.spec.value, plan.spec.joiner, plan.left, plan.right};
}

}  // namespace

TableJoin::TableJoin(const TableJoinPlan& plan)
    : values_{ValueOf(plan), ValueOf(plan)},
      route_(plan.spec.route, plan.left),
      report_(plan.totals) {}

Status TableJoin::Read(JoinSide side, const Record& record, KeptRecord* kept) {
  kept->time = record.timestamp;
  kept->headers = record.headers;
  kept->side = side;
  return values_[At(side)].Read(side, record, &kept->value);
}

Status TableJoin::Make(const KeptRecord* left, const KeptRecord* right, Record* result,
                       bool* made) {
  KSTREAM_RETURN_IF_ERROR(values_[0].Make(*result, left, right, &text_, made));
  if (!*made) return Status::Ok();
  result->value = text_ ? Bytes(*text_) : std::nullopt;
  result->cache = cache_.Next(values_[0].is_json());
  return Status::Ok();
}

Status TableJoin::Forward(Record* result) {
  const Record unrouted = *result;
  KSTREAM_RETURN_IF_ERROR(route_.Apply(InputOf(unrouted), result));
  return context_->Forward(*result);
}

JoinedTable::JoinedTable(const TableJoinPlan& plan)
    : name_(plan.spec.name),
      keeps_(plan.spec.keeps_rows),
      rows_(plan.spec.store, plan.right),
      value_(ValueOf(plan)),
      report_(plan.totals) {}

Status JoinedTable::Init(ProcessorContext& context) {
  return keeps_ ? rows_.Init(context) : Status::Ok();
}

Status JoinedTable::Process(const Record& record) {
  if (!record.key) {
    report_.NoKey(JoinSide::kRight);
    return Status::Ok();
  }
  if (keeps_) {
    std::string_view good;
    if (record.value) KSTREAM_RETURN_IF_ERROR(value_.Read(JoinSide::kRight, record, &good));
    KSTREAM_RETURN_IF_ERROR(rows_.Take(record));
  }
  if (record.value) report_.Record(JoinSide::kRight, *record.key);
  return Status::Ok();
}

StreamTableJoin::StreamTableJoin(const TableJoinPlan& plan)
    : TableJoin(plan),
      alone_(plan.spec.type != JoinType::kInner),
      rows_(plan.spec.store, plan.right) {}

Status StreamTableJoin::Init(ProcessorContext& context) {
  KSTREAM_RETURN_IF_ERROR(TableJoin::Init(context));
  return rows_.Init(context);
}

Status StreamTableJoin::Process(const Record& record) {
  if (!record.value) {
    report().skips().NoValue();
    return Status::Ok();
  }
  KeptRecord left, right;
  KSTREAM_RETURN_IF_ERROR(Read(JoinSide::kLeft, record, &left));
  bool met = false;
  if (record.key) {
    KSTREAM_ASSIGN_OR_RETURN(met, rows_.Find(*record.key, &row_));
    report().Record(JoinSide::kLeft, *record.key);
  } else {
    report().NoKey(JoinSide::kLeft);
  }
  if (!met && !alone_) return Status::Ok();
  if (met) {
    const Record row = RowOf(record.key, row_.value, row_.timestamp);
    KSTREAM_RETURN_IF_ERROR(Read(JoinSide::kRight, row, &right));
    report().Pairs(1);
  }
  Record result = record;
  bool made = false;
  KSTREAM_RETURN_IF_ERROR(Make(&left, met ? &right : nullptr, &result, &made));
  return made ? Forward(&result) : Status::Ok();
}

TablesJoin::TablesJoin(const TableJoinPlan& plan)
    : TableJoin(plan),
      turn_name_(plan.turn),
      type_(plan.spec.type),
      rows_{RowStore(plan.spec.store + "-left", plan.left),
            RowStore(plan.spec.store + "-right", plan.right)} {}

Status TablesJoin::Init(ProcessorContext& context) {
  KSTREAM_RETURN_IF_ERROR(TableJoin::Init(context));
  KSTREAM_ASSIGN_OR_RETURN(turn_, JoinTurn::Of(context, turn_name_));
  for (RowStore& rows : rows_) KSTREAM_RETURN_IF_ERROR(rows.Init(context));
  return Status::Ok();
}

bool TablesJoin::Exists(bool left, bool right) const {
  switch (type_) {
    case JoinType::kInner:
      return left && right;
    case JoinType::kLeft:
      return left;
    case JoinType::kOuter:
      return left || right;
  }
  return false;
}

Status TablesJoin::Process(const Record& record) {
  if (!record.key) {
    report().NoKey(turn_->side);
    return Status::Ok();
  }
  const JoinSide side = turn_->side;
  RowStore& mine = rows_[At(side)];
  KSTREAM_ASSIGN_OR_RETURN(const bool was, mine.Find(*record.key, &old_));
  KSTREAM_ASSIGN_OR_RETURN(const bool met, rows_[At(Other(side))].Find(*record.key, &other_));
  const bool is = record.value.has_value();
  const auto exists = [&](bool here) {
    return side == JoinSide::kLeft ? Exists(here, met) : Exists(met, here);
  };
  KeptRecord kept, partner;
  Record result = RowOf(record.key, std::nullopt, RowTime(record));
  result.partition_key = record.partition_key;
  bool made = false;
  if (met) {
    result = RowOf(record.key, std::nullopt, std::max(RowTime(record), other_.timestamp));
    const Record row = RowOf(record.key, other_.value, other_.timestamp);
    if (is || exists(false)) KSTREAM_RETURN_IF_ERROR(Read(Other(side), row, &partner));
  }
  if (is) KSTREAM_RETURN_IF_ERROR(Read(side, record, &kept));
  if (exists(is)) {
    const KeptRecord* const here = is ? &kept : nullptr;
    const KeptRecord* const there = met ? &partner : nullptr;
    KSTREAM_RETURN_IF_ERROR(side == JoinSide::kLeft ? Make(here, there, &result, &made)
                                                    : Make(there, here, &result, &made));
  }
  KSTREAM_RETURN_IF_ERROR(mine.Take(record));
  if (is) report().Record(side, *record.key);
  if (is && met) report().Pairs(1);
  return made || exists(was) ? Forward(&result) : Status::Ok();
}

}  // namespace kstream::dsl
