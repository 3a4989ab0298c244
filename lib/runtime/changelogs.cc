#include "runtime/changelogs.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <limits>
#include <span>

#include "runtime/safeguards.h"

namespace kstream::runtime {
namespace {

constexpr int64_t kDayMs = int64_t{24} * 3600 * 1000;
constexpr int64_t kTombstoneMs = 7 * kDayMs;
// A store that has not looked for nearly as long may have missed a tombstone.
constexpr int64_t kOldestMs = 6 * kDayMs;

std::string Of(const TopicSettings& settings, const std::string& name) {
  const auto found = settings.find(name);
  return found == settings.end() ? "" : found->second;
}

Status Unfit(const std::string& topic, std::string_view name, std::string_view is,
             std::string_view must, std::string_view why) {
  return Status(StatusCode::kState,
                fmt::format("changelog {} has {}={} and must have {}: {}: set it with "
                            "kafka-configs --alter",
                            topic, name, is, must, why));
}

}  // namespace

std::optional<std::string> ChangelogOf(std::string_view app, const TopologyStore& store) {
  if (!store.kept || !store.spec.changelog) return std::nullopt;
  return ChangelogTopic(app, store.name());
}

const TopicSettings& ChangelogSettings() {
  static const TopicSettings kSettings = {
      {"cleanup.policy", "compact"},
      {"delete.retention.ms", fmt::format("{}", kTombstoneMs)},
      {"message.timestamp.type", "CreateTime"},
      {"message.timestamp.before.max.ms", fmt::format("{}", INT64_MAX)},
      {"message.timestamp.after.max.ms", fmt::format("{}", INT64_MAX)}};
  return kSettings;
}

Status CheckChangelogSettings(const std::string& topic, const TopicSettings& found) {
  if (const std::string policy = Of(found, "cleanup.policy"); policy != "compact") {
    return Unfit(topic, "cleanup.policy", policy, "compact",
                 "else the broker deletes state by age");
  }
  const std::string text = Of(found, "delete.retention.ms");
  int64_t retention = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), retention);
  if (error != std::errc() || end != text.data() + text.size() || retention < kTombstoneMs) {
    return Unfit(topic, "delete.retention.ms", text, fmt::format("{} at least", kTombstoneMs),
                 "else deletions are forgotten before every instance has seen them");
  }
  return Status::Ok();
}

Status CheckChangelogFits(std::string_view app, const Manifest& recorded, size_t stage,
                          const TopologyStore& store) {
  const std::optional<std::string> topic = ChangelogOf(app, store);
  const InternalTopic* const changelog = topic ? recorded.Find(*topic) : nullptr;
  if (changelog == nullptr || stage >= recorded.stages.size()) return Status::Ok();
  const size_t tasks = recorded.stages[stage].tasks.size();
  if (static_cast<size_t>(changelog->partitions) == tasks) return Status::Ok();
  return Status(
      StatusCode::kState,
      fmt::format("store {} has {} instances in changelog {}, and its stage has {} tasks: it was "
                  "kept by another stage; give it another name, or start under another application "
                  "id (-G)",
                  store.name(), changelog->partitions, *topic, tasks));
}

int64_t RowTimeOf(const Record& record) {
  for (const Header& header : record.headers) {
    if (header.name != kRowTimeHeader || !header.value) continue;
    int64_t time = 0;
    const char* const end = header.value->data() + header.value->size();
    const auto [read, error] = std::from_chars(header.value->data(), end, time);
    if (error == std::errc() && read == end) return time;
  }
  return record.timestamp;
}

ChangelogRecord::ChangelogRecord(const store::Change& change, int64_t now)
    : time_(fmt::format("{}", change.timestamp)), header_{kRowTimeHeader, time_} {
  record_.key = change.key;
  record_.value = change.value;
  record_.headers = std::span(&header_, 1);
  record_.timestamp = now;
  record_.timestamp_type = TimestampType::kCreateTime;
}

std::string WhyAnew(const store::Checkpoint& at, std::string_view incarnation,
                    transport::Admin::Watermarks log, int64_t now) {
  if (at.incarnation != incarnation && safeguards.incarnation) {
    return "it is of another incarnation of the application";
  }
  if (now - at.written > kOldestMs) {
    return "it was not in use for more than 6 days, and may have missed deletes";
  }
  if (at.offset < log.low) {
    return fmt::format("it stands at offset {}, and the changelog begins at {}", at.offset,
                       log.low);
  }
  return "";
}

Status CheckReaches(const store::Checkpoint& at, std::string_view incarnation,
                    const transport::TopicPartition& changelog, std::string_view store,
                    transport::Admin::Watermarks log, std::string_view app) {
  if (at.incarnation != incarnation || at.offset <= log.high) return Status::Ok();
  return {
      StatusCode::kState,
      fmt::format("store {} has seen {}[{}] up to offset {}, and that ends at {}: records of it "
                  "are gone: bring them back, or reset the application "
                  "(kstream-inspect-state -G {} reset)",
                  store, changelog.topic, changelog.partition, at.offset, log.high, app)};
}

Status ChangelogGone(std::string_view app, const std::string& topic) {
  return Status(
      StatusCode::kState,
      fmt::format(
          "changelog {} is gone, and with it state of application {}: bring it back with its "
          "records, or reset the application (kstream-inspect-state -G {} reset)",
          topic, app, app));
}

}  // namespace kstream::runtime
