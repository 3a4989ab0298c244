// Topology::Describe and Hash. What is printed is what makes programs differ, and only defaults are
// left out; so two graphs that print the same do the same, as far as processors describe
// themselves. A text of several lines goes on six spaces in, where nothing else begins, so that no
// text can look like another node. Tested by tests/unit/topology/describe_test.cc.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kstream/topology.h"
#include "topology/graph.h"

namespace kstream {
namespace {

using Kind = TopologyNode::Kind;

// "LABEL TEXT" on a line of its own.
void Line(std::string* out, int indent, std::string_view label, std::string_view text) {
  out->append(indent, ' ').append(label).append(" ");
  for (const char c : text) {
    out->push_back(c);
    if (c == '\n') out->append(6, ' ');
  }
  out->push_back('\n');
}
void Node(std::string* out, std::string_view kind, std::string_view name) {
  Line(out, 2, kind, name);
}
void Detail(std::string* out, std::string_view label, std::string_view text) {
  Line(out, 4, label, text);
}

void DescribeSerdes(std::string* out, const std::optional<SerdeNames>& serdes) {
  if (serdes) Detail(out, "serdes", fmt::format("key={} value={}", serdes->key, serdes->value));
}

void DescribeTime(std::string* out, const SourceSpec& source) {
  if (source.extractor) {
    Detail(out, "timestamp", "of a function");
  } else if (source.timestamp_expression) {
    Detail(out, "timestamp-unit", source.timestamp_unit);
    Detail(out, "timestamp-expression", source.timestamp_expression->text());
  } else if (source.timestamp != "record") {
    Detail(out, "timestamp", source.timestamp);
  }
}

void Describe(std::string* out, const SourceSpec& source) {
  bool files = false;
  for (const Location& input : source.inputs) {
    Detail(out, "input", input.ToString());
    files |= input.kind == Location::Kind::kFile;
  }
  if (files) Detail(out, "format", source.format);
  DescribeSerdes(out, source.serdes);
  if (source.key) Detail(out, "key", source.key->text());
  if (source.table) Detail(out, "order", "before others of its time");
  DescribeTime(out, source);
}

void Describe(std::string* out, const SinkSpec& sink) {
  if (sink.topic_of_record) {
    Detail(out, "output", "the record's topic");
  } else {
    Detail(out, "output", sink.output.ToString());
    if (sink.output.kind == Location::Kind::kFile) {
      Detail(out, "format", sink.format);
      if (sink.format == "format") Detail(out, "format-text", sink.format_text);
    }
  }
  if (sink.partition_of_record) Detail(out, "partition", "the record's");
  DescribeSerdes(out, sink.serdes);
}

void Describe(std::string* out, const TopologyGraph& graph, const TopologyNode& node) {
  switch (node.kind) {
    case Kind::kSource:
      Node(out, "source", node.name);
      Describe(out, node.source);
      break;
    case Kind::kProcessor:
      Node(out, "processor", node.name);
      if (!node.supplier.description.empty()) Detail(out, "does", node.supplier.description);
      for (const size_t store : node.stores) Detail(out, "uses", graph.stores[store].name());
      break;
    case Kind::kSink:
      Node(out, "sink", node.name);
      Describe(out, node.sink);
      break;
  }
  for (const size_t child : node.children) Detail(out, "-->", graph.nodes[child].name);
  for (const std::string& parent : node.parent_names) Detail(out, "<--", parent);
}

}  // namespace

uint64_t Fnv1a(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3;
  }
  return hash;
}

std::string Topology::Describe() const {
  std::string out;
  for (size_t i = 0; i < graph_->stages.size(); i++) {
    const TopologyStage& stage = graph_->stages[i];
    out += stage.upstream.empty()
               ? fmt::format("stage {}\n", i)
               : fmt::format("stage {} (after {})\n", i, fmt::join(stage.upstream, ", "));
    for (const size_t node : stage.nodes) kstream::Describe(&out, *graph_, graph_->nodes[node]);
    for (const size_t store : stage.stores) Node(&out, "store", graph_->stores[store].name());
  }
  return out;
}

std::string Topology::Hash() const { return fmt::format("{:016x}", Fnv1a(Describe())); }

}  // namespace kstream
