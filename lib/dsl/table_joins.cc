// JoinTable, JoinTables and the joins of streams and tables with tables, as the public face has
// them: specifications are checked and described here; what runs is table_join.h. Tested by
// tests/unit/testdriver/table_join_test.cc.
#include <fmt/format.h>

#include <memory>
#include <utility>

#include "dsl/describe.h"
#include "dsl/stream_graph.h"
#include "dsl/suppliers.h"
#include "dsl/table_join.h"
#include "kstream/joins.h"
#include "kstream/table.h"

namespace kstream {
namespace {

std::string Describe(std::string_view kind, const TableJoinSpec& spec) {
  std::string text = fmt::format("{} --type {}", kind, ToString(spec.type));
  if (spec.value) text += " --value " + dsl::Quoted(*spec.value);
  if (spec.joiner) text += " (function)";
  if (spec.route.partition) text += " --partition " + dsl::Quoted(*spec.route.partition);
  text += dsl::Describe(spec.left_serdes);
  const std::string right = dsl::Describe(spec.right_serdes);
  return right.empty() ? text : text + " right" + right;
}

Status SetValue(const JoinedValue& value, TableJoinSpec* spec) {
  spec->joiner = value.function;
  if (!value.expression) return Status::Ok();
  KSTREAM_ASSIGN_OR_RETURN(spec->value, value.expression->Compile({"left", "right"}));
  return Status::Ok();
}

SerdeNames ResultOf(const TableJoinSpec& spec, SerdeNames serdes) {
  if (!spec.joiner) serdes.value = "json";
  return serdes;
}

Status OfAnother(const Table& table) {
  return Status::Expression(fmt::format("table '{}' is of another StreamBuilder", table.store()));
}

Result<dsl::TableJoinPlan> PlanOf(TableJoinSpec spec, std::string_view when_they_meet) {
  if (spec.value && spec.joiner) return Status::Usage("its value is made twice");
  if (spec.store.empty()) return Status::Usage("a join with a table needs the name of a store");
  KSTREAM_ASSIGN_OR_RETURN(const Serdes left,
                           Serdes::Parse(spec.left_serdes.key, spec.left_serdes.value));
  KSTREAM_ASSIGN_OR_RETURN(const Serdes right,
                           Serdes::Parse(spec.right_serdes.key, spec.right_serdes.value));
  const std::string turn = spec.name + "-turn";
  return dsl::TableJoinPlan{.spec = std::move(spec),
                            .turn = turn,
                            .left = left,
                            .right = right,
                            .totals = std::make_shared<dsl::JoinTotals>(when_they_meet)};
}

}  // namespace

Result<StreamTableJoinNodes> JoinTable(TableJoinSpec spec) {
  if (spec.type == JoinType::kOuter) {
    return Status::Usage("a row of a table does not come out alone: the join is inner or left");
  }
  std::string description = Describe("join-table", spec);
  KSTREAM_ASSIGN_OR_RETURN(const dsl::TableJoinPlan plan,
                           PlanOf(std::move(spec), "when the left one's turn came"));
  StreamTableJoinNodes nodes;
  nodes.table = ProcessorSupplier([plan] { return std::make_unique<dsl::JoinedTable>(plan); },
                                  "table" + dsl::Describe(plan.spec.right_serdes));
  nodes.join = ProcessorSupplier([plan] { return std::make_unique<dsl::StreamTableJoin>(plan); },
                                 std::move(description));
  return nodes;
}

Result<StreamJoinNodes> JoinTables(TableJoinSpec spec) {
  std::string description = Describe("join-tables", spec);
  KSTREAM_ASSIGN_OR_RETURN(const dsl::TableJoinPlan plan,
                           PlanOf(std::move(spec), "at the same time"));
  StreamJoinNodes nodes;
  nodes.left = dsl::JoinSideOf(dsl::JoinSide::kLeft, plan.turn);
  nodes.right = dsl::JoinSideOf(dsl::JoinSide::kRight, plan.turn);
  nodes.join = ProcessorSupplier([plan] { return std::make_unique<dsl::TablesJoin>(plan); },
                                 std::move(description));
  nodes.turn = dsl::JoinTurn::Supplier();
  return nodes;
}

Stream Stream::Join(const Table& table, TableJoinSpec spec) const {
  const std::string name = spec.name, topic = spec.store.empty() ? name : spec.store;
  if (table.changes_.graph_ != graph_) {
    graph_->Mistake(name, OfAnother(table));
    return *this;
  }
  spec.keeps_rows = !table.keeps_rows_;
  const std::string store = spec.store = spec.keeps_rows ? topic : table.store();
  const bool keeps_rows = spec.keeps_rows;
  spec.left_serdes = serdes_;
  spec.right_serdes = table.changes_.serdes_;
  SerdeNames serdes = ResultOf(spec, serdes_);
  Result<StreamTableJoinNodes> nodes = JoinTable(std::move(spec));
  if (!nodes.ok()) {
    graph_->Mistake(name, nodes.status());
    return *this;
  }
  const Stream left = rekeyed_ ? Repartition(topic + "-left") : *this;
  if (keeps_rows) graph_->AddStore(StoreSpec{.name = store});
  graph_->AddProcessor(name + "-table", std::move(nodes->table), {table.changes_.node_}, {store});
  graph_->AddProcessor(name, std::move(nodes->join), {left.node_}, {store});
  return {graph_, name, std::move(serdes), false};
}

Stream Stream::JoinWith(const Table& table, TableJoinSpec spec, const JoinedValue& value) const {
  if (const Status set = SetValue(value, &spec); !set.ok()) graph_->Mistake(spec.name, set);
  return Join(table, std::move(spec));
}

Stream Stream::Join(const Table& table, const std::string& name, const JoinedValue& value) const {
  return JoinWith(table, {.name = name}, value);
}

Stream Stream::LeftJoin(const Table& table, const std::string& name,
                        const JoinedValue& value) const {
  return JoinWith(table, {.type = JoinType::kLeft, .name = name}, value);
}

Table Table::Join(const Table& right, TableJoinSpec spec) const {
  dsl::StreamGraph* const graph = changes_.graph_;
  if (spec.store.empty()) spec.store = spec.name;
  const std::string name = spec.name, store = spec.store, turn = name + "-turn";
  if (right.changes_.graph_ != graph) {
    graph->Mistake(name, OfAnother(right));
    return *this;
  }
  spec.left_serdes = changes_.serdes_;
  spec.right_serdes = right.changes_.serdes_;
  const SerdeNames serdes = ResultOf(spec, changes_.serdes_);
  Result<StreamJoinNodes> nodes = JoinTables(std::move(spec));
  if (!nodes.ok()) {
    graph->Mistake(name, nodes.status());
    return *this;
  }
  graph->AddStore(turn, std::move(nodes->turn));
  for (const char* const which : {"-left", "-right", ""}) {
    graph->AddStore(StoreSpec{.name = store + which});
  }
  graph->AddProcessor(name + "-left", std::move(nodes->left), {changes_.node_}, {turn});
  graph->AddProcessor(name + "-right", std::move(nodes->right), {right.changes_.node_}, {turn});
  graph->AddProcessor(name + "-join", std::move(nodes->join), {name + "-left", name + "-right"},
                      {turn, store + "-left", store + "-right"});
  const Stream joined(graph, name + "-join", serdes, false);
  return {joined.Add(name, dsl::KeepTable(store, serdes), false, {store}), store, true};
}

Table Table::JoinWith(const Table& right, TableJoinSpec spec, const JoinedValue& value) const {
  if (const Status set = SetValue(value, &spec); !set.ok()) {
    changes_.graph_->Mistake(spec.name, set);
  }
  return Join(right, std::move(spec));
}

Table Table::Join(const Table& right, const std::string& name, const JoinedValue& value) const {
  return JoinWith(right, {.name = name}, value);
}

Table Table::LeftJoin(const Table& right, const std::string& name, const JoinedValue& value) const {
  return JoinWith(right, {.type = JoinType::kLeft, .name = name}, value);
}

Table Table::OuterJoin(const Table& right, const std::string& name,
                       const JoinedValue& value) const {
  return JoinWith(right, {.type = JoinType::kOuter, .name = name}, value);
}

}  // namespace kstream
