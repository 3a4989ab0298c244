#include "dsl/stream_graph.h"

#include <fmt/format.h>

#include <algorithm>

namespace kstream::dsl {

std::string StreamGraph::Name(std::string given, std::string_view kind) {
  if (given.empty()) return fmt::format("{}-{}", kind, ++named_);
  return given;
}

void StreamGraph::AddSource(std::string name, SourceSpec source) {
  nodes_.push_back({std::move(name), std::move(source), {}, {}});
}

void StreamGraph::AddProcessor(std::string name, ProcessorSupplier supplier,
                               std::vector<std::string> parents, std::vector<std::string> stores) {
  nodes_.push_back({std::move(name), std::move(supplier), std::move(parents), std::move(stores)});
}

void StreamGraph::AddSink(std::string name, SinkSpec sink, std::string parent) {
  nodes_.push_back({std::move(name), std::move(sink), {std::move(parent)}, {}});
}

void StreamGraph::AddStore(std::string name, StoreSupplier supplier) {
  stores_.push_back({{.name = std::move(name)}, false, std::move(supplier)});
}

void StreamGraph::AddStore(StoreSpec store) {
  stores_.push_back({std::move(store), true, nullptr});
}

void StreamGraph::SetTable(std::string_view source) {
  for (Node& node : nodes_) {
    auto* const spec = std::get_if<SourceSpec>(&node.what);
    if (spec && node.name == source) spec->table = true;
  }
}

void StreamGraph::Mistake(std::string_view node, const Status& status) {
  if (mistake_.ok()) mistake_ = status.At(fmt::format("'{}'", node));
}

Result<Topology> StreamGraph::Build() const {
  KSTREAM_RETURN_IF_ERROR(mistake_);
  KSTREAM_RETURN_IF_ERROR(CheckStores());
  TopologyBuilder builder;
  for (const Node& node : nodes_) AddTo(&builder, node);
  for (const auto& [spec, kept, supplier] : stores_) {
    if (kept) {
      builder.AddStore(spec, UsersOf(spec.name));
    } else {
      builder.AddStore(spec.name, supplier, UsersOf(spec.name));
    }
  }
  return builder.Build();
}

// The topology knows which processors a store names; here it is the other way round.
Status StreamGraph::CheckStores() const {
  for (const Node& node : nodes_) {
    for (const std::string& store : node.stores) {
      if (std::ranges::none_of(stores_, [&](const Store& s) { return s.spec.name == store; })) {
        return Status::Expression(
            fmt::format("'{}': no store is named '{}': AddStore makes one", node.name, store));
      }
    }
  }
  return Status::Ok();
}

std::vector<std::string> StreamGraph::UsersOf(const std::string& store) const {
  std::vector<std::string> users;
  for (const Node& node : nodes_) {
    if (std::ranges::find(node.stores, store) != node.stores.end()) users.push_back(node.name);
  }
  return users;
}

void StreamGraph::AddTo(TopologyBuilder* builder, const Node& node) {
  if (const auto* source = std::get_if<SourceSpec>(&node.what)) {
    builder->AddSource(node.name, *source);
  } else if (const auto* sink = std::get_if<SinkSpec>(&node.what)) {
    builder->AddSink(node.name, *sink, node.parents);
  } else {
    builder->AddProcessor(node.name, std::get<ProcessorSupplier>(node.what), node.parents);
  }
}

}  // namespace kstream::dsl
