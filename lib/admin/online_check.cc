// What a run would find out at its start, and some of what it would find out later, asked without
// running. Tested by tests/broker/run.bats.
#include "kstream/online_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "admin/home.h"
#include "admin/internal_settings.h"
#include "kstream/internal_topics.h"
#include "kstream/stages.h"
#include "topology/co_partition.h"
#include "topology/graph.h"
#include "transport/admin.h"
#include "transport/cluster.h"

namespace kstream::admin {
namespace {

using transport::Admin;
using transport::TopicPartition;

class OnlineCheck {
 public:
  OnlineCheck(const Topology& topology, const RuntimeOptions& options)
      : topology_(topology), options_(options) {}

  Result<OnlineReport> Run() {
    const std::vector<Stage> stages = StagesOf(topology_);
    for (const Stage& stage : stages) {
      for (const Location& input : stage.inputs) KSTREAM_RETURN_IF_ERROR(LookAtInput(input));
    }
    for (const Stage& stage : stages) {
      for (const Location& output : stage.outputs) KSTREAM_RETURN_IF_ERROR(LookAtOutput(output));
    }
    if (options_.dead_letter) KSTREAM_RETURN_IF_ERROR(LookAtOutput(*options_.dead_letter));
    KSTREAM_RETURN_IF_ERROR(LookAtInternalTopics());
    CheckStages(stages);
    return std::move(report_);
  }

 private:
  Result<Admin*> AdminOf(const std::string& cluster) {
    Connection& connection = connections_[cluster];
    if (!connection.admin) {
      const ClusterOptions& options =
          cluster.empty() ? options_.home : options_.clusters.find(cluster)->second;
      KSTREAM_ASSIGN_OR_RETURN(connection.cluster, OpenHome(options));
      KSTREAM_ASSIGN_OR_RETURN(connection.admin, connection.cluster->NewAdmin());
    }
    return connection.admin.get();
  }

  bool Seen(const Location& place, bool input) const {
    return std::ranges::any_of(report_.topics, [&](const TopicFacts& facts) {
      return facts.topic == place && facts.input == input;
    });
  }

  Status LookAtInput(const Location& input) {
    if (!input.is_topic() || Seen(input, true)) return Status::Ok();
    KSTREAM_ASSIGN_OR_RETURN(Admin* const admin, AdminOf(input.cluster));
    const auto topics = admin->Topics(input.name);
    if (!topics.ok()) {
      report_.problems.push_back(topics.status());
      report_.topics.push_back({.topic = input, .input = true});
      return Status::Ok();
    }
    if (topics->empty()) {
      report_.warnings.push_back(fmt::format("no topic matches {} so far", input.name));
    }
    for (const auto& [name, partitions] : *topics) {
      TopicFacts facts{
          .topic = Location::Topic(name, input.cluster), .input = true, .partitions = partitions};
      if (Seen(facts.topic, true)) continue;
      if (const Status status = Count(admin, &facts); !status.ok()) {
        report_.problems.push_back(status.At(name));
      }
      KSTREAM_RETURN_IF_ERROR(ReadConfig(admin, &facts));
      report_.topics.push_back(std::move(facts));
    }
    return Status::Ok();
  }

  // How much there is, and how much of it is still to do.
  Status Count(Admin* admin, TopicFacts* facts) {
    std::vector<TopicPartition> partitions;
    for (int32_t i = 0; i < *facts->partitions; ++i) partitions.push_back({facts->topic.name, i});
    KSTREAM_ASSIGN_OR_RETURN(const auto offsets, admin->Offsets(partitions));
    for (const auto& [partition, marks] : offsets) facts->records += marks.high - marks.low;
    if (options_.app.empty() || !facts->topic.cluster.empty()) return Status::Ok();
    KSTREAM_ASSIGN_OR_RETURN(const auto committed, admin->GroupOffsets(options_.app));
    int64_t done = 0;
    bool any = false;
    for (const transport::PartitionOffset& position : committed) {
      const auto marks = offsets.find(position.partition);
      if (marks == offsets.end()) continue;
      any = true;
      done +=
          std::clamp(position.offset, marks->second.low, marks->second.high) - marks->second.low;
      if (position.offset < marks->second.low && !options_.from_given) {
        report_.problems.push_back(Status::Cluster(fmt::format(
            "{}[{}]: the application is at {}, and the log begins at {}: --from says where to go "
            "on",
            facts->topic.name, position.partition.partition, position.offset, marks->second.low)));
      }
    }
    if (any) facts->lag = facts->records - done;
    return Status::Ok();
  }

  Status ReadConfig(Admin* admin, TopicFacts* facts) {
    const auto config = admin->TopicConfig(facts->topic.name);
    if (!config.ok()) {
      report_.warnings.push_back(std::string(config.status().message()));
      return Status::Ok();
    }
    const auto get = [&](const char* name) {
      const auto found = config->find(name);
      return found == config->end() ? std::string() : found->second;
    };
    facts->cleanup_policy = get("cleanup.policy");
    facts->retention_ms = get("retention.ms");
    return Status::Ok();
  }

  Status LookAtOutput(const Location& output) {
    if (!output.is_topic() || Seen(output, false)) return Status::Ok();
    KSTREAM_ASSIGN_OR_RETURN(Admin* const admin, AdminOf(output.cluster));
    KSTREAM_ASSIGN_OR_RETURN(const std::optional<int32_t> partitions,
                             admin->FindTopic(output.name));
    TopicFacts facts{.topic = output, .input = false, .partitions = partitions};
    if (partitions) {
      KSTREAM_RETURN_IF_ERROR(ReadConfig(admin, &facts));
    } else if (!options_.create_output) {
      report_.problems.push_back(Status::Cluster(
          fmt::format("topic {} is missing: --create-output makes outputs that are", output.name)));
    }
    report_.topics.push_back(std::move(facts));
    return Status::Ok();
  }

  // Those that a run before this one has made.
  Status LookAtInternalTopics() {
    for (const InternalTopicNeed& need : InternalTopics(topology_, options_)) {
      KSTREAM_ASSIGN_OR_RETURN(Admin* const admin, AdminOf(""));
      KSTREAM_ASSIGN_OR_RETURN(const auto partitions, admin->FindTopic(need.topic));
      if (!partitions) continue;
      const auto config = admin->TopicConfig(need.topic);
      if (!config.ok()) {
        report_.warnings.push_back(std::string(config.status().message()));
      } else {
        JudgeInternalTopic(need, *config, &report_);
      }
    }
    return Status::Ok();
  }

  // Inputs whose records meet in a store must have as many partitions.
  void CheckStages(const std::vector<Stage>& stages) {
    const bool by_number = options_.grouper == "default" && !options_.custom_grouper;
    for (size_t i = 0; i < stages.size(); ++i) {
      if (!by_number || !topology_.graph().stages[i].co_partitioned) continue;
      std::vector<InputTopic> inputs;
      for (const TopicFacts& facts : report_.topics) {
        const bool of_stage = std::ranges::any_of(stages[i].inputs, [&](const Location& input) {
          const Result<bool> reads = Reads(input, facts.topic);
          return reads.ok() && *reads;
        });
        if (!facts.input || !of_stage || !facts.partitions) continue;
        inputs.push_back({facts.topic.cluster, facts.topic.name, *facts.partitions});
      }
      if (const Status status = CheckCoPartitioned(inputs); !status.ok()) {
        report_.problems.push_back(status);
      }
    }
  }

  struct Connection {
    std::unique_ptr<transport::Cluster> cluster;
    std::unique_ptr<Admin> admin;
  };

  const Topology& topology_;
  const RuntimeOptions& options_;
  std::map<std::string, Connection> connections_;
  OnlineReport report_;
};

}  // namespace
}  // namespace kstream::admin

namespace kstream {

Result<OnlineReport> CheckOnline(const Topology& topology, const RuntimeOptions& options) {
  return admin::OnlineCheck(topology, options).Run();
}

}  // namespace kstream
