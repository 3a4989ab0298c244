// What there is of an application, and what of it a reset may touch.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "admin/app_reset.h"
#include "admin/members.h"
#include "admin/ownership.h"
#include "base/log.h"
#include "base/printable.h"

namespace kstream::admin {
namespace {

using runtime::InternalTopic;
using transport::TopicPartition;

InternalTopic::Kind KindOf(std::string_view topic) {
  if (topic.ends_with("-changelog")) return InternalTopic::Kind::kChangelog;
  if (topic.ends_with("-repartition")) return InternalTopic::Kind::kRepartition;
  return InternalTopic::Kind::kTasks;
}

}  // namespace

Result<AppReset::Facts> AppReset::Look() {
  if (!admin_) {
    KSTREAM_ASSIGN_OR_RETURN(admin_, home_->NewAdmin());
  }
  Facts facts;
  KSTREAM_RETURN_IF_ERROR(LookAtGroup(&facts));
  KSTREAM_ASSIGN_OR_RETURN(facts.manifest,
                           runtime::ManifestLog(home_.get(), options_.app, clock_).Read());
  KSTREAM_RETURN_IF_ERROR(LookAtTopics(&facts));
  KSTREAM_RETURN_IF_ERROR(LookAtDirectory(&facts));
  KSTREAM_RETURN_IF_ERROR(CheckUnlisted(facts));
  KSTREAM_RETURN_IF_ERROR(LookAtInputs(&facts));
  if (facts.manifest || facts.group || !facts.topics.empty() || !facts.stores.empty()) return facts;
  return Status::Cluster(
      fmt::format("there is no application {}: it has no manifest and no group "
                  "on this cluster, and no stores in {}",
                  options_.app, options_.state_dir));
}

Status AppReset::LookAtGroup(Facts* facts) {
  KSTREAM_ASSIGN_OR_RETURN(const auto group, admin_->DescribeGroup(options_.app));
  KSTREAM_RETURN_IF_ERROR(CheckNoMembers(options_.app, group, options_.home));
  KSTREAM_ASSIGN_OR_RETURN(const auto offsets, admin_->GroupOffsets(options_.app));
  for (const auto& offset : offsets) facts->committed[offset.partition] = offset.offset;
  facts->group = !group.state.empty() || !offsets.empty();
  return Status::Ok();
}

Status AppReset::Adopt(const std::string& topic, Facts* facts) {
  if (facts->internal.contains(topic)) return Status::Ok();
  if (!LooksInternal(options_.app, topic)) {
    return Status::Usage(
        fmt::format("--adopt {}: no internal topic of {} is called so", topic, options_.app));
  }
  KSTREAM_ASSIGN_OR_RETURN(const auto owner, OtherOwner(home_.get(), clock_, options_.app, topic));
  if (owner) {
    return Status::Refused(
        fmt::format("--adopt {}: the manifest of application {} lists it", topic, *owner));
  }
  KSTREAM_ASSIGN_OR_RETURN(const auto partitions, admin_->FindTopic(topic));
  if (!partitions) return Status::Cluster(fmt::format("--adopt {}: there is no such topic", topic));
  facts->internal.insert(topic);
  facts->topics.push_back({topic, *partitions, KindOf(topic), 0});
  return Status::Ok();
}

Status AppReset::LookAtTopics(Facts* facts) {
  facts->internal = {runtime::ManifestTopic(options_.app), runtime::TasksTopic(options_.app)};
  if (facts->manifest) {
    for (const InternalTopic& topic : facts->manifest->topics) {
      facts->internal.insert(topic.name);
      KSTREAM_ASSIGN_OR_RETURN(const auto partitions, admin_->FindTopic(topic.name));
      if (partitions) facts->topics.push_back(topic);
    }
  }
  for (const std::string& topic : options_.adopt) KSTREAM_RETURN_IF_ERROR(Adopt(topic, facts));
  return Status::Ok();
}

// Without a manifest nobody knows whose these are; inputs are the group's for sure.
Status AppReset::CheckUnlisted(const Facts& facts) {
  if (facts.manifest || !options_.adopt.empty()) return Status::Ok();
  KSTREAM_ASSIGN_OR_RETURN(std::vector<std::string> unclaimed,
                           Unclaimed(home_.get(), clock_, options_.app));
  std::erase_if(unclaimed, [&](const std::string& topic) {
    return std::ranges::any_of(facts.committed,
                               [&](const auto& entry) { return entry.first.topic == topic; });
  });
  if (unclaimed.empty()) return Status::Ok();
  return Status::Refused(fmt::format(
      "application {} has no manifest, and these topics look like its own: {}: name those that are "
      "with --adopt, each, and the others stay",
      options_.app, fmt::join(unclaimed, ", ")));
}

Status AppReset::LookAtInputs(Facts* facts) {
  std::set<std::string> topics;
  for (const auto& [partition, offset] : facts->committed) topics.insert(partition.topic);
  std::set<std::string> elsewhere;
  if (facts->manifest) {
    for (const runtime::ManifestStage& stage : facts->manifest->stages) {
      for (const InputTopic& input : stage.topics) {
        (input.cluster.empty() ? topics : elsewhere)
            .insert(input.cluster.empty() ? input.topic
                                          : fmt::format("{}:{}", input.cluster, input.topic));
      }
    }
  }
  if (!elsewhere.empty() && options_.target.kind != ResetTarget::Kind::kEarliest) {
    return Status::Usage(fmt::format(
        "the application reads from other clusters, too ({}): what it has read there is forgotten "
        "by a reset, so only --to-earliest says the same for all inputs",
        fmt::join(elsewhere, ", ")));
  }
  for (const std::string& topic : topics) {
    if (facts->internal.contains(topic)) continue;
    KSTREAM_ASSIGN_OR_RETURN(const auto partitions, admin_->FindTopic(topic));
    for (int32_t i = 0; i < partitions.value_or(0); i++) {
      const TopicPartition name{topic, i};
      const auto found = facts->committed.find(name);
      facts->inputs[name] =
          found == facts->committed.end() ? std::nullopt : std::optional(found->second);
    }
  }
  return Status::Ok();
}

Status AppReset::LookAtDirectory(Facts* facts) {
  KSTREAM_ASSIGN_OR_RETURN(const auto apps, runtime::ListApplications(options_.state_dir));
  if (std::ranges::find(apps, options_.app) == apps.end()) return Status::Ok();
  KSTREAM_ASSIGN_OR_RETURN(facts->stores, runtime::ListStores(options_.state_dir, options_.app));
  if (directory_ != nullptr) return Status::Ok();
  KSTREAM_ASSIGN_OR_RETURN(const auto holder, runtime::HolderOf(options_.state_dir, options_.app));
  if (!holder) return Status::Ok();
  return {StatusCode::kState, fmt::format("state directory {}/{} is in use by {}: stop it first",
                                          options_.state_dir, options_.app, *holder)};
}

}  // namespace kstream::admin
