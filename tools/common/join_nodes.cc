#include "common/join_nodes.h"

#include <string>
#include <utility>

namespace kstream::tools {
namespace {

// A join of the two parents, and what says which of them a record is of.
void AddSides(const PlanNode& node, StreamJoinNodes nodes, TopologyBuilder* builder) {
  const std::string left = node.name + "-left", right = node.name + "-right";
  for (ProcessorSupplier* supplier : {&nodes.left, &nodes.right, &nodes.join}) {
    supplier->unnamed = true;
  }
  builder->AddProcessor(left, std::move(nodes.left), {node.parents.at(0)})
      .AddProcessor(right, std::move(nodes.right), {node.parents.at(1)})
      .AddProcessor(node.name, std::move(nodes.join), {left, right})
      .AddStore(node.name + "-turn", std::move(nodes.turn), {left, right, node.name});
}

}  // namespace

Status AddJoin(const PlanNode& node, const StreamJoinSpec& join, TopologyBuilder* builder) {
  Result<StreamJoinNodes> nodes = JoinStreams(join);
  if (!nodes.ok()) return nodes.status().At("-s");
  AddSides(node, *std::move(nodes), builder);
  if (!join.store.empty()) builder->AddStore(StoreSpec{.name = join.store}, {node.name});
  return Status::Ok();
}

Status AddJoin(const PlanNode& node, const TableJoin& join, TopologyBuilder* builder) {
  const std::string& store = join.spec.store;
  if (join.of == TableJoin::Of::kTables) {
    Result<StreamJoinNodes> nodes = JoinTables(join.spec);
    if (!nodes.ok()) return nodes.status().At("-s");
    AddSides(node, *std::move(nodes), builder);
    builder->AddStore(StoreSpec{.name = store + "-left"}, {node.name})
        .AddStore(StoreSpec{.name = store + "-right"}, {node.name});
    return Status::Ok();
  }
  Result<StreamTableJoinNodes> nodes = JoinTable(join.spec);
  if (!nodes.ok()) return nodes.status().At("-s");
  nodes->table.unnamed = nodes->join.unnamed = true;
  const std::string table = node.name + "-table";
  builder->AddProcessor(table, std::move(nodes->table), {node.parents.at(1)})
      .AddProcessor(node.name, std::move(nodes->join), {node.parents.at(0)})
      .AddStore(StoreSpec{.name = store}, {table, node.name});
  return Status::Ok();
}

}  // namespace kstream::tools
