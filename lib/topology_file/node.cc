#include "topology_file/node.h"

#include <fmt/format.h>

#include <set>

#include "kstream/operators.h"

namespace kstream::topology_file {

void Node::SetParents(std::vector<std::string> names, Assembly* assembly) {
  shown_.parents = std::move(names);
  assembly_ = assembly;
}

Result<Expression> Node::Compile(std::string_view field, FileValue value,
                                 const std::vector<std::string>& names) {
  KSTREAM_ASSIGN_OR_RETURN(Expression expression, value.Compile(names));
  shown_.expressions.emplace_back(field, expression);
  return expression;
}

Result<std::optional<Expression>> Node::TakeExpression(std::string_view field,
                                                       const std::vector<std::string>& names) {
  const std::optional<FileValue> value = fields_.Take(field);
  if (!value) return std::optional<Expression>();
  KSTREAM_ASSIGN_OR_RETURN(Expression expression, Compile(field, *value, names));
  return std::optional<Expression>(std::move(expression));
}

Result<Expression> Node::CompileCondition(std::string_view field, FileValue value,
                                          const std::vector<std::string>& names) {
  KSTREAM_ASSIGN_OR_RETURN(Expression condition, Compile(field, value, names));
  const Status status = CheckCondition(condition);
  if (!status.ok()) return value.Error(status.message());
  return condition;
}

Result<Location> Node::Place(FileValue value) {
  KSTREAM_ASSIGN_OR_RETURN(const std::string text, value.Text());
  const RuntimeOptions& options = assembly_->options;
  std::set<std::string> clusters;
  for (const auto& [name, cluster] : options.clusters) clusters.insert(name);
  const bool brokers = !options.home.brokers.empty();
  Result<Location> place = Location::Parse(text, brokers, clusters);
  if (!place.ok()) return value.Error(place.status().message());
  if (place->is_topic() && place->cluster.empty() && !brokers) {
    return value.At(Status::Usage(fmt::format(
        "{} is a topic, and no brokers are known: name them with --brokers", place->name)));
  }
  ShowPlace(*place);
  return place;
}

Result<std::string> Node::TakeStore() {
  KSTREAM_ASSIGN_OR_RETURN(shown_.store, fields_.TakeText("store", name()));
  const auto [at, fresh] = assembly_->stores.emplace(shown_.store, name());
  if (fresh) return shown_.store;
  return fields_.Take("store")
      .value_or(fields_.object())
      .Error(fmt::format("another node, '{}', has a store that is named '{}', too: give each its "
                         "own",
                         at->second, shown_.store));
}

void Node::GiveAs(const std::string& output, Stream stream, bool scattered) {
  assembly_->outputs.insert_or_assign(output, Upstream{std::move(stream), scattered});
}

void Node::GiveTable(Table table) {
  Give(table.ToStream(), false);
  assembly_->tables.insert_or_assign(name(), std::move(table));
}

const Table* Node::table(size_t i) const {
  const auto found = assembly_->tables.find(shown_.parents[i]);
  return found == assembly_->tables.end() ? nullptr : &found->second;
}

}  // namespace kstream::topology_file
