// Internal topics as they were made, and with one setting altered.
#include "admin/internal_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kstream::admin {
namespace {

using Kind = InternalTopicNeed::Kind;
using Settings = std::map<std::string, std::string>;
using testing::HasSubstr;

const Settings kChangelog = {{"cleanup.policy", "compact"}, {"delete.retention.ms", "604800000"}};
const Settings kRepartition = {{"cleanup.policy", "delete"}, {"retention.ms", "-1"}};

OnlineReport Judged(Kind kind, Settings settings, const Settings& altered = {}) {
  for (const auto& [name, value] : altered) settings[name] = value;
  OnlineReport report;
  JudgeInternalTopic({.kind = kind, .topic = "t"}, settings, &report);
  return report;
}

TEST(InternalSettingsTest, WhatTheRuntimeMadeIsRight) {
  for (const auto& [kind, settings] :
       {std::pair(Kind::kChangelog, kChangelog), std::pair(Kind::kRepartition, kRepartition),
        std::pair(Kind::kManifest, Settings{{"cleanup.policy", "compact"}}),
        std::pair(Kind::kTasks, Settings{{"cleanup.policy", "delete"}})}) {
    const OnlineReport report = Judged(kind, settings);
    EXPECT_TRUE(report.problems.empty()) << ToString(kind);
    EXPECT_TRUE(report.warnings.empty()) << ToString(kind);
  }
}

TEST(InternalSettingsTest, WhatEndsARunIsAProblem) {
  const OnlineReport changelog =
      Judged(Kind::kChangelog, kChangelog, {{"cleanup.policy", "compact,delete"}});
  ASSERT_EQ(changelog.problems.size(), 1u);
  EXPECT_EQ(changelog.problems[0].code(), StatusCode::kState);
  EXPECT_THAT(changelog.problems[0].message(), HasSubstr("must have compact"));

  const OnlineReport repartition =
      Judged(Kind::kRepartition, kRepartition, {{"cleanup.policy", "compact"}});
  ASSERT_EQ(repartition.problems.size(), 1u);
  EXPECT_EQ(repartition.problems[0].code(), StatusCode::kCluster);
  EXPECT_THAT(repartition.problems[0].message(),
              HasSubstr("repartition topic t has cleanup.policy=compact and was made with delete"));
}

TEST(InternalSettingsTest, WhatMayLoseRecordsLaterIsAWarning) {
  const OnlineReport repartition =
      Judged(Kind::kRepartition, kRepartition, {{"retention.ms", "1000"}});
  EXPECT_TRUE(repartition.problems.empty());
  ASSERT_EQ(repartition.warnings.size(), 1u);
  EXPECT_THAT(repartition.warnings[0], HasSubstr("retention.ms=1000"));
  EXPECT_EQ(Judged(Kind::kManifest, {{"cleanup.policy", "delete"}}).warnings.size(), 1u);
}

}  // namespace
}  // namespace kstream::admin
