#include "admin/app_reset.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <thread>
#include <utility>

#include "admin/backup.h"
#include "admin/home.h"
#include "base/log.h"

namespace kstream {
std::string_view ToString(ResetStep::Kind kind) {
  constexpr std::string_view kNames[] = {"backup",        "delete-topic", "set-offset",
                                         "forget-offset", "remove-store", "new-incarnation"};
  return kNames[static_cast<size_t>(kind)];
}

Reset::~Reset() = default;

Result<std::unique_ptr<Reset>> Reset::Open(ResetOptions options) {
  KSTREAM_RETURN_IF_ERROR(runtime::CheckFileName("application", options.app));
  if (options.home.brokers.empty()) {
    return Status::Usage("reset needs --brokers: what is reset is on the cluster first");
  }
  KSTREAM_ASSIGN_OR_RETURN(auto home, admin::OpenHome(options.home));
  static const SystemClock clock;
  return std::unique_ptr<Reset>(
      std::make_unique<admin::AppReset>(std::move(options), std::move(home), &clock));
}

namespace admin {
namespace {

using Kind = ResetStep::Kind;
using runtime::InternalTopic;
using transport::PartitionOffset;
using transport::TopicPartition;

constexpr std::chrono::seconds kGoneLimit{30};

}  // namespace

AppReset::AppReset(ResetOptions options, std::unique_ptr<transport::Cluster> home,
                   const Clock* clock)
    : options_(std::move(options)), home_(std::move(home)), clock_(clock) {}

AppReset::~AppReset() = default;

Result<std::vector<ResetStep>> AppReset::Plan() {
  KSTREAM_ASSIGN_OR_RETURN(const Facts facts, Look());
  KSTREAM_ASSIGN_OR_RETURN(const auto targets,
                           Resolve(options_.target, facts.inputs, admin_.get()));
  std::vector<ResetStep> backups, changelogs, offsets, others, stores;
  for (const InternalTopic& topic : facts.topics) {
    const bool changelog = topic.kind == InternalTopic::Kind::kChangelog;
    if (changelog && !options_.backup.empty()) {
      backups.push_back({.kind = Kind::kBackup,
                         .topic = topic.name,
                         .path = BackupPath(options_.backup, topic.name)});
    }
    (changelog ? changelogs : others).push_back({.kind = Kind::kDeleteTopic, .topic = topic.name});
  }
  for (const auto& [name, offset] : targets) {
    offsets.push_back({.kind = Kind::kSetOffset,
                       .topic = name.topic,
                       .partition = name.partition,
                       .before = facts.inputs.at(name),
                       .after = offset});
  }
  // Of topics of our own, and of inputs that are gone.
  for (const auto& [name, offset] : facts.committed) {
    if (facts.inputs.contains(name)) continue;
    offsets.push_back({.kind = Kind::kForgetOffset,
                       .topic = name.topic,
                       .partition = name.partition,
                       .before = offset});
  }
  for (const auto& store : facts.stores) {
    stores.push_back({.kind = Kind::kRemoveStore, .path = store.path});
  }
  std::vector<ResetStep> plan;
  for (auto* part : {&backups, &changelogs, &offsets, &others, &stores}) {
    std::ranges::move(*part, std::back_inserter(plan));
  }
  if (facts.manifest) {
    plan.push_back({.kind = Kind::kNewIncarnation, .topic = runtime::ManifestTopic(options_.app)});
  }
  return plan;
}

Status AppReset::Execute(const std::function<Status(const ResetStep&)>& done) {
  // Members are told of before the directory that one of them may have.
  KSTREAM_RETURN_IF_ERROR(Plan().status());
  std::error_code error;
  if (std::filesystem::exists(fmt::format("{}/{}", options_.state_dir, options_.app), error)) {
    const std::atomic<bool> stop = false;
    KSTREAM_ASSIGN_OR_RETURN(directory_,
                             runtime::StateDirectory::Open(options_.state_dir, options_.app, stop,
                                                           std::chrono::milliseconds(0)));
  }
  KSTREAM_ASSIGN_OR_RETURN(const std::vector<ResetStep> plan, Plan());
  bool set = false;
  for (const ResetStep& step : plan) {
    if (step.kind != Kind::kSetOffset && step.kind != Kind::kForgetOffset) {
      KSTREAM_RETURN_IF_ERROR(Do(step));
      KSTREAM_RETURN_IF_ERROR(done(step));
    } else if (!std::exchange(set, true)) {
      KSTREAM_RETURN_IF_ERROR(SetOffsets(plan, done));
    }
  }
  directory_.reset();
  return Status::Ok();
}

Status AppReset::SetOffsets(const std::vector<ResetStep>& plan,
                            const std::function<Status(const ResetStep&)>& done) {
  std::vector<PartitionOffset> inputs;
  std::vector<TopicPartition> forgotten;
  for (const ResetStep& step : plan) {
    const TopicPartition name{step.topic, step.partition};
    if (step.kind == Kind::kSetOffset) inputs.push_back({name, *step.after, ""});
    if (step.kind == Kind::kForgetOffset) forgotten.push_back(name);
  }
  KSTREAM_RETURN_IF_ERROR(admin_->DeleteGroupOffsets(options_.app, forgotten));
  KSTREAM_RETURN_IF_ERROR(admin_->SetGroupOffsets(options_.app, inputs));
  for (const ResetStep& step : plan) {
    if (step.kind != Kind::kSetOffset && step.kind != Kind::kForgetOffset) continue;
    KSTREAM_RETURN_IF_ERROR(done(step));
  }
  return Status::Ok();
}

Status AppReset::Do(const ResetStep& step) {
  switch (step.kind) {
    case Kind::kBackup:
      return Backup(home_.get(), *clock_, step.topic, step.path);
    case Kind::kDeleteTopic:
      return DeleteTopic(step.topic);
    case Kind::kRemoveStore: {
      std::error_code error;
      std::filesystem::remove_all(step.path, error);
      if (!error) return Status::Ok();
      return {StatusCode::kState,
              fmt::format("{}: cannot be removed: {}", step.path, error.message())};
    }
    default:
      return NewIncarnation();
  }
}

// Whoever starts next must not find it.
Status AppReset::DeleteTopic(const std::string& topic) {
  KSTREAM_RETURN_IF_ERROR(admin_->DeleteTopic(topic));
  const auto end = clock_->Steady() + kGoneLimit;
  for (;;) {
    KSTREAM_ASSIGN_OR_RETURN(const auto found, admin_->FindTopic(topic));
    if (!found) return Status::Ok();
    if (clock_->Steady() >= end) {
      return Status::Cluster(
          fmt::format("topic {} was deleted but does not go: may topics be "
                      "deleted there (delete.topic.enable)? Reset again",
                      topic));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

Status AppReset::NewIncarnation() {
  runtime::ManifestLog log(home_.get(), options_.app, clock_);
  KSTREAM_ASSIGN_OR_RETURN(const auto found, log.Read());
  if (!found) return Status::Ok();
  return log.Replace(*found).status();
}

}  // namespace admin
}  // namespace kstream
