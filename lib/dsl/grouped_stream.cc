// Grouped streams and tables: where a chain of operators gets state. Each of them is one processor
// and one store of the same name, behind a repartition topic where the key has changed. Tested by
// tests/unit/dsl/table_test.cc.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "dsl/aggregation.h"
#include "dsl/describe.h"
#include "dsl/fold_columns.h"
#include "dsl/row.h"
#include "dsl/stream_graph.h"
#include "dsl/suppliers.h"
#include "kstream/table.h"

namespace kstream {
namespace dsl {
namespace {

using Supplier = Result<ProcessorSupplier>;

// What rows that are values of the user's own are made by.
struct FunctionsOf {
  std::string description = {};
  bool table = false;
  std::optional<WindowSpec> window = {};
  AggregateSpec::Emit emit = AggregateSpec::Emit::kUpdate;
  SerdeNames serdes = {};

  bool adds_up() const {
    return window && (window->kind == WindowSpec::Kind::kSession ||
                      window->kind == WindowSpec::Kind::kSliding);
  }
};

Supplier PlainAggregation(std::function<std::unique_ptr<Column>()> column, const std::string& store,
                          FunctionsOf of) {
  AggregationPlan plan;
  plan.new_format = [column = std::move(column)] { return NewPlainRows(column()); };
  plan.table = of.table;
  plan.store = store;
  if (of.table) of.description.insert(0, "table-");
  if (of.window) {
    KSTREAM_RETURN_IF_ERROR(of.window->Check());
    if (of.emit == AggregateSpec::Emit::kEvery) {
      return Status::Expression(
          "rows of functions come at commit points, with each change or once");
    }
    KSTREAM_ASSIGN_OR_RETURN(plan.serdes, Serdes::Parse(of.serdes.key, of.serdes.value));
    plan.window = of.window;
    plan.window_keys = true;
    plan.emit = of.emit;
    of.description += Describe(*of.window, of.emit);
  }
  return AggregationOf(std::move(plan), std::move(of.description));
}

Supplier Reduce(const StreamExpression& add, const std::optional<StreamExpression>& sub,
                const std::string& store, FunctionsOf of) {
  KSTREAM_ASSIGN_OR_RETURN(const Expression compiled, add.Compile({"acc"}));
  std::optional<Expression> undo;
  if (sub) {
    KSTREAM_ASSIGN_OR_RETURN(undo, sub->Compile({"acc"}));
  }
  KSTREAM_ASSIGN_OR_RETURN(const Serdes serdes, Serdes::Parse(of.serdes.key, of.serdes.value));
  of.description =
      "reduce " + Quoted(compiled) + (undo ? " " + Quoted(*undo) : "") + Describe(of.serdes);
  of.table = sub.has_value();
  return PlainAggregation([compiled, undo, serdes] { return NewReduce(compiled, undo, serdes); },
                          store, std::move(of));
}

// `undo` null: of a stream.
Supplier ReduceBy(Reducer add, const Reducer* undo, const std::string& store, FunctionsOf of = {}) {
  if (!add || (undo && !*undo)) return Status::Expression("its function is empty");
  of.description = "reduce (function)";
  of.table = undo != nullptr;
  auto column = [add = std::move(add), undo = undo ? *undo : Reducer(), adds_up = of.adds_up()] {
    return NewReduceBy(add, undo, adds_up);
  };
  return PlainAggregation(std::move(column), store, std::move(of));
}

// `merge` empty: nothing is added up.
Supplier AggregateBy(Initializer init, Aggregator add, const Aggregator* undo, Merger merge,
                     const std::string& store, FunctionsOf of = {}) {
  if (!init || !add || (undo && !*undo)) return Status::Expression("its function is empty");
  if (of.adds_up() && !merge) {
    return Status::Expression("sessions and sliding windows are added up: give a merger");
  }
  if (!of.adds_up()) merge = nullptr;
  of.description = "aggregate (function)";
  of.table = undo != nullptr;
  auto column = [init = std::move(init), add = std::move(add), undo = undo ? *undo : Aggregator(),
                 merge = std::move(merge)] { return NewFoldBy(init, add, undo, merge); };
  return PlainAggregation(std::move(column), store, std::move(of));
}

}  // namespace
}  // namespace dsl

GroupedStream Stream::GroupBy(const StreamExpression& key, std::string name) const {
  Result<Expression> by = key.Compile();
  Result<ProcessorSupplier> supplier =
      by.ok() ? kstream::GroupBy({.by = *std::move(by), .serdes = serdes_})
              : Result<ProcessorSupplier>(by.status());
  const std::string node = name.empty() ? "" : name + "-group";
  return GroupedStream(
      Add(graph_->Name(node, "group-by"), std::move(supplier), true).Repartition(name));
}

GroupedStream Stream::GroupBy(KeySelector key, std::string name) const {
  const std::string node = name.empty() ? "" : name + "-group";
  return GroupedStream(
      Add(graph_->Name(node, "group-by"), dsl::GroupBy(std::move(key)), true).Repartition(name));
}

GroupedStream Stream::GroupByKey(std::string name) const {
  return GroupedStream(rekeyed_ ? Repartition(name) : *this);
}

Table GroupedStream::Make(Result<ProcessorSupplier> supplier, const std::string& store) const {
  if (store.empty()) {
    stream_.graph_->Mistake(stream_.name(),
                            Status::Expression("a table is made of it without the name of a store, "
                                               "by which its state is found again: give one"));
  }
  stream_.graph_->AddStore(StoreSpec{.name = store});
  return {stream_.Add(store, std::move(supplier), false, {store}), store};
}

Table GroupedStream::Count(const std::string& store) const {
  return Aggregate(AggregateSpec{.functions = {{}}}, store);
}

Table GroupedStream::Aggregate(AggregateSpec spec, const std::string& store) const {
  if (!stream_.graph_->one_task()) spec.by.reset();
  spec.store = store;
  spec.serdes = stream_.serdes_;
  std::optional<WindowSpec> window;
  if (spec.emit != AggregateSpec::Emit::kFinal) window = spec.window;
  Table rows = Make(kstream::Aggregate(std::move(spec)), store);
  rows.changes_.serdes_.value = "json";
  rows.window_ = std::move(window);
  return rows;
}

Table GroupedStream::Aggregate(Initializer init, Aggregator add, const std::string& store) const {
  return Make(dsl::AggregateBy(std::move(init), std::move(add), nullptr, nullptr, store), store);
}

Table GroupedStream::Reduce(const StreamExpression& add, const std::string& store) const {
  return Make(dsl::Reduce(add, std::nullopt, store, {.serdes = stream_.serdes_}), store);
}

Table GroupedStream::ReduceBy(Reducer add, const std::string& store) const {
  return Make(dsl::ReduceBy(std::move(add), nullptr, store), store);
}

WindowedStream GroupedStream::WindowedBy(WindowSpec window, AggregateSpec::Emit emit) const {
  return {*this, std::move(window), emit};
}

Table WindowedStream::Count(const std::string& store) const {
  return Aggregate(AggregateSpec{.functions = {{}}}, store);
}

Table WindowedStream::Aggregate(AggregateSpec spec, const std::string& store) const {
  spec.window = window_;
  spec.emit = emit_;
  return groups_.Aggregate(std::move(spec), store);
}

Table WindowedStream::Aggregate(Initializer init, Aggregator add, const std::string& store) const {
  return Aggregate(std::move(init), std::move(add), nullptr, store);
}

Table WindowedStream::Aggregate(Initializer init, Aggregator add, Merger merge,
                                const std::string& store) const {
  auto supplier =
      dsl::AggregateBy(std::move(init), std::move(add), nullptr, std::move(merge), store,
                       {.window = window_, .emit = emit_, .serdes = groups_.stream_.serdes()});
  return Windowed(groups_.Make(std::move(supplier), store));
}

Table WindowedStream::Reduce(const StreamExpression& add, const std::string& store) const {
  auto supplier =
      dsl::Reduce(add, std::nullopt, store,
                  {.window = window_, .emit = emit_, .serdes = groups_.stream_.serdes()});
  return Windowed(groups_.Make(std::move(supplier), store));
}

Table WindowedStream::ReduceBy(Reducer add, const std::string& store) const {
  auto supplier =
      dsl::ReduceBy(std::move(add), nullptr, store,
                    {.window = window_, .emit = emit_, .serdes = groups_.stream_.serdes()});
  return Windowed(groups_.Make(std::move(supplier), store));
}

Table WindowedStream::Windowed(Table rows) const {
  if (emit_ != AggregateSpec::Emit::kFinal) rows.window_ = window_;
  return rows;
}

Table GroupedTable::Count(const std::string& store) const {
  return Aggregate(AggregateSpec{.functions = {{}}}, store);
}

Table GroupedTable::Aggregate(AggregateSpec spec, const std::string& store) const {
  spec.table = true;
  return changes_.Aggregate(std::move(spec), store);
}

Table GroupedTable::Aggregate(Initializer init, Aggregator add, const Aggregator& sub,
                              const std::string& store) const {
  return changes_.Make(dsl::AggregateBy(std::move(init), std::move(add), &sub, nullptr, store),
                       store);
}

Table GroupedTable::Reduce(const StreamExpression& add, const StreamExpression& sub,
                           const std::string& store) const {
  return changes_.Make(dsl::Reduce(add, sub, store, {.serdes = changes_.stream_.serdes_}), store);
}

Table GroupedTable::ReduceBy(Reducer add, const Reducer& sub, const std::string& store) const {
  return changes_.Make(dsl::ReduceBy(std::move(add), &sub, store), store);
}

GroupedTable Stream::GroupRows(const StreamExpression& key, const std::string& store,
                               const std::string& name) const {
  Result<Expression> by = key.Compile();
  return Regroup(by.ok()
                     ? kstream::GroupBy({.by = *std::move(by), .serdes = serdes_, .table = store})
                     : Result<ProcessorSupplier>(by.status()),
                 store, name);
}

GroupedTable Stream::Regroup(Result<ProcessorSupplier> supplier, const std::string& store,
                             const std::string& name) const {
  graph_->AddStore(StoreSpec{.name = store});
  const std::string node = name.empty() ? "" : name + "-group";
  const Stream changes = Add(graph_->Name(node, "group-by"), std::move(supplier), true, {store});
  return GroupedTable(GroupedStream(name.empty() ? changes : changes.Repartition(name)));
}

GroupedTable Table::GroupBy(const StreamExpression& key, const std::string& name) const {
  return changes_.GroupRows(key, name + "-rows", name);
}

GroupedTable Table::GroupBy(KeySelector key, const std::string& name) const {
  const std::string rows = name + "-rows";
  return changes_.Regroup(dsl::GroupTableBy(std::move(key), rows, changes_.serdes_), rows, name);
}

Table StreamBuilder::Table(Location input, const std::string& store) {
  return Table(SourceSpec{.inputs = {std::move(input)}}, store);
}

Table StreamBuilder::Table(SourceSpec source, const std::string& store) {
  Stream changes = Source(std::move(source), store.empty() ? "" : store + "-input");
  if (changes.rekeyed()) changes = changes.Repartition(store);
  graph_->SetTable(changes.node_);
  const GroupedStream rows(std::move(changes));
  kstream::Table table = rows.Make(dsl::KeepTable(store, rows.stream_.serdes_), store);
  table.keeps_rows_ = true;
  return table;
}

}  // namespace kstream
