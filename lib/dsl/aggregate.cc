// Aggregate and GroupBy, as the public face has them: specifications are checked and described
// here; what runs is aggregation.h. Tested by tests/unit/dsl/aggregate_test.cc.
#include <fmt/format.h>

#include <memory>
#include <set>
#include <utility>

#include "dsl/aggregation.h"
#include "dsl/describe.h"
#include "dsl/group_table.h"
#include "dsl/operator.h"
#include "dsl/skips.h"
#include "expr/single_value.h"
#include "kstream/operators.h"

namespace kstream {
namespace {

class GroupByProcessor final : public Processor {
 public:
  GroupByProcessor(const GroupBySpec& spec, const Serdes& serdes,
                   std::shared_ptr<dsl::SkipTotals> skips)
      : by_("--by", spec.by, serdes), skips_(std::move(skips)) {}

  Status Init(ProcessorContext& context) override {
    context_ = &context;
    return Status::Ok();
  }

  Status Process(const Record& record) override {
    if (!record.value) {
      skips_.NoValue();
      return Status::Ok();
    }
    Record grouped = record;
    grouped.partition_key.reset();
    KSTREAM_RETURN_IF_ERROR(by_.Key(dsl::InputOf(record), &grouped.key));
    if (!grouped.key) {
      skips_.NoKey();
      return Status::Ok();
    }
    return context_->Forward(grouped);
  }

  void Close() override { skips_.Tell(context_ ? context_->node() : "group-by"); }

 private:
  ProcessorContext* context_ = nullptr;
  expr::SingleValue by_;
  dsl::Skips skips_;
};

ProcessorSupplier GroupRowsBy(const GroupBySpec& spec, const Serdes& serdes) {
  const auto group_of = [by = spec.by, serdes]() -> dsl::GroupOfRow {
    const auto group = std::make_shared<expr::SingleValue>("--by", by, serdes);
    return [group](const Record& row, Bytes* key) { return group->Key(dsl::InputOf(row), key); };
  };
  auto skips = std::make_shared<dsl::SkipTotals>();
  return ProcessorSupplier([table = spec.table, serdes, group_of,
                            skips] { return dsl::NewGroupTable(table, serdes, group_of, skips); },
                           dsl::Describe(spec));
}

Status CheckTable(const AggregateSpec& spec) {
  const bool undone = spec.fold && spec.fold->sub;
  if (!spec.table) {
    return undone ? Status::Usage("--sub undoes rows of a table: of a stream nothing is undone")
                  : Status::Ok();
  }
  if (spec.window) return Status::Usage("a table has no windows: its rows are what is now");
  if (spec.by) return Status::Usage("a table is grouped before it is aggregated");
  if (spec.fold && !undone) {
    return Status::Usage(
        "a fold of a table needs --sub, which undoes --add for a row that changes");
  }
  for (const AggregateFunction& function : spec.functions) {
    using Kind = AggregateFunction::Kind;
    if (function.kind != Kind::kFirst && function.kind != Kind::kLast) continue;
    return Status::Usage(fmt::format(
        "--{} goes by arrival, which cannot be undone for rows of a table: use --min, --max or "
        "--collect",
        ToString(function.kind)));
  }
  return Status::Ok();
}

Status CheckName(const std::string& name, std::set<std::string>* names) {
  static const std::set<std::string> kTaken = {"key", "window_start", "window_end"};
  if (kTaken.contains(name) || name[0] == '$') {
    return Status::Usage(
        fmt::format("no aggregate can be called '{}': a row has it already", name));
  }
  if (!names->insert(name).second) {
    return Status::Usage(
        fmt::format("two aggregates are called '{}': give one another name", name));
  }
  return Status::Ok();
}

Status CheckFunctions(const AggregateSpec& spec) {
  std::set<std::string> names;
  for (const AggregateFunction& function : spec.functions) {
    if (!function.argument && function.kind != AggregateFunction::Kind::kCount) {
      return Status::Usage(fmt::format("{} needs an expression", ToString(function.kind)));
    }
    KSTREAM_RETURN_IF_ERROR(CheckName(std::string(NameOf(function)), &names));
  }
  if (spec.fold) {
    if (spec.fold->name.empty()) return Status::Usage("a fold needs a name");
    KSTREAM_RETURN_IF_ERROR(CheckName(spec.fold->name, &names));
  }
  if (names.empty()) return Status::Usage("there is no aggregate: --count is the simplest");
  return Status::Ok();
}

std::vector<std::unique_ptr<dsl::Column>> ColumnsOf(const AggregateSpec& spec,
                                                    const Serdes& serdes) {
  std::vector<std::unique_ptr<dsl::Column>> columns;
  for (const AggregateFunction& function : spec.functions) {
    columns.push_back(dsl::NewColumn(function, spec.table, serdes));
  }
  if (spec.fold) columns.push_back(dsl::NewFold(*spec.fold, serdes));
  return columns;
}

Status CheckWindow(const AggregateSpec& spec) {
  if (!spec.late.empty() && (!spec.window || spec.rows.empty())) {
    return Status::Usage("records are late for windows, and go where rows do not");
  }
  if (!spec.window) return Status::Ok();
  KSTREAM_RETURN_IF_ERROR(spec.window->Check());
  const bool by_span = spec.window->kind == WindowSpec::Kind::kSliding ||
                       spec.window->kind == WindowSpec::Kind::kSession;
  if (!by_span || !spec.fold) return Status::Ok();
  return Status::Usage("a fold cannot be added up, as sessions that merge and sliding windows are");
}

Status CheckTtl(const AggregateSpec& spec) {
  constexpr std::chrono::milliseconds kLongest = std::chrono::hours(24) * 365 * 1000;
  if (spec.ttl.count() < 0 || spec.ttl > kLongest) {
    return Status::Usage("rows live between 0 and 1000 years");
  }
  if (spec.ttl.count() == 0) return Status::Ok();
  if (spec.table) return Status::Usage("rows of a table are there until it deletes them");
  if (!spec.window) return Status::Ok();
  return Status::Usage("rows of windows end with their windows: --retention keeps them longer");
}

}  // namespace

Result<ProcessorSupplier> GroupBy(GroupBySpec spec) {
  KSTREAM_ASSIGN_OR_RETURN(const Serdes serdes, Serdes::Parse(spec.serdes.key, spec.serdes.value));
  if (!spec.table.empty()) return GroupRowsBy(spec, serdes);
  std::string description = dsl::Describe(spec);
  auto skips = std::make_shared<dsl::SkipTotals>();
  auto make = [spec = std::move(spec), serdes, skips] {
    return std::make_unique<GroupByProcessor>(spec, serdes, skips);
  };
  return ProcessorSupplier(std::move(make), std::move(description));
}

Result<ProcessorSupplier> Aggregate(AggregateSpec spec) {
  KSTREAM_ASSIGN_OR_RETURN(const Serdes serdes, Serdes::Parse(spec.serdes.key, spec.serdes.value));
  KSTREAM_RETURN_IF_ERROR(CheckFunctions(spec));
  if (spec.emit == AggregateSpec::Emit::kEvery && spec.every.count() <= 0) {
    return Status::Usage("rows cannot come more often than every 1ms");
  }
  KSTREAM_RETURN_IF_ERROR(CheckTable(spec));
  KSTREAM_RETURN_IF_ERROR(CheckWindow(spec));
  KSTREAM_RETURN_IF_ERROR(CheckTtl(spec));
  std::string description = dsl::Describe(spec);
  dsl::AggregationPlan plan{.new_format = {},
                            .table = spec.table,
                            .by = spec.by,
                            .window = spec.window,
                            .emit = spec.emit,
                            .every = spec.every,
                            .ttl = spec.ttl,
                            .store = spec.store,
                            .rows = spec.rows,
                            .late = spec.late,
                            .route = spec.route,
                            .serdes = serdes};
  plan.new_format = [spec = std::move(spec), serdes] {
    return dsl::NewJsonRows(ColumnsOf(spec, serdes), serdes.key);
  };
  return dsl::AggregationOf(std::move(plan), std::move(description));
}

}  // namespace kstream
