#include "testdriver/clusters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "record/partitioner.h"
#include "runtime/outputs.h"

namespace kstream::testdriver {
namespace {

using runtime::RunState;
using transport::memory::MemoryCluster;
using transport::memory::StoredRecord;

constexpr int32_t kMostPartitions = 1'000'000;

Status CheckCount(const std::string& topic, int32_t partitions) {
  if (partitions >= 1 && partitions <= kMostPartitions) return Status::Ok();
  return Status::Usage(
      fmt::format("topic {}: {} is no number of partitions: give at least 1", topic, partitions));
}

TestRecord ToTestRecord(const StoredRecord& stored) {
  return {.key = stored.key,
          .value = stored.value,
          .timestamp = stored.timestamp,
          .headers = stored.headers,
          .partition = stored.partition,
          .offset = stored.offset};
}

// Every location that the run names; a repartition topic makes itself.
std::vector<Location> LocationsOf(const RunState& state) {
  std::vector<Location> all = runtime::SinkLocations(state);
  const std::vector<Location> inputs = state.Inputs();
  all.insert(all.end(), inputs.begin(), inputs.end());
  for (const TopologyNode& node : state.graph().nodes) {
    for (const Location& input : node.source.inputs) {
      if (input.kind == Location::Kind::kRepartition) std::erase(all, state.Resolve(input));
    }
  }
  return all;
}

}  // namespace

void Clusters::AddCluster(const std::string& name) {
  const auto [entry, fresh] = clusters_.try_emplace(name, Entry{MemoryCluster(name)});
  if (!fresh) return;
  entry->second.cluster.LimitPolls(SIZE_MAX);
  entry->second.cluster.OnIdle([entry = &entry->second] {
    if (++entry->waits > 1) entry->cluster.HoldAcks(false);
  });
}

Status Clusters::Serve(RunState* state, const std::map<std::string, int32_t>& partitions,
                       int32_t default_partitions) {
  const std::vector<Location> locations = LocationsOf(*state);
  const bool first = clusters_.empty();
  AddCluster("");
  for (const auto& [name, options] : state->options.clusters) AddCluster(name);
  for (const Location& location : locations) {
    if (!location.is_topic()) {
      return Status::Usage(
          fmt::format("a test runs on topics alone, and {} is none", location.ToString()));
    }
    AddCluster(location.cluster);
  }
  // Once: after a restart the topics are there, and may have grown.
  if (first) {
    for (const auto& [topic, count] : partitions) {
      KSTREAM_RETURN_IF_ERROR(CreateTopic(topic, count));
    }
  }
  for (const Location& location : locations) {
    if (location.is_pattern()) continue;
    KSTREAM_RETURN_IF_ERROR(CheckCount(location.name, default_partitions));
    clusters_.at(location.cluster).cluster.CreateTopic(location.name, default_partitions);
  }
  for (const auto& [name, entry] : clusters_) {
    state->clusters[name] = std::make_unique<MemoryCluster>(entry.cluster);
  }
  return Status::Ok();
}

Result<std::pair<std::string, std::string>> Clusters::Split(const std::string& topic) const {
  const size_t colon = topic.find(':');
  std::string cluster = colon == std::string::npos ? "" : topic.substr(0, colon);
  if (!clusters_.contains(cluster)) {
    return Status::Usage(
        fmt::format("{}: the topology names no cluster {}", topic, std::move(cluster)));
  }
  return std::pair(std::move(cluster),
                   colon == std::string::npos ? topic : topic.substr(colon + 1));
}

Result<Clusters::Place> Clusters::Find(const std::string& topic) const {
  KSTREAM_ASSIGN_OR_RETURN(const auto split, Split(topic));
  MemoryCluster cluster = clusters_.at(split.first).cluster;
  KSTREAM_ASSIGN_OR_RETURN(const auto admin, cluster.NewAdmin());
  const auto found = admin->Topics(split.second);
  if (!found.ok() || split.second.starts_with('^')) {
    return Status::Usage(fmt::format(
        "no topic {}: name it in TestDriverOptions::partitions, or check its name", topic));
  }
  return Place{split.first, split.second, found->at(split.second)};
}

Status Clusters::Produce(const std::string& topic, const TestRecord& record, int64_t now) {
  KSTREAM_ASSIGN_OR_RETURN(const Place place, Find(topic));
  const int32_t partition = record.partition ? *record.partition
                                             : PartitionOfKey(record.key, place.partitions,
                                                              record.key ? 0 : unkeyed_[topic]++);
  if (partition < 0 || partition >= place.partitions) {
    return Status::Usage(
        fmt::format("topic {} has no partition {}: it has {}", topic, partition, place.partitions));
  }
  clusters_.at(place.cluster)
      .cluster.Produce(place.topic, partition,
                       {.key = record.key,
                        .value = record.value,
                        .headers = record.headers,
                        .timestamp = record.timestamp.value_or(now)});
  return Status::Ok();
}

std::vector<StoredRecord> Clusters::Stored(const Place& place) const {
  return clusters_.at(place.cluster).cluster.Read(place.topic);
}

Result<std::vector<TestRecord>> Clusters::Read(const std::string& topic) {
  KSTREAM_ASSIGN_OR_RETURN(const Place place, Find(topic));
  std::vector<TestRecord> fresh;
  for (const StoredRecord& stored : Stored(place)) {
    int64_t& next = read_[place.at(stored.partition)];
    if (stored.offset < next) continue;
    next = stored.offset + 1;
    fresh.push_back(ToTestRecord(stored));
  }
  return fresh;
}

Result<std::vector<TestRecord>> Clusters::ReadAll(const std::string& topic) const {
  KSTREAM_ASSIGN_OR_RETURN(const Place place, Find(topic));
  std::vector<TestRecord> all;
  for (const StoredRecord& stored : Stored(place)) all.push_back(ToTestRecord(stored));
  return all;
}

Result<int64_t> Clusters::Committed(const std::string& group, const std::string& topic,
                                    int32_t partition) const {
  KSTREAM_ASSIGN_OR_RETURN(const Place place, Find(topic));
  if (partition < 0 || partition >= place.partitions) {
    return Status::Usage(
        fmt::format("topic {} has no partition {}: it has {}", topic, partition, place.partitions));
  }
  // The group is at home, whatever it reads.
  return clusters_.at("").cluster.Committed(group, {place.topic, partition});
}

Status Clusters::CreateTopic(const std::string& topic, int32_t partitions) {
  KSTREAM_ASSIGN_OR_RETURN(const auto split, Split(topic));
  KSTREAM_RETURN_IF_ERROR(CheckCount(topic, partitions));
  if (const auto there = Find(topic); there.ok() && there->partitions != partitions) {
    return Status::Usage(
        fmt::format("topic {} is there with {} partitions, not {}: GrowTopic makes "
                    "it larger",
                    topic, there->partitions, partitions));
  }
  clusters_.at(split.first).cluster.CreateTopic(split.second, partitions);
  return Status::Ok();
}

Status Clusters::GrowTopic(const std::string& topic, int32_t partitions) {
  KSTREAM_ASSIGN_OR_RETURN(const Place place, Find(topic));
  KSTREAM_RETURN_IF_ERROR(CheckCount(topic, partitions));
  if (partitions < place.partitions) {
    return Status::Usage(fmt::format("topic {} has {} partitions, and topics do not shrink", topic,
                                     place.partitions));
  }
  clusters_.at(place.cluster).cluster.GrowTopic(place.topic, partitions);
  return Status::Ok();
}

void Clusters::BeginTurn() {
  for (auto& [name, entry] : clusters_) entry.waits = 0;
}

void Clusters::HoldAcks(bool hold) {
  for (auto& [name, entry] : clusters_) entry.cluster.HoldAcks(hold);
}

void Clusters::FailDeliveries(const Status& error, int64_t most) {
  for (auto& [name, entry] : clusters_) entry.cluster.FailDeliveries(error, most);
}

void Clusters::FailCommits(const Status& error) {
  for (auto& [name, entry] : clusters_) entry.cluster.FailCommits(error);
}

void Clusters::Hide(const std::function<bool(const InputPartition&)>& hidden) {
  for (auto& [name, entry] : clusters_) {
    entry.cluster.Hide([hidden, name = name](const transport::TopicPartition& partition) {
      return hidden({name, partition.topic, partition.partition});
    });
  }
}

int64_t Clusters::Activity() const {
  int64_t sum = 0;
  for (const auto& [name, entry] : clusters_) sum += entry.cluster.Activity();
  return sum;
}

}  // namespace kstream::testdriver
