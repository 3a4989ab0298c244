#include "topology_test/names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "topology/graph.h"
#include "topology_file/fields.h"

namespace kstream::topology_test {
namespace {

std::string TopicOf(const Location& place) {
  return place.cluster.empty() ? place.name : fmt::format("{}:{}", place.cluster, place.name);
}

Status NoSuch(const Name& name, std::string_view what, const std::set<std::string>& there) {
  const std::string near = topology_file::DidYouMean(name.text, {there.begin(), there.end()});
  std::string all = ": it has none";
  if (!there.empty()) all = fmt::format(": there is {}", fmt::join(there, ", "));
  return name.at.Error(
      fmt::format("the topology has no {} '{}'{}", what, name.text, near.empty() ? all : near));
}

}  // namespace

TopologyNames::TopologyNames(const Topology& topology, const RuntimeOptions& runtime)
    : internal_(runtime.app + "-") {
  const auto note = [](const Location& place, std::set<std::string>* topics) {
    if (place.is_topic() && !place.is_pattern()) topics->insert(TopicOf(place));
  };
  for (const TopologyNode& node : topology.graph().nodes) {
    for (const Location& input : node.source.inputs) {
      note(input, &inputs_);
      if (input.is_pattern()) patterns_.push_back(input);
    }
    if (node.kind != TopologyNode::Kind::kSink) continue;
    any_output_ |= node.sink.topic_of_record;
    if (!node.sink.topic_of_record) note(node.sink.output, &outputs_);
  }
  if (runtime.dead_letter) note(*runtime.dead_letter, &outputs_);
  for (const TopologyStore& store : topology.graph().stores) stores_.insert(store.name());
}

bool TopologyNames::Matches(const std::string& topic) const {
  const size_t colon = topic.find(':');
  const Location place = colon == std::string::npos
                             ? Location::Topic(topic)
                             : Location::Topic(topic.substr(colon + 1), topic.substr(0, colon));
  return std::ranges::any_of(patterns_, [&](const Location& pattern) {
    const Result<bool> reads = Reads(pattern, place);
    return reads.ok() && *reads;
  });
}

std::vector<std::string> TopologyNames::Matched(const Case& test) const {
  std::vector<std::string> topics;
  for (const Action& action : test.actions) {
    const auto* const input = std::get_if<Input>(&action.what);
    if (input == nullptr) continue;
    for (const Input::Topic& topic : input->topics) {
      if (!inputs_.contains(topic.name.text)) topics.push_back(topic.name.text);
    }
  }
  return topics;
}

Status TopologyNames::CheckInput(const Input& input, const Settings& settings) const {
  for (const auto& [name, records] : input.topics) {
    if (!inputs_.contains(name.text) && !Matches(name.text)) {
      return NoSuch(name, "input topic", inputs_);
    }
    const auto found = settings.partitions.find(name.text);
    const int32_t partitions =
        found == settings.partitions.end() ? settings.default_partitions : found->second.count;
    for (const auto& [record, at] : records) {
      if (record.partition.value_or(0) < partitions) continue;
      return at.Error(fmt::format("topic {} has no partition {}: it has {}", name.text,
                                  *record.partition, partitions));
    }
  }
  return Status::Ok();
}

Status TopologyNames::CheckOutput(const Name& name) const {
  const bool known =
      any_output_ || outputs_.contains(name.text) || name.text.starts_with(internal_);
  return known ? Status::Ok() : NoSuch(name, "output topic", outputs_);
}

Status TopologyNames::CheckStore(const Name& name) const {
  return stores_.contains(name.text) ? Status::Ok() : NoSuch(name, "store", stores_);
}

Status TopologyNames::CheckTopic(const Name& name) const {
  if (inputs_.contains(name.text) || Matches(name.text) || CheckOutput(name).ok()) {
    return Status::Ok();
  }
  std::set<std::string> topics = inputs_;
  topics.insert(outputs_.begin(), outputs_.end());
  return NoSuch(name, "topic", topics);
}

Status TopologyNames::Check(const Case& test) const {
  for (const auto& [topic, partitions] : test.settings.partitions) {
    KSTREAM_RETURN_IF_ERROR(CheckTopic({topic, partitions.at}));
  }
  for (const Action& action : test.actions) {
    if (const auto* const input = std::get_if<Input>(&action.what)) {
      KSTREAM_RETURN_IF_ERROR(CheckInput(*input, test.settings));
    } else if (const auto* const expect = std::get_if<ExpectTopics>(&action.what)) {
      for (const auto& topic : expect->topics) KSTREAM_RETURN_IF_ERROR(CheckOutput(topic.name));
    } else if (const auto* const rows = std::get_if<ExpectStores>(&action.what)) {
      for (const auto& store : rows->stores) KSTREAM_RETURN_IF_ERROR(CheckStore(store.name));
    } else if (const auto* const commits = std::get_if<ExpectCommits>(&action.what)) {
      for (const auto& topic : commits->topics) KSTREAM_RETURN_IF_ERROR(CheckTopic(topic.name));
    }
  }
  return Status::Ok();
}

}  // namespace kstream::topology_test
