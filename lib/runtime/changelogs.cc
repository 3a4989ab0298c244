#include "runtime/changelogs.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <limits>

namespace kstream::runtime {
namespace {

constexpr int64_t kTombstoneMs = int64_t{7} * 24 * 3600 * 1000;

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

Status ChangelogGone(std::string_view app, const std::string& topic) {
  return Status(
      StatusCode::kState,
      fmt::format("changelog {} is gone, and with it state of application {}: bring it back, or "
                  "reset the application (kstream-inspect-state -G {} reset)",
                  topic, app, app));
}

}  // namespace kstream::runtime
