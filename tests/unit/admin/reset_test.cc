// A reset over a cluster in memory: what it plans, what it leaves alone, and that it can be begun
// again wherever it ended.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "admin/app_reset.h"
#include "admin/ownership.h"
#include "runtime/manifest.h"
#include "transport/memory/memory_cluster.h"
#include "unit/test_folder.h"

namespace kstream::admin {
namespace {

namespace fs = std::filesystem;
using runtime::InternalTopic;
using runtime::Manifest;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using transport::memory::MemoryCluster;

const SystemClock kTime;

class ResetTest : public testing::Test {
 protected:
  ResetTest() {
    options_.app = "billing";
    options_.state_dir = root_.path() + "/state";
    Topic("orders", 2);
    for (int i = 0; i < 10; i++) Produce("orders", i % 2, "k", "v", 100 * i);
  }

  void Topic(const std::string& topic, int32_t partitions) {
    cluster_.CreateTopic(topic, partitions);
  }
  void Produce(const std::string& topic, int32_t partition, const std::string& key,
               const std::optional<std::string>& value, int64_t timestamp = 1) {
    cluster_.Produce(topic, partition, {.key = key, .value = value, .timestamp = timestamp});
  }
  // An application with a store that has run: its manifest, topics, commits and directory.
  void Ran(const std::string& app, const std::vector<InternalTopic>& topics) {
    Manifest manifest;
    manifest.incarnation = runtime::NewIncarnation();
    manifest.hash = "0123456789abcdef";
    manifest.topics = topics;
    manifest.stores = {"cnt"};
    runtime::ManifestStage stage;
    stage.grouper = "default";
    stage.topics = {{"", "orders", 2}};
    stage.tasks = {{{"", "orders", 0}}, {{"", "orders", 1}}};
    stage.lead = {.topic = "orders", .runs = {{0, 2}}};
    manifest.stages = {stage};
    ASSERT_TRUE(runtime::ManifestLog(&cluster_, app, &kTime).Establish(manifest).ok());
    for (const InternalTopic& topic : topics) Topic(topic.name, topic.partitions);
    cluster_.Commit(app, {{"orders", 0}, 5, "ks1 t=900"});
    cluster_.Commit(app, {{"orders", 1}, 3, ""});
    for (int i = 0; i < 2; i++) {
      const std::string path = options_.state_dir + "/" + app + "/cnt/" + std::to_string(i);
      fs::create_directories(path);
      std::ofstream(path + "/CURRENT") << "rows";
    }
  }
  void BillingRan() {
    Ran("billing", {{"billing-cnt-changelog", 2, InternalTopic::Kind::kChangelog, 2},
                    {"billing-cnt-repartition", 2, InternalTopic::Kind::kRepartition}});
    cluster_.Commit("billing", {{"billing-cnt-repartition", 1}, 7, ""});
  }

  std::unique_ptr<AppReset> NewReset() {
    return std::make_unique<AppReset>(options_, std::make_unique<MemoryCluster>(cluster_), &kTime);
  }
  void To(std::string_view word, std::string_view value = "") {
    const auto target = ResetTarget::Parse(word, value);
    ASSERT_TRUE(target.ok()) << target.status().message();
    options_.target = *target;
  }
  // One line a step.
  static std::string Text(const ResetStep& step) {
    std::string text = std::string(ToString(step.kind)) + " " + step.topic;
    if (step.partition >= 0) text += "[" + std::to_string(step.partition) + "]";
    if (step.after) text += " to " + std::to_string(*step.after);
    return text;
  }
  std::vector<std::string> Plan() {
    std::vector<std::string> text;
    const auto plan = NewReset()->Plan();
    EXPECT_TRUE(plan.ok()) << plan.status().message();
    if (plan.ok()) std::ranges::transform(*plan, std::back_inserter(text), Text);
    return text;
  }
  std::string Refused(StatusCode code) {
    const auto plan = NewReset()->Plan();
    EXPECT_EQ(plan.status().code(), code) << plan.status().message();
    return std::string(plan.status().message());
  }
  // Ends after `most` steps as a crash would.
  Status Execute(size_t most = SIZE_MAX) {
    struct Crash {};
    size_t steps = 0;
    try {
      return NewReset()->Execute([&](const ResetStep&) {
        if (++steps >= most) throw Crash();
        return Status::Ok();
      });
    } catch (const Crash&) {
      return Status::Ok();
    }
  }
  std::vector<std::string> Topics() {
    std::vector<std::string> names;
    const auto found = *(*cluster_.NewAdmin())->Topics("^.");
    for (const auto& [name, count] : found) names.push_back(name);
    return names;
  }
  std::optional<Manifest> ManifestOf(const std::string& app) {
    return *runtime::ManifestLog(&cluster_, app, &kTime).Read();
  }
  std::string Write(const std::string& name, const std::string& text) {
    const std::string path = root_.path() + "/" + name;
    std::ofstream(path) << text;
    return path;
  }

  TestFolder root_;
  MemoryCluster cluster_;
  ResetOptions options_;
};

TEST_F(ResetTest, ThePlanIsWhatTheManifestListsAndNothingOfANeighbour) {
  BillingRan();
  Ran("billing-eu", {{"billing-eu-cnt-changelog", 2, InternalTopic::Kind::kChangelog, 2}});
  Topic("billing-raw-changelog", 1);  // an input made by hand
  cluster_.Commit("billing", {{"billing-raw-changelog", 0}, 0, ""});
  const std::vector<std::string> plan = Plan();
  EXPECT_THAT(plan,
              ElementsAre("delete-topic billing-cnt-changelog",
                          "set-offset billing-raw-changelog[0] to 0", "set-offset orders[0] to 0",
                          "set-offset orders[1] to 0", "forget-offset billing-cnt-repartition[1]",
                          "delete-topic billing-cnt-repartition", "remove-store ", "remove-store ",
                          "new-incarnation billing.kstream"));
  const auto before = Topics();
  EXPECT_EQ(Plan(), plan) << "a plan changes nothing";
  EXPECT_EQ(Topics(), before);

  ASSERT_TRUE(Execute().ok());
  EXPECT_THAT(Topics(), ElementsAre("billing-eu-cnt-changelog", "billing-eu.kstream",
                                    "billing-raw-changelog", "billing.kstream", "orders"));
  EXPECT_TRUE(fs::exists(options_.state_dir + "/billing-eu/cnt/0/CURRENT"));
  EXPECT_EQ(cluster_.Committed("billing-eu", {"orders", 0}), 5);
}

TEST_F(ResetTest, AfterwardsAStartIsAFirstStart) {
  BillingRan();
  const Manifest before = *ManifestOf("billing");
  ASSERT_TRUE(Execute().ok());
  EXPECT_EQ(cluster_.Committed("billing", {"orders", 0}), 0);
  EXPECT_EQ(cluster_.Committed("billing", {"orders", 1}), 0);
  EXPECT_EQ(cluster_.Committed("billing", {"billing-cnt-repartition", 1}), transport::kNoOffset);
  const auto offsets = *(*cluster_.NewAdmin())->GroupOffsets("billing");
  for (const auto& offset : offsets) EXPECT_EQ(offset.metadata, "") << "stream time begins anew";
  EXPECT_FALSE(fs::exists(options_.state_dir + "/billing/cnt/0"));
  const Manifest after = *ManifestOf("billing");
  EXPECT_NE(after.incarnation, before.incarnation);
  EXPECT_EQ(after.replaces, before.incarnation);
  EXPECT_THAT(after.stages, IsEmpty());
  EXPECT_THAT(after.topics, IsEmpty());
}

TEST_F(ResetTest, WhereverItEndsTheNextOneDoesTheRest) {
  for (size_t crash = 1;; crash++) {
    cluster_ = MemoryCluster();
    Topic("orders", 2);
    BillingRan();
    const Manifest before = *ManifestOf("billing");
    const size_t steps = Plan().size();
    ASSERT_TRUE(Execute(crash).ok());
    // Until all is done, a start finds that it cannot go on: its changelog is gone.
    if (crash < steps) {
      EXPECT_EQ(ManifestOf("billing")->incarnation, before.incarnation) << crash;
      EXPECT_FALSE(std::ranges::count(Topics(), "billing-cnt-changelog")) << crash;
    }
    ASSERT_TRUE(Execute().ok()) << crash;
    EXPECT_THAT(Topics(), ElementsAre("billing.kstream", "orders")) << crash;
    EXPECT_NE(ManifestOf("billing")->incarnation, before.incarnation) << crash;
    EXPECT_EQ(cluster_.Committed("billing", {"orders", 0}), 0) << crash;
    EXPECT_FALSE(fs::exists(options_.state_dir + "/billing/cnt/0")) << crash;
    if (crash >= steps) break;
  }
}

TEST_F(ResetTest, MembersThatAreAliveAreListed) {
  BillingRan();
  const auto consumer = *cluster_.NewConsumer({.group = "billing", .instance_id = ""});
  ASSERT_TRUE(consumer->Subscribe({"orders"}).ok());
  EXPECT_THAT(Refused(StatusCode::kRefused),
              HasSubstr("application billing has 1 member: stop it first: "));
  EXPECT_EQ(Execute().code(), StatusCode::kRefused);
  EXPECT_EQ(ManifestOf("billing")->stages.size(), 1u);
  ASSERT_TRUE(consumer->Close().ok());
  EXPECT_TRUE(Execute().ok());
}

TEST_F(ResetTest, AStaticMemberIsToldWithHowLongItStays) {
  BillingRan();
  const auto consumer = *cluster_.NewConsumer({.group = "billing", .instance_id = "host-7"});
  ASSERT_TRUE(consumer->Subscribe({"orders"}).ok());
  ASSERT_TRUE(consumer->Close().ok());
  EXPECT_THAT(Refused(StatusCode::kRefused),
              AllOf(HasSubstr("host-7"), HasSubstr("(static)"), HasSubstr("in 45 s at most")));
  options_.home.consumer = {{"session.timeout.ms", "6000"}};
  EXPECT_THAT(Refused(StatusCode::kRefused), HasSubstr("in 6 s at most"));
  cluster_.ExpireStatic("billing", "host-7");
  EXPECT_THAT(Plan(), SizeIs(testing::Gt(3u)));
}

TEST_F(ResetTest, AnApplicationThatIsNotThereIsNone) {
  BillingRan();
  options_.app = "billin";
  EXPECT_THAT(Refused(StatusCode::kCluster), HasSubstr("there is no application billin"));
  EXPECT_EQ(Execute().code(), StatusCode::kCluster);
  EXPECT_THAT(Topics(), testing::Contains("billing-cnt-changelog"));
}

TEST_F(ResetTest, OneWithoutAManifestHasOffsetsOnly) {
  options_.app = "plain";
  cluster_.Commit("plain", {{"orders", 0}, 5, ""});
  To("to-latest");
  EXPECT_THAT(Plan(), ElementsAre("set-offset orders[0] to 5", "set-offset orders[1] to 5"));
  ASSERT_TRUE(Execute().ok());
  EXPECT_EQ(cluster_.Committed("plain", {"orders", 1}), 5);
  EXPECT_FALSE(ManifestOf("plain"));
}

TEST_F(ResetTest, WithoutAManifestInternalTopicsMustBeAdopted) {
  cluster_.Commit("billing", {{"orders", 0}, 5, ""});
  Ran("billing-eu", {{"billing-eu-cnt-changelog", 2, InternalTopic::Kind::kChangelog, 2}});
  Topic("billing-cnt-changelog", 2);
  Topic("billing-old-changelog", 2);
  Topic("billingx-cnt-changelog", 2);
  EXPECT_THAT(Refused(StatusCode::kRefused),
              HasSubstr("look like its own: billing-cnt-changelog, billing-old-changelog: name"));
  options_.adopt = {"billing-cnt-changelog"};
  EXPECT_THAT(Plan(), ElementsAre("delete-topic billing-cnt-changelog", "set-offset orders[0] to 0",
                                  "set-offset orders[1] to 0"));
  options_.adopt = {"billing-eu-cnt-changelog"};
  EXPECT_THAT(Refused(StatusCode::kRefused),
              HasSubstr("the manifest of application billing-eu lists it"));
  options_.adopt = {"orders"};
  EXPECT_THAT(Refused(StatusCode::kUsage), HasSubstr("no internal topic of billing is called so"));
  options_.adopt = {"billing-gone-changelog"};
  EXPECT_THAT(Refused(StatusCode::kCluster), HasSubstr("there is no such topic"));
}

TEST_F(ResetTest, TargetsInKafkasWords) {
  BillingRan();
  const auto offsets = [this] {
    std::vector<std::string> set;
    for (const std::string& step : Plan()) {
      if (step.starts_with("set-offset")) set.push_back(step.substr(sizeof "set-offset"));
    }
    return set;
  };
  To("to-latest");
  EXPECT_THAT(offsets(), ElementsAre("orders[0] to 5", "orders[1] to 5"));
  To("to-datetime", "1970-01-01T00:00:00.500Z");
  EXPECT_THAT(offsets(), ElementsAre("orders[0] to 3", "orders[1] to 2"));
  To("to-datetime", "500");
  EXPECT_THAT(offsets(), ElementsAre("orders[0] to 3", "orders[1] to 2"));
  To("by-duration", "1h");
  EXPECT_THAT(offsets(), ElementsAre("orders[0] to 5", "orders[1] to 5"));
  To("to-offset", "4");
  EXPECT_THAT(offsets(), ElementsAre("orders[0] to 4", "orders[1] to 4"));
  To("to-offset", "99");
  EXPECT_THAT(offsets(), ElementsAre("orders[0] to 5", "orders[1] to 5"));
  To("shift-by", "-2");
  EXPECT_THAT(offsets(), ElementsAre("orders[0] to 3", "orders[1] to 1"));
  To("shift-by", "9223372036854775807");
  EXPECT_THAT(offsets(), ElementsAre("orders[0] to 5", "orders[1] to 5"));
  To("from-file", Write("offsets", "orders,0,1\r\n\norders,1,2"));
  EXPECT_THAT(offsets(), ElementsAre("orders[0] to 1", "orders[1] to 2"));
}

TEST_F(ResetTest, TargetsThatSayNothingAreRefused) {
  for (const auto& [word, value] :
       std::vector<std::pair<std::string, std::string>>{{"to-offset", "-1"},
                                                        {"to-offset", "x"},
                                                        {"to-offset", ""},
                                                        {"shift-by", "1.5"},
                                                        {"to-datetime", "yesterday"},
                                                        {"to-datetime", "1:2"},
                                                        {"by-duration", "1"},
                                                        {"to-nowhere", ""}}) {
    EXPECT_EQ(ResetTarget::Parse(word, value).status().code(), StatusCode::kUsage) << word << value;
  }
  BillingRan();
  const auto file = [this](const std::string& text) {
    To("from-file", Write("offsets", text));
    return Refused(StatusCode::kUsage);
  };
  EXPECT_THAT(file("orders,0,1\n"), HasSubstr("says nothing of orders[1]"));
  EXPECT_THAT(file("orders,0\n"), HasSubstr(":1: 'orders,0' is not topic,partition,offset"));
  EXPECT_THAT(file("orders,0,1\norders,1,-2\n"), HasSubstr(":2: "));
  EXPECT_THAT(file("orders,0,1\norders,0,1\n"), HasSubstr("orders[0] is there twice"));
  EXPECT_THAT(file("orders,0,1\norders,1,1\nx,0,1\n"), HasSubstr("x[0] is no partition"));
  To("from-file", root_.path() + "/none");
  EXPECT_THAT(Refused(StatusCode::kUsage), HasSubstr("cannot be read"));
  Topic("more", 1);
  cluster_.Commit("billing", {{"more", 0}, 0, ""});
  cluster_.GrowTopic("more", 2);
  To("shift-by", "1");
  EXPECT_THAT(Refused(StatusCode::kUsage), HasSubstr("nothing is committed of more[1]"));
}

TEST_F(ResetTest, ABackupComesFirstAndHoldsWhatIsCommitted) {
  BillingRan();
  Produce("billing-cnt-changelog", 0, "u1", R"({"count":1})", 7);
  const auto transaction = cluster_.BeginTransaction();
  cluster_.Produce("billing-cnt-changelog", 1, {.key = "lost", .value = "0"}, transaction);
  cluster_.EndTransaction(transaction, /*commit=*/false);
  Produce("billing-cnt-changelog", 1, "u2", std::nullopt, 8);
  options_.backup = root_.path() + "/copies/today";
  EXPECT_EQ(Plan().front(), "backup billing-cnt-changelog");
  EXPECT_FALSE(fs::exists(options_.backup)) << "a plan writes nothing";
  ASSERT_TRUE(Execute().ok());
  std::ifstream file(options_.backup + "/billing-cnt-changelog.ndjson");
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  std::ranges::sort(lines);
  EXPECT_THAT(
      lines,
      ElementsAre(
          R"({"topic":"billing-cnt-changelog","partition":0,"offset":0,"tstype":"create","ts":7,"key":"u1","value":{"count":1}})",
          R"({"topic":"billing-cnt-changelog","partition":1,"offset":2,"tstype":"create","ts":8,"key":"u2","payload":null})"));
}

TEST_F(ResetTest, ACopyThatIsThereIsNotOverwrittenAndNothingIsDeleted) {
  BillingRan();
  options_.backup = root_.path() + "/copies";
  fs::create_directories(options_.backup);
  Write("copies/billing-cnt-changelog.ndjson", "precious");
  EXPECT_EQ(Execute().code(), StatusCode::kRefused);
  EXPECT_THAT(Topics(), testing::Contains("billing-cnt-changelog"));
  EXPECT_EQ(cluster_.Committed("billing", {"orders", 0}), 5);
}

TEST_F(ResetTest, ADirectoryInUseIsNotTouched) {
  BillingRan();
  const std::atomic<bool> stop = false;
  auto held = *runtime::StateDirectory::Open(options_.state_dir, "billing", stop);
  EXPECT_THAT(Refused(StatusCode::kState), HasSubstr("is in use by process"));
  EXPECT_EQ(Execute().code(), StatusCode::kState);
  EXPECT_THAT(Topics(), testing::Contains("billing-cnt-changelog"));
  held.reset();
  EXPECT_TRUE(Execute().ok());
}

TEST_F(ResetTest, WhatLiesOnOtherClustersCanOnlyBeginAgain) {
  BillingRan();
  Manifest manifest = *ManifestOf("billing"), next = manifest;
  next.stages[0].topics.push_back({"eu", "orders", 2});
  next.stages[0].tasks[0].push_back({"eu", "orders", 0});
  next.stages[0].tasks[1].push_back({"eu", "orders", 1});
  ASSERT_TRUE(runtime::ManifestLog(&cluster_, "billing", &kTime).Change(manifest, next).ok());
  To("to-latest");
  EXPECT_THAT(Refused(StatusCode::kUsage), HasSubstr("reads from other clusters, too (eu:orders)"));
  To("to-earliest");
  EXPECT_THAT(Plan(), testing::Contains("set-offset orders[0] to 0"));
}

TEST(OwnershipTest, NamesThatCouldBeOfAnApplication) {
  EXPECT_TRUE(LooksInternal("a", "a-x-changelog"));
  EXPECT_TRUE(LooksInternal("a", "a-x-repartition"));
  EXPECT_TRUE(LooksInternal("a", "a.tasks"));
  EXPECT_TRUE(LooksInternal("a", "a-b-x-changelog"));
  EXPECT_FALSE(LooksInternal("a", "ab-x-changelog"));
  EXPECT_FALSE(LooksInternal("a", "a-changelog"));
  EXPECT_FALSE(LooksInternal("a", "a-x-changelogs"));
  EXPECT_FALSE(LooksInternal("a", "a.kstream"));
  EXPECT_FALSE(LooksInternal("a", "a"));
}

}  // namespace
}  // namespace kstream::admin
