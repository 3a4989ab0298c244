// The topic of manifests, which record of it stands, and the topics that a manifest names.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "runtime/manifest.h"

namespace kstream::runtime {
namespace {

using transport::TopicPartition;

constexpr std::string_view kKey = "manifest";
constexpr size_t kLongestTopic = 249;  // as brokers have it

// The rule of manifest.h.
bool TakesPlace(const Manifest& next, const std::optional<Manifest>& standing) {
  if (!standing) return true;
  if (next.incarnation == standing->incarnation) return next.revision > standing->revision;
  return next.replaces == standing->incarnation;
}

// Lets the records of the topic stand one after the other.
class Standing {
 public:
  Status See(const Record& record) {
    if (record.key != kKey) return Status::Ok();
    const std::string where =
        fmt::format("topic {} partition 0 offset {}", record.topic, record.offset);
    if (!record.value) {
      return Status(StatusCode::kState, where +
                                            ": the manifest was deleted by hand: delete the "
                                            "topic too, or start under another application id "
                                            "(-G)");
    }
    Result<Manifest> next = ParseManifest(*record.value);
    if (!next.ok()) return next.status().At(where);
    if (TakesPlace(*next, standing_)) standing_ = *std::move(next);
    return Status::Ok();
  }
  std::optional<Manifest> Take() && { return std::move(standing_); }

 private:
  std::optional<Manifest> standing_;
};

// Of a topic that was there before the application: nothing may be lost from it, and all must read
// it in one order.
Status CheckOwnTopic(transport::Admin* admin, const std::string& topic) {
  KSTREAM_ASSIGN_OR_RETURN(const auto counts, admin->Topics(topic));
  KSTREAM_ASSIGN_OR_RETURN(auto settings, admin->TopicConfig(topic));
  const int32_t partitions = counts.at(topic);
  const std::string& policy = settings["cleanup.policy"];
  if (partitions == 1 && policy == "compact") return Status::Ok();
  return Status::Refused(fmt::format(
      "topic {} was there before the application and cannot hold its manifest: it has {} "
      "partition{} and cleanup.policy={}, and needs 1 and cleanup.policy=compact: delete the topic "
      "if nobody needs it, or start under another application id (-G)",
      topic, partitions, partitions == 1 ? "" : "s", policy));
}

}  // namespace

std::string ManifestTopic(std::string_view app) { return fmt::format("{}.kstream", app); }
std::string TasksTopic(std::string_view app) { return fmt::format("{}.tasks", app); }
std::string ChangelogTopic(std::string_view app, std::string_view store) {
  return fmt::format("{}-{}-changelog", app, store);
}
std::string RepartitionTopic(std::string_view app, std::string_view node) {
  return fmt::format("{}-{}-repartition", app, node);
}

int32_t Lead::tasks() const {
  return std::accumulate(runs.begin(), runs.end(), 0,
                         [](int32_t sum, const Run& run) { return sum + run.count; });
}

int32_t Lead::PartitionOf(int32_t task) const {
  for (const Run& run : runs) {
    if (task < run.count) return run.first + task;
    task -= run.count;
  }
  return -1;
}

std::optional<int32_t> Lead::TaskOf(int32_t lead_partition) const {
  int32_t task = 0;
  for (const Run& run : runs) {
    if (lead_partition >= run.first && lead_partition - run.first < run.count) {
      return task + lead_partition - run.first;
    }
    task += run.count;
  }
  return std::nullopt;
}

void Lead::Grow(int32_t first, int32_t count) {
  if (!runs.empty() && runs.back().first + runs.back().count == first) {
    runs.back().count += count;
  } else {
    runs.push_back({first, count});
  }
}

const InternalTopic* Manifest::Find(std::string_view topic) const {
  const auto found = std::ranges::find(topics, topic, &InternalTopic::name);
  return found == topics.end() ? nullptr : &*found;
}

Status CheckInternalName(std::string_view app, std::string_view topic) {
  constexpr std::string_view kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  if (app.empty() || app.find_first_not_of(kAllowed) != std::string_view::npos) {
    return Status::Usage(
        fmt::format("application id \"{}\" (-G): its internal topics are called after it, so it "
                    "may have only letters of ASCII, digits and . _ -",
                    app));
  }
  if (topic.find_first_not_of(kAllowed) != std::string_view::npos) {
    return Status::Usage(
        fmt::format("\"{}\" would be an internal topic, and its name may have only letters of "
                    "ASCII, digits and . _ -: choose another name for what it is called after",
                    topic));
  }
  if (topic.size() > kLongestTopic) {
    return Status::Usage(
        fmt::format("application id \"{}\" (-G): internal topic {} would have {} characters, {} "
                    "are allowed: choose a shorter one",
                    app, topic, topic.size(), kLongestTopic));
  }
  return Status::Ok();
}

Status CheckInternalTopics(std::string_view app, const Manifest* recorded,
                           const std::vector<InternalTopic>& wanted,
                           const std::map<std::string, int32_t>& existing) {
  for (const InternalTopic& topic : wanted) {
    const auto found = existing.find(topic.name);
    if (found == existing.end()) continue;
    const InternalTopic* const ours = recorded == nullptr ? nullptr : recorded->Find(topic.name);
    if (ours == nullptr) {
      return Status::Refused(fmt::format(
          "topic {} exists, and application {} has not made it ({}): start under another "
          "application id (-G), or delete the topic if nobody needs it",
          topic.name, app,
          recorded == nullptr ? "it has no manifest" : "its manifest does not list it"));
    }
    if (found->second != ours->partitions) {
      return Status::Cluster(fmt::format(
          "internal topic {} was made with {} partitions and has {} now: start under another "
          "application id (-G)",
          topic.name, ours->partitions, found->second));
    }
  }
  return Status::Ok();
}

Status CheckIncarnation(std::string_view app, const Manifest& mine,
                        const std::optional<Manifest>& found) {
  if (found && found->incarnation == mine.incarnation) return Status::Ok();
  return Status(StatusCode::kFenced,
                fmt::format("application {} was reset while this member ran ({}): start it again",
                            app, found ? "its manifest is another" : "its manifest is gone"));
}

ManifestLog::ManifestLog(transport::Cluster* home, std::string app, const Clock* clock,
                         std::chrono::milliseconds limit)
    : home_(home),
      app_(std::move(app)),
      topic_(ManifestTopic(app_)),
      clock_(clock),
      limit_(limit) {}

Result<std::optional<Manifest>> ManifestLog::Read() {
  KSTREAM_ASSIGN_OR_RETURN(const auto admin, home_->NewAdmin());
  KSTREAM_ASSIGN_OR_RETURN(const std::optional<int32_t> partitions, admin->FindTopic(topic_));
  if (!partitions) return std::optional<Manifest>();
  const TopicPartition partition{topic_, 0};
  KSTREAM_ASSIGN_OR_RETURN(const auto offsets, admin->Offsets(std::vector{partition}));
  const auto marks = offsets.at(partition);

  KSTREAM_ASSIGN_OR_RETURN(const auto consumer, home_->NewConsumer({}));
  KSTREAM_RETURN_IF_ERROR(consumer->Assign(std::vector{
      transport::PartitionOffset{.partition = partition, .offset = marks.low, .metadata = {}}}));
  const auto batch = consumer->NewBatch();
  const auto end = clock_->Steady() + limit_;
  Standing standing;
  for (int64_t position = marks.low; position < marks.high;) {
    KSTREAM_RETURN_IF_ERROR(consumer->Poll(std::chrono::milliseconds(100), batch.get()));
    for (const Record& record : batch->records) {
      KSTREAM_RETURN_IF_ERROR(standing.See(record));
      position = record.offset + 1;
    }
    for (const auto& reached : batch->ends) position = std::max(position, reached.offset);
    if (position < marks.high && clock_->Steady() >= end) {
      return Status::Cluster(
          fmt::format("{}: read up to {} of {} only in {} ms: is a transaction open there?", topic_,
                      position, marks.high, limit_.count()));
    }
  }
  KSTREAM_RETURN_IF_ERROR(consumer->Close());
  return std::move(standing).Take();
}

Result<Manifest> ManifestLog::Establish(Manifest proposal) {
  KSTREAM_RETURN_IF_ERROR(CheckInternalName(app_, topic_));
  KSTREAM_ASSIGN_OR_RETURN(const auto admin, home_->NewAdmin());
  // Both lags, as the broker's own largest one may be less than the least one here.
  const std::string never = fmt::format("{}", INT64_MAX);
  KSTREAM_ASSIGN_OR_RETURN(const bool made, admin->CreateTopic(topic_, 1, /*replication_factor=*/-1,
                                                               {{"cleanup.policy", "compact"},
                                                                {"min.compaction.lag.ms", never},
                                                                {"max.compaction.lag.ms", never}}));
  if (!made) KSTREAM_RETURN_IF_ERROR(CheckOwnTopic(admin.get(), topic_));
  KSTREAM_ASSIGN_OR_RETURN(std::optional<Manifest> standing, Read());
  if (standing) return *std::move(standing);
  return Write(proposal);
}

Result<Manifest> ManifestLog::Change(const Manifest& base, Manifest next) {
  next.incarnation = base.incarnation;
  next.revision = base.revision + 1;
  next.replaces = base.replaces;
  return Write(next);
}

Result<Manifest> ManifestLog::Replace(const Manifest& base) {
  Manifest next;
  next.incarnation = NewIncarnation();
  next.replaces = base.incarnation;
  return Write(next);
}

Result<Manifest> ManifestLog::Write(const Manifest& manifest) {
  KSTREAM_ASSIGN_OR_RETURN(const auto producer, home_->NewProducer());
  KSTREAM_ASSIGN_OR_RETURN(transport::Producer::Topic * topic, producer->Open(topic_));
  const std::string json = WriteManifest(manifest);
  Record record;
  record.key = kKey;
  record.value = json;
  record.timestamp = clock_->WallMs();
  record.timestamp_type = TimestampType::kCreateTime;
  KSTREAM_RETURN_IF_ERROR(producer->Send(topic, 0, record, 0));
  KSTREAM_RETURN_IF_ERROR(producer->Flush(limit_));
  KSTREAM_RETURN_IF_ERROR(producer->failure());
  KSTREAM_ASSIGN_OR_RETURN(std::optional<Manifest> standing, Read());
  if (!standing)
    return Status::Cluster(topic_ + ": what was written is not there: was it deleted?");
  return *std::move(standing);
}

}  // namespace kstream::runtime
