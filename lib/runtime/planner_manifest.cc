// Planner's dealings with the manifest and with internal topics.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/log.h"
#include "kstream/internal_topics.h"
#include "runtime/changelogs.h"
#include "runtime/planner.h"
#include "runtime/safeguards.h"

namespace kstream::runtime {
namespace {

using transport::Admin;

constexpr int16_t kDefaultReplication = -1;  // as the broker is configured

// A repartition topic keeps everything until it has been read downstream, and takes records of any
// time. (DeleteRecords, which purges it, is refused on compacted topics.)
const std::map<std::string, std::string> kRepartitionConfig = {
    {"cleanup.policy", "delete"},
    {"retention.ms", "-1"},
    {"message.timestamp.type", "CreateTime"},
    {"message.timestamp.before.max.ms", "9223372036854775807"},
    {"message.timestamp.after.max.ms", "9223372036854775807"}};

// Nothing is ever written to it.
const std::map<std::string, std::string> kTasksConfig = {{"cleanup.policy", "delete"}};

const TopicSettings& SettingsOf(InternalTopic::Kind kind) {
  switch (kind) {
    case InternalTopic::Kind::kChangelog:
      return ChangelogSettings();
    case InternalTopic::Kind::kRepartition:
      return kRepartitionConfig;
    default:
      return kTasksConfig;
  }
}

void Replace(std::vector<InternalTopic>* topics, const InternalTopic& topic) {
  const auto found = std::ranges::find(*topics, topic.name, &InternalTopic::name);
  if (found == topics->end()) {
    topics->push_back(topic);
  } else {
    found->partitions = topic.partitions;
    found->kind = topic.kind;
  }
}

}  // namespace

// What the manifest should say: what it says already, and what these plans add.
Manifest Planner::Propose(const Plans& plans) const {
  const RuntimeOptions& options = state_->options;
  Manifest manifest;
  if (manifest_) {
    manifest = *manifest_;
  } else {
    manifest.incarnation = NewIncarnation();
  }
  manifest.version = options.version;
  manifest.hash = state_->topology.Hash();
  manifest.stages.clear();
  int32_t tasks = 0;
  for (const StagePlan& plan : plans) {
    manifest.stages.push_back(
        {plan.lead, grouper_.OfStage(plan.topics).ToString(), plan.topics, plan.tasks});
    if (plan.lead.topic != TasksTopic(options.app)) continue;
    for (const Lead::Run& run : plan.lead.runs) tasks = std::max(tasks, run.first + run.count);
  }
  if (tasks > 0) {
    Replace(&manifest.topics, {TasksTopic(options.app), tasks, InternalTopic::Kind::kTasks});
  }
  for (const TopologyNode& node : state_->graph().nodes) {
    if (node.kind != TopologyNode::Kind::kSource) continue;
    for (const Location& input : node.source.inputs) {
      if (input.kind != Location::Kind::kRepartition) continue;
      const Location topic = state_->Resolve(input);
      Replace(&manifest.topics,
              {topic.name, RepartitionCount(topic, plans), InternalTopic::Kind::kRepartition});
    }
  }
  for (size_t i = 0; i < plans.size(); i++) {
    for (const size_t store : state_->graph().stages[i].stores) {
      const auto topic = ChangelogOf(options.app, state_->graph().stores[store]);
      if (!topic) continue;
      Replace(&manifest.topics, {*topic, static_cast<int32_t>(plans[i].tasks.size()),
                                 InternalTopic::Kind::kChangelog});
    }
  }
  for (const TopologyStore& store : state_->graph().stores) {
    if (std::find(manifest.stores.begin(), manifest.stores.end(), store.name()) ==
        manifest.stores.end()) {
      manifest.stores.push_back(store.name());
    }
  }
  return manifest;
}

// `owner`: changes are ours to make. At the start only what cannot wait is written: a first
// manifest, and the names of internal topics that are to be made.
Status Planner::KeepManifest(Plans* plans, bool owner) {
  KSTREAM_RETURN_IF_ERROR(CheckChangelogs());
  KSTREAM_RETURN_IF_ERROR(CheckNewStores(*plans));
  const Manifest wanted = Propose(*plans);
  const bool news = !decided() || wanted.topics != manifest_->topics;
  if (!state_->options.dry_run && (news || (owner && wanted != *manifest_))) {
    KSTREAM_RETURN_IF_ERROR(Write(wanted));
  }
  KSTREAM_RETURN_IF_ERROR(TakeManifest(plans));
  return state_->options.dry_run ? Status::Ok() : MakeInternalTopics();
}

Status Planner::Write(const Manifest& wanted) {
  const std::string& app = state_->options.app;
  KSTREAM_RETURN_IF_ERROR(CheckInternalName(app, ManifestTopic(app)));
  std::vector<InternalTopic> fresh;
  for (const InternalTopic& topic : wanted.topics) {
    KSTREAM_RETURN_IF_ERROR(CheckInternalName(app, topic.name));
    if (!manifest_ || manifest_->Find(topic.name) == nullptr) fresh.push_back(topic);
  }
  KSTREAM_RETURN_IF_ERROR(
      CheckInternalTopics(app, manifest_ ? &*manifest_ : nullptr, fresh, existing_));
  const bool first = !decided();
  KSTREAM_ASSIGN_OR_RETURN(manifest_,
                           manifest_ ? log_->Change(*manifest_, wanted) : log_->Establish(wanted));
  if (first && manifest_->hash != wanted.hash) {
    return Status::Refused(fmt::format(
        "application {}: another program was started under this id at the same time: its topology "
        "is {}, ours is {}: start this one under another id (-G), or stop the other",
        app, manifest_->hash, wanted.hash));
  }
  Log(LogLevel::kDebug,
      fmt::format("manifest of {} written: incarnation {}", app, manifest_->incarnation));
  return Status::Ok();
}

// Whether the manifest is of a topology of as many stages.
Status Planner::CheckStages() const {
  const size_t recorded = manifest_->stages.size(), ours = state_->graph().stages.size();
  if (recorded == ours) return Status::Ok();
  return Status::Refused(
      fmt::format("application {} has run a topology of {} stages, and this one has {}: give it "
                  "another --app",
                  state_->options.app, recorded, ours));
}

// Another process may have been first, so what stands is what counts.
Status Planner::TakeManifest(Plans* plans) const {
  KSTREAM_RETURN_IF_ERROR(CheckStages());
  if (!safeguards.lead_of_manifest) return Status::Ok();
  for (size_t i = 0; i < plans->size(); i++) {
    StagePlan& plan = (*plans)[i];
    plan.lead = manifest_->stages[i].lead;
    plan.tasks = manifest_->stages[i].tasks;
  }
  return Status::Ok();
}

Status Planner::CheckChangelogs() const {
  if (!manifest_) return Status::Ok();
  const TopologyGraph& graph = state_->graph();
  for (size_t i = 0; i < graph.stages.size(); i++) {
    for (const size_t store : graph.stages[i].stores) {
      KSTREAM_RETURN_IF_ERROR(
          CheckChangelogFits(state_->options.app, *manifest_, i, graph.stores[store]));
    }
  }
  return Status::Ok();
}

Result<std::map<std::string, int32_t>> Planner::InternalTopicsThere() const {
  std::set<std::string> names{ManifestTopic(state_->options.app)};
  for (const InternalTopicNeed& need : InternalTopics(state_->topology, state_->options)) {
    names.insert(need.topic);
  }
  std::map<std::string, int32_t> there;
  for (const std::string& name : names) KSTREAM_RETURN_IF_ERROR(Find(name, &there));
  return there;
}

Status Planner::Find(const std::string& topic, std::map<std::string, int32_t>* existing) const {
  KSTREAM_ASSIGN_OR_RETURN(const std::optional<int32_t> partitions,
                           admins_->Ask("", [&](Admin* admin) { return admin->FindTopic(topic); }));
  if (partitions) existing->emplace(topic, *partitions);
  return Status::Ok();
}

std::vector<InternalTopic> Planner::InternalTopicsInUse() const {
  std::vector<InternalTopic> topics;
  const auto used = [this](const InternalTopic& topic) {
    return topic.kind != InternalTopic::Kind::kChangelog ||
           std::ranges::any_of(state_->graph().stores, [&](const TopologyStore& store) {
             return ChangelogOf(state_->options.app, store) == topic.name;
           });
  };
  std::ranges::copy_if(manifest_->topics, std::back_inserter(topics), used);
  // A task begins with its partition of <app>.tasks, so that comes when the others are there.
  std::stable_partition(topics.begin(), topics.end(), [](const InternalTopic& t) {
    return t.kind != InternalTopic::Kind::kTasks;
  });
  return topics;
}

Status Planner::MakeInternalTopics() {
  const std::vector<InternalTopic> topics = InternalTopicsInUse();
  std::map<std::string, int32_t> existing;
  for (const InternalTopic& topic : topics) KSTREAM_RETURN_IF_ERROR(Find(topic.name, &existing));
  for (const InternalTopic& topic : topics) {
    KSTREAM_RETURN_IF_ERROR(MakeInternalTopic(topic, &existing));
  }
  KSTREAM_RETURN_IF_ERROR(CheckInternalTopics(state_->options.app, &*manifest_, topics, existing));
  return RecordMade(topics);
}

Status Planner::MakeInternalTopic(const InternalTopic& topic,
                                  std::map<std::string, int32_t>* existing) {
  const auto found = existing->find(topic.name);
  if (found == existing->end()) {
    if (topic.made > 0) return ChangelogGone(state_->options.app, topic.name);
    const auto create = [&](Admin* admin) {
      return admin->CreateTopic(topic.name, topic.partitions, kDefaultReplication,
                                SettingsOf(topic.kind));
    };
    return admins_->Ask("", create).status();
  }
  if (topic.kind == InternalTopic::Kind::kChangelog) {
    KSTREAM_ASSIGN_OR_RETURN(const TopicSettings settings, admins_->Ask("", [&](Admin* admin) {
      return admin->TopicConfig(topic.name);
    }));
    KSTREAM_RETURN_IF_ERROR(CheckChangelogSettings(topic.name, settings));
  }
  // With less than it has had already it is another one, as CheckInternalTopics will say.
  if (found->second >= topic.partitions || found->second < topic.made) return Status::Ok();
  found->second = topic.partitions;
  return admins_->Ask(
      "", [&](Admin* admin) { return admin->CreatePartitions(topic.name, topic.partitions); });
}

// Another's change may come first, so it is tried again; who loses each time leaves it to the next
// start.
Status Planner::RecordMade(const std::vector<InternalTopic>& topics) {
  constexpr int kTries = 5;
  for (int i = 0; i < kTries; i++) {
    Manifest wanted = *manifest_;
    for (InternalTopic& topic : wanted.topics) {
      const auto made = std::ranges::find(topics, topic.name, &InternalTopic::name);
      if (topic.kind == InternalTopic::Kind::kChangelog && made != topics.end()) {
        topic.made = std::max(topic.made, made->partitions);
      }
    }
    if (wanted == *manifest_) return Status::Ok();
    KSTREAM_ASSIGN_OR_RETURN(Manifest stands, log_->Change(*manifest_, wanted));
    KSTREAM_RETURN_IF_ERROR(CheckIncarnation(state_->options.app, *manifest_, stands));
    manifest_ = std::move(stands);
  }
  return Status::Ok();
}

}  // namespace kstream::runtime
