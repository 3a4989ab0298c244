// Tested by tests/unit/admin/internal_settings_test.cc.
#include "admin/internal_settings.h"

#include <fmt/format.h>

#include "runtime/changelogs.h"

namespace kstream::admin {
namespace {

using Kind = InternalTopicNeed::Kind;
using Settings = std::map<std::string, std::string>;

std::string Get(const Settings& settings, const char* name) {
  const auto found = settings.find(name);
  return found == settings.end() ? "" : found->second;
}

std::string Altered(const InternalTopicNeed& need, std::string_view name, std::string_view is,
                    std::string_view must, std::string_view why) {
  return fmt::format(
      "{} topic {} has {}={} and was made with {}: {}: set it with kafka-configs "
      "--alter",
      ToString(need.kind), need.topic, name, is, must, why);
}

void JudgeRepartition(const InternalTopicNeed& need, const Settings& settings,
                      OnlineReport* report) {
  if (const std::string policy = Get(settings, "cleanup.policy"); policy != "delete") {
    // Brokers let nobody purge it then, and so the run ends.
    report->problems.push_back(Status::Cluster(
        Altered(need, "cleanup.policy", policy, "delete",
                "of records of one key that wait to be read only the last would be sure to stay")));
  }
  if (const std::string retention = Get(settings, "retention.ms"); retention != "-1") {
    report->warnings.push_back(Altered(need, "retention.ms", retention, "-1",
                                       "records that wait for longer to be read are lost"));
  }
}

}  // namespace

void JudgeInternalTopic(const InternalTopicNeed& need, const Settings& settings,
                        OnlineReport* report) {
  if (need.kind == Kind::kChangelog) {
    Status status = runtime::CheckChangelogSettings(need.topic, settings);
    if (!status.ok()) report->problems.push_back(std::move(status));
  } else if (need.kind == Kind::kRepartition) {
    JudgeRepartition(need, settings, report);
  } else if (need.kind == Kind::kManifest) {
    const std::string policy = Get(settings, "cleanup.policy");
    if (policy == "compact") return;
    report->warnings.push_back(Altered(need, "cleanup.policy", policy, "compact",
                                       "else what the application knows of itself is lost by age"));
  }
}

}  // namespace kstream::admin
