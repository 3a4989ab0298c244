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

// Rows that are values of the user's own.
ProcessorSupplier PlainAggregation(std::function<std::unique_ptr<Column>()> column,
                                   const std::string& store, std::string description) {
  AggregationPlan plan;
  plan.new_format = [column = std::move(column)] { return NewPlainRows(column()); };
  plan.store = store;
  return AggregationOf(std::move(plan), std::move(description));
}

}  // namespace

Result<ProcessorSupplier> Reduce(const Expression& add, const std::string& store,
                                 const SerdeNames& names) {
  KSTREAM_ASSIGN_OR_RETURN(const Serdes serdes, Serdes::Parse(names.key, names.value));
  return PlainAggregation([add, serdes] { return NewReduce(add, serdes); }, store,
                          "reduce " + Quoted(add) + Describe(names));
}

Result<ProcessorSupplier> ReduceBy(Reducer add, const std::string& store) {
  if (!add) return Status::Expression("its function is empty");
  return PlainAggregation([add = std::move(add)] { return NewReduceBy(add); }, store,
                          "reduce (function)");
}

Result<ProcessorSupplier> AggregateBy(Initializer init, Aggregator add, const std::string& store) {
  if (!init || !add) return Status::Expression("its function is empty");
  return PlainAggregation(
      [init = std::move(init), add = std::move(add)] { return NewFoldBy(init, add); }, store,
      "aggregate (function)");
}

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
  Table rows = Make(kstream::Aggregate(std::move(spec)), store);
  rows.changes_.serdes_.value = "json";
  return rows;
}

Table GroupedStream::Aggregate(Initializer init, Aggregator add, const std::string& store) const {
  return Make(dsl::AggregateBy(std::move(init), std::move(add), store), store);
}

Table GroupedStream::Reduce(const StreamExpression& add, const std::string& store) const {
  Result<Expression> compiled = add.Compile({"acc"});
  return Make(compiled.ok() ? dsl::Reduce(*compiled, store, stream_.serdes_)
                            : Result<ProcessorSupplier>(compiled.status()),
              store);
}

Table GroupedStream::ReduceBy(Reducer add, const std::string& store) const {
  return Make(dsl::ReduceBy(std::move(add), store), store);
}

Table StreamBuilder::Table(Location input, const std::string& store) {
  return Table(SourceSpec{.inputs = {std::move(input)}}, store);
}

Table StreamBuilder::Table(SourceSpec source, const std::string& store) {
  Stream changes = Source(std::move(source), store.empty() ? "" : store + "-input");
  if (changes.rekeyed()) changes = changes.Repartition(store);
  const GroupedStream rows(std::move(changes));
  return rows.Make(dsl::KeepTable(store, rows.stream_.serdes_), store);
}

}  // namespace kstream
