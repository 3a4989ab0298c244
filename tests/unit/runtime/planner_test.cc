#include "runtime/planner.h"

#include "runtime/changelogs.h"
#include "runtime/manifest.h"
#include "unit/runtime/memory_run.h"
#include "unit/runtime/processors.h"

namespace kstream::runtime {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const std::string kManifest = "app.kstream", kTasks = "app.tasks",
                  kByKey = "app-by-key-repartition";

class PlannerTest : public MemoryRun {
 protected:
  PlannerTest() {
    options_.app = "app";
    cluster_.CreateTopic("a", 2);
    cluster_.CreateTopic("b", 3);
    cluster_.CreateTopic("out", 1);
  }

  // A process that plans for itself.
  struct Member {
    Member(PlannerTest* test, const Topology& topology) : state(topology, test->options_) {
      test->Prepare(&state);
    }
    std::string Open() { return Said(planner.Open()); }
    const StagePlan& stage(size_t number = 0) const { return planner.plan()->stages[number]; }

    RunState state;
    Admins admins{&state};
    Planner planner{&state, &admins};
  };

  // A stage of one source.
  static Topology Reads(const std::vector<std::string>& topics, const std::string& store = "") {
    TopologyBuilder builder;
    SourceSpec source;
    for (const std::string& topic : topics) source.inputs.push_back(TopicNamed(topic));
    builder.AddSource("in", source).AddProcessor("does", Passes(), {"in"});
    if (!store.empty()) builder.AddStore(store, InMemoryKeyValueStore(), {"does"});
    return *builder.Build();
  }
  // A store that two sources meet in.
  static Topology Join() {
    TopologyBuilder builder;
    builder.AddSource("left", {.inputs = {TopicNamed("a")}})
        .AddSource("right", {.inputs = {TopicNamed("b")}})
        .AddProcessor("join", Passes(), {"left", "right"})
        .AddStore("seen", InMemoryKeyValueStore(), {"join"});
    return *builder.Build();
  }
  static Topology Two() { return *TwoStages({TopicNamed("b")}, TopicNamed("out")).Build(); }

  std::map<std::string, int32_t> TopicsNow() const {
    transport::memory::MemoryCluster cluster = cluster_;
    return *(*cluster.NewAdmin())->Topics("^");
  }
  bool HasTopic(const std::string& topic) const { return TopicsNow().contains(topic); }
  static std::string Text(const TaskLayout& tasks) {
    std::string text;
    for (const auto& task : tasks) {
      for (const InputPartition& p : task) text += p.topic + std::to_string(p.partition) + " ";
      text += "| ";
    }
    return text;
  }
};

TEST_F(PlannerTest, OnePlainInputNeedsNoManifest) {
  Member member(this, Reads({"a"}));
  ASSERT_EQ(member.Open(), "");
  EXPECT_FALSE(HasTopic(kManifest));
  EXPECT_EQ(member.stage().lead, (Lead{"a", {{0, 2}}}));
  EXPECT_EQ(Text(member.stage().tasks), "a0 | a1 | ");

  cluster_.GrowTopic("a", 3);
  EXPECT_TRUE(*member.planner.Refresh(false)) << "everybody finds the same";
  EXPECT_EQ(Text(member.stage().tasks), "a0 | a1 | a2 | ");
  EXPECT_FALSE(*member.planner.Refresh(false));
}

TEST_F(PlannerTest, EverythingElseHasOne) {
  const std::vector<std::tuple<std::string, Topology, std::string>> cases{
      {"two inputs", Reads({"a", "b"}), "default"}, {"a pattern", Reads({"^[ab]$"}), "default"},
      {"a grouper", Reads({"a"}), "single"},        {"a store", Reads({"a"}, "seen"), "default"},
      {"a repartition", Two(), "default"},
  };
  for (const auto& [what, topology, grouper] : cases) {
    options_.grouper = grouper;
    Member member(this, topology);
    ASSERT_EQ(member.Open(), "") << what;
    EXPECT_TRUE(HasTopic(kManifest)) << what;
    for (const std::string& made : {kManifest, kTasks, kByKey}) cluster_.DeleteTopic(made);
  }
}

TEST_F(PlannerTest, WithoutAGroupThereIsNoneAndNoLead) {
  options_.app.clear();
  Member member(this, Two());
  ASSERT_EQ(member.Open(), "");
  EXPECT_THAT(TopicsNow(), testing::SizeIs(3));
  EXPECT_EQ(member.stage(0).lead.topic, "");
  EXPECT_EQ(member.stage(1).tasks.size(), 3u);
}

TEST_F(PlannerTest, ALaterStartTakesWhatTheFirstOneWrote) {
  Member first(this, Reads({"a", "b"}));
  ASSERT_EQ(first.Open(), "");
  EXPECT_EQ(first.stage().lead, (Lead{"b", {{0, 3}}})) << "the one with most partitions";
  EXPECT_EQ(Text(first.stage().tasks), "a0 b0 | a1 b1 | b2 | ");

  // By themselves these counts would give another lead and other tasks.
  cluster_.GrowTopic("a", 4);
  Member later(this, Reads({"a", "b"}));
  ASSERT_EQ(later.Open(), "");
  EXPECT_EQ(later.stage().lead, first.stage().lead);
  EXPECT_EQ(later.stage().tasks, first.stage().tasks);
  EXPECT_EQ(cluster_.Read(kManifest).size(), 1u);
}

TEST_F(PlannerTest, OfTwoThatStartAtOnceBothTakeWhatStands) {
  Member slow(this, Reads({"a", "b"})), fast(this, Reads({"a", "b"}));
  cluster_.HoldAcks(true);
  cluster_.OnIdle([&] {  // `slow` has decided, and waits for what it wrote
    cluster_.OnIdle([this] { clock_->Advance(std::chrono::milliseconds(50)); });
    cluster_.HoldAcks(false);
    cluster_.GrowTopic("a", 4);
    EXPECT_EQ(fast.Open(), "");
  });
  ASSERT_EQ(slow.Open(), "");
  EXPECT_EQ(cluster_.Read(kManifest).size(), 2u) << "both wrote";
  EXPECT_EQ(Text(fast.stage().tasks), "a0 b0 | a1 b1 | a2 b2 | a3 | ");
  EXPECT_EQ(slow.stage().tasks, fast.stage().tasks);
  EXPECT_EQ(slow.stage().lead, fast.stage().lead);
  EXPECT_EQ(slow.stage().lead.topic, "a");
}

TEST_F(PlannerTest, OnlyTheOwnerOfTheFirstTaskMakesItGrow) {
  Member owner(this, Reads({"a", "b"})), other(this, Reads({"a", "b"}));
  ASSERT_EQ(owner.Open(), "");
  ASSERT_EQ(other.Open(), "");
  cluster_.GrowTopic("b", 4);
  EXPECT_TRUE(*other.planner.Refresh(false)) << "it knows the new count";
  const auto known = other.planner.plan();
  EXPECT_FALSE(*other.planner.Refresh(false));
  EXPECT_EQ(other.planner.plan(), known);
  EXPECT_EQ(Text(other.stage().tasks), "a0 b0 | a1 b1 | b2 | ");
  EXPECT_EQ(cluster_.Read(kManifest).size(), 1u);

  EXPECT_TRUE(*owner.planner.Refresh(true));
  EXPECT_EQ(Text(owner.stage().tasks), "a0 b0 | a1 b1 | b2 | b3 | ");
  EXPECT_EQ(owner.stage().lead, (Lead{"b", {{0, 4}}}));
  EXPECT_EQ(cluster_.Read(kManifest).size(), 2u);
  EXPECT_TRUE(*other.planner.Refresh(false));
  EXPECT_EQ(other.stage().tasks, owner.stage().tasks);
  EXPECT_EQ(other.stage().lead, owner.stage().lead);

  EXPECT_FALSE(*owner.planner.Refresh(true));
  EXPECT_EQ(cluster_.Read(kManifest).size(), 2u) << "no news, no record";
}

TEST_F(PlannerTest, APlanIsAnotherOnlyWhenItDiffers) {
  for (const std::string app : {"", "app"}) {
    options_.app = app;
    Member member(this, Two());
    ASSERT_EQ(member.Open(), "");
    const auto first = member.planner.plan();
    EXPECT_FALSE(*member.planner.Refresh(true));
    EXPECT_FALSE(*member.planner.Refresh(false));
    EXPECT_EQ(member.planner.plan(), first) << "threads take nothing up again";
    cluster_.GrowTopic("b", app.empty() ? 4 : 5);
    EXPECT_TRUE(*member.planner.Refresh(true));
    const auto second = member.planner.plan();
    EXPECT_NE(second, first);
    EXPECT_FALSE(*member.planner.Refresh(true));
    EXPECT_EQ(member.planner.plan(), second);
  }
}

TEST_F(PlannerTest, AMemberWhoseApplicationWasResetIsFenced) {
  Member member(this, Reads({"a", "b"}));
  ASSERT_EQ(member.Open(), "");
  cluster_.DeleteTopic(kManifest);
  EXPECT_EQ(member.planner.Refresh(true).status().code(), StatusCode::kFenced);
  Member next(this, Reads({"a", "b"}));
  ASSERT_EQ(next.Open(), "");
  EXPECT_EQ(member.planner.Refresh(true).status().code(), StatusCode::kFenced);
}

TEST_F(PlannerTest, AfterAResetAStartDecidesAsAFirstOne) {
  Member before(this, Reads({"a", "b"}));
  ASSERT_EQ(before.Open(), "");
  const std::string incarnation = before.planner.plan()->incarnation;
  ManifestLog log(&cluster_, "app", clock_.get());
  const Manifest base = **log.Read();
  ASSERT_TRUE(log.Replace(base).ok());
  EXPECT_EQ(before.planner.Refresh(true).status().code(), StatusCode::kFenced);

  // Other stages, other counts: nothing of before holds it.
  cluster_.GrowTopic("a", 4);
  Member after(this, Two());
  ASSERT_EQ(after.Open(), "");
  EXPECT_NE(after.planner.plan()->incarnation, incarnation);
  EXPECT_EQ(TopicsNow().at(kByKey), 3);
  Member second(this, Two());
  ASSERT_EQ(second.Open(), "");
  EXPECT_EQ(second.planner.plan()->incarnation, after.planner.plan()->incarnation);
  Member stranger(this, Reads({"a", "b"}));
  EXPECT_THAT(stranger.Open(), HasSubstr("has run a topology of 2 stages"));
}

TEST_F(PlannerTest, ADryRunAfterAResetFindsNothingDecided) {
  {
    Member before(this, Reads({"a", "b"}));
    ASSERT_EQ(before.Open(), "");
  }
  ManifestLog log(&cluster_, "app", clock_.get());
  const Manifest base = **log.Read();
  ASSERT_TRUE(log.Replace(base).ok());
  options_.dry_run = true;
  Member dry(this, Reads({"a", "b"}));
  EXPECT_THAT(dry.Open(), HasSubstr("has not run yet"));
}

TEST_F(PlannerTest, APatternReadsNothingOfTheApplicationsOwn) {
  cluster_.DeleteTopic("out");
  Member member(this, Reads({"^.*"}));
  ASSERT_EQ(member.Open(), "");
  EXPECT_EQ(TopicsNow().at(kTasks), 3);
  EXPECT_EQ(member.stage().lead, (Lead{kTasks, {{0, 3}}}));
  EXPECT_EQ(Text(member.stage().tasks), "a0 b0 | a1 b1 | b2 | ");
  Topics({"c"});
  EXPECT_TRUE(*member.planner.Refresh(true));
  EXPECT_EQ(Text(member.stage().tasks), "a0 b0 c0 | a1 b1 | b2 | ");
}

TEST_F(PlannerTest, ATopicOfItsOwnIsMadeAfterTheManifestThatNamesIt) {
  cluster_.FailDeliveries(Status::Cluster("lost"));
  EXPECT_THAT(Member(this, Two()).Open(), HasSubstr("lost"));
  EXPECT_FALSE(HasTopic(kByKey));
  cluster_.FailDeliveries(Status::Ok());
  ASSERT_EQ(Member(this, Two()).Open(), "");
  EXPECT_EQ(TopicsNow().at(kByKey), 3);

  // Whoever wrote the manifest died before it made the topic.
  cluster_.DeleteTopic(kByKey);
  ASSERT_EQ(Member(this, Two()).Open(), "");
  EXPECT_EQ(TopicsNow().at(kByKey), 3);
}

TEST_F(PlannerTest, ATopicThatIsNotOursIsRefused) {
  cluster_.CreateTopic(kByKey, 3);
  Member member(this, Two());
  const Status status = member.planner.Open();
  EXPECT_EQ(status.code(), StatusCode::kRefused);
  EXPECT_THAT(Said(status), HasSubstr(kByKey));
  EXPECT_FALSE(HasTopic(kManifest)) << "nothing is left behind";
}

TEST_F(PlannerTest, AnotherTopologyUnderTheSameNameIsRefused) {
  ASSERT_EQ(Member(this, Two()).Open(), "");
  Member member(this, Reads({"a", "b"}));
  const Status status = member.planner.Open();
  EXPECT_EQ(status.code(), StatusCode::kRefused);
  EXPECT_THAT(Said(status), AllOf(HasSubstr("2 stages"), HasSubstr("has 1")));
}

TEST_F(PlannerTest, ARepartitionTopicHasAsManyAsTheLargestStageAboveHasTasks) {
  const Location by_key = Location::Repartition("by-key");
  for (const auto& [first, second] : {std::pair("a", "b"), std::pair("b", "a")}) {
    TopologyBuilder builder;
    builder.AddSource("one", {.inputs = {TopicNamed(first)}})
        .AddSink("from-one", {.output = by_key}, {"one"})
        .AddSource("two", {.inputs = {TopicNamed(second)}})
        .AddSink("from-two", {.output = by_key}, {"two"})
        .AddSource("between", {.inputs = {by_key}})
        .AddSink("out", {.output = TopicNamed("out")}, {"between"});
    ASSERT_EQ(Member(this, *builder.Build()).Open(), "");
    EXPECT_EQ(TopicsNow().at(kByKey), 3) << first;
    for (const std::string& made : {kManifest, kByKey}) cluster_.DeleteTopic(made);
  }
}

TEST_F(PlannerTest, ABroadcastIsAskedOfTheStagesThatReadIt) {
  cluster_.CreateTopic("rules", 2);
  const Topology topology =
      *TwoStages({TopicNamed("b"), TopicNamed("rules")}, TopicNamed("out")).Build();
  options_.grouper = "broadcast:rules";
  for (const std::string app : {"app", ""}) {
    options_.app = app;
    Member first(this, topology), later(this, topology);
    ASSERT_EQ(first.Open(), "") << app;
    ASSERT_EQ(later.Open(), "") << app;
    EXPECT_FALSE(*first.planner.Refresh(true));
    for (const Member* member : {&first, &later}) {
      EXPECT_EQ(Text(member->stage(0).tasks),
                "b0 rules0 rules1 | b1 rules0 rules1 | b2 rules0 rules1 | ");
      EXPECT_EQ(member->stage(1).tasks.size(), 3u);
      EXPECT_EQ(member->stage(0).lead.topic, app.empty() ? "" : kTasks);
      EXPECT_EQ(member->stage(1).lead.topic, app.empty() ? "" : kByKey);
    }
  }
  const Manifest manifest = **ManifestLog(&cluster_, "app", clock_.get()).Read();
  EXPECT_EQ(manifest.stages[0].grouper, "broadcast:rules");
  EXPECT_EQ(manifest.stages[1].grouper, "default");
}

TEST_F(PlannerTest, ABroadcastThatNoStageReadsIsAMistake) {
  options_.grouper = "broadcast:rulez";
  Member member(this, Two());
  const Status status = member.planner.Open();
  EXPECT_EQ(status.code(), StatusCode::kUsage);
  EXPECT_THAT(Said(status), HasSubstr("the inputs are b, " + kByKey));
  EXPECT_THAT(TopicsNow(), testing::SizeIs(3)) << "nothing is left behind";
}

TEST_F(PlannerTest, ARepartitionTopicKeepsItsPartitionsAndSoItsKeys) {
  Member member(this, Two());
  ASSERT_EQ(member.Open(), "");
  EXPECT_TRUE(member.state.IsRepartition("", kByKey));
  EXPECT_TRUE(member.planner.IsOutput({"", kByKey, 0}));
  cluster_.GrowTopic("b", 5);
  EXPECT_TRUE(*member.planner.Refresh(true));
  Member later(this, Two());
  ASSERT_EQ(later.Open(), "");
  for (const Member* each : {&member, &later}) {
    EXPECT_EQ(each->stage(0).tasks.size(), 5u);
    EXPECT_EQ(each->stage(1).tasks.size(), 3u);
  }
  EXPECT_EQ(TopicsNow().at(kByKey), 3);
}

TEST_F(PlannerTest, InputsThatMeetInAStoreHaveEqualCounts) {
  Member member(this, Join());
  const Status status = member.planner.Open();
  EXPECT_EQ(status.code(), StatusCode::kCluster);
  EXPECT_THAT(Said(status),
              AllOf(HasSubstr("a has 2 partitions"), HasSubstr("b has 3 partitions")));
  EXPECT_FALSE(HasTopic(kManifest));

  cluster_.GrowTopic("a", 3);
  Member next(this, Join());
  ASSERT_EQ(next.Open(), "");
  EXPECT_EQ(Text(next.stage().tasks), "a0 b0 | a1 b1 | a2 b2 | ");
}

TEST_F(PlannerTest, AnInputThatGrowsUnderAStoreStopsTheStage) {
  Member member(this, Reads({"a"}, "seen"));
  ASSERT_EQ(member.Open(), "");
  cluster_.GrowTopic("a", 5);
  Member later(this, Reads({"a"}, "seen"));
  for (const Status& status : {member.planner.Refresh(true).status(),
                               member.planner.Refresh(false).status(), later.planner.Open()}) {
    EXPECT_EQ(status.code(), StatusCode::kCluster);
    EXPECT_THAT(Said(status), AllOf(HasSubstr("a had 2 partitions"), HasSubstr("has 5 now")));
  }
}

TEST_F(PlannerTest, WhereARunEndsAndWhatWasThereAreFactsOfItsStart) {
  options_.exit_at_end = true;
  cluster_.Produce("b", 1, {.value = "1"});
  Member member(this, Two());
  ASSERT_EQ(member.Open(), "");
  const std::map<InputPartition, int64_t> ends{
      {{"", "b", 0}, 0}, {{"", "b", 1}, 1}, {{"", "b", 2}, 0}};
  EXPECT_EQ(member.planner.plan()->ends, ends) << "what a stage writes has none yet";
  cluster_.Produce("b", 1, {.value = "2"});
  cluster_.GrowTopic("b", 4);
  EXPECT_TRUE(*member.planner.Refresh(true));
  EXPECT_EQ(member.planner.plan()->ends, ends);
  EXPECT_FALSE(member.planner.plan()->at_start.contains({"", "b", 3}));
  EXPECT_TRUE(member.planner.plan()->at_start.contains({"", "b", 2}));
}

// --- changelogs ---

class ChangelogPlanTest : public PlannerTest {
 protected:
  // A stage of one source with stores that are kept, each for one processor.
  static Topology Keeps(const std::vector<std::string>& topics,
                        const std::vector<StoreSpec>& stores) {
    TopologyBuilder builder;
    SourceSpec source;
    for (const std::string& topic : topics) source.inputs.push_back(TopicNamed(topic));
    builder.AddSource("in", source).AddProcessor("does", Passes(), {"in"});
    for (const StoreSpec& store : stores) builder.AddStore(store, {"does"});
    return *builder.Build();
  }
  static Topology KeepsOne(const std::string& topic = "b") { return Keeps({topic}, {Kept("cnt")}); }
  static StoreSpec Kept(const std::string& name) {
    StoreSpec spec;
    spec.name = name;
    return spec;
  }
  // The stage of TwoStages after the repartition, or the one before it, has the store.
  static Topology TwoWithStore(const std::string& processor) {
    TopologyBuilder builder;
    builder.AddSource("in", {.inputs = {TopicNamed("b")}})
        .AddProcessor("before", Passes(), {"in"})
        .AddSink("to", {.output = Location::Repartition("by-key")}, {"before"})
        .AddSource("between", {.inputs = {Location::Repartition("by-key")}})
        .AddProcessor("after", Passes(), {"between"})
        .AddSink("out", {.output = TopicNamed("out")}, {"after"})
        .AddStore(Kept("cnt"), {processor});
    return *builder.Build();
  }
  std::map<std::string, std::string> Config(const std::string& topic) const {
    transport::memory::MemoryCluster cluster = cluster_;
    return *(*cluster.NewAdmin())->TopicConfig(topic);
  }
  Status Opened(const Topology& topology) { return Member(this, topology).planner.Open(); }
  void ExpectRefused(const Topology& topology, StatusCode code, const std::string& what) {
    const Status status = Opened(topology);
    EXPECT_EQ(status.code(), code) << what;
    EXPECT_THAT(Said(status), HasSubstr(what));
  }
  Manifest Standing() { return **ManifestLog(&cluster_, options_.app, clock_.get()).Read(); }

  const std::string changelog_ = "app-cnt-changelog";
};

TEST_F(ChangelogPlanTest, AStoreHasAChangelogWithAPartitionForEachTask) {
  StoreSpec silent = Kept("silent");
  silent.changelog = false;
  Member member(this, Keeps({"b"}, {Kept("cnt"), Kept("sum"), silent}));
  ASSERT_EQ(member.Open(), "");
  EXPECT_EQ(TopicsNow().at(changelog_), 3);
  EXPECT_EQ(TopicsNow().at("app-sum-changelog"), 3);
  EXPECT_FALSE(HasTopic("app-silent-changelog"));
  EXPECT_EQ(Config(changelog_).at("cleanup.policy"), "compact");
  EXPECT_EQ(Config(changelog_).at("delete.retention.ms"), "604800000");
  const Manifest manifest = Standing();
  EXPECT_THAT(manifest.stores, testing::ElementsAre("cnt", "sum", "silent"));
  EXPECT_EQ(*manifest.Find(changelog_),
            (InternalTopic{changelog_, 3, InternalTopic::Kind::kChangelog, 3}));
  EXPECT_EQ(member.planner.plan()->incarnation, manifest.incarnation);

  ASSERT_EQ(Member(this, Keeps({"b"}, {Kept("cnt"), Kept("sum"), silent})).Open(), "");
  EXPECT_EQ(cluster_.Read(kManifest).size(), 2u) << "a later start has nothing to say";
}

TEST_F(ChangelogPlanTest, EachStageGivesItsStoresItsOwnCount) {
  Member member(this, TwoWithStore("after"));
  ASSERT_EQ(member.Open(), "");
  cluster_.GrowTopic("b", 5);
  EXPECT_TRUE(*member.planner.Refresh(true)) << "the stage without a store takes more";
  EXPECT_EQ(TopicsNow().at(changelog_), 3);
  EXPECT_EQ(member.stage(1).tasks.size(), 3u);
  // The same store, had it been the first stage's, would now lie in other partitions.
  ExpectRefused(TwoWithStore("before"), StatusCode::kState, "3 instances");
}

TEST_F(ChangelogPlanTest, WithoutAGroupThereIsNone) {
  options_.app.clear();
  ASSERT_TRUE(Opened(KeepsOne()).ok());
  EXPECT_THAT(TopicsNow(), testing::SizeIs(3));
}

TEST_F(ChangelogPlanTest, OneThatIsNotOursIsRefused) {
  cluster_.CreateTopic(changelog_, 3, ChangelogSettings());
  ExpectRefused(KeepsOne(), StatusCode::kRefused, changelog_);
  EXPECT_FALSE(HasTopic(kManifest)) << "nothing is left behind";
}

TEST_F(ChangelogPlanTest, NeighboursWhoseNamesRunTogetherDoNotShareOne) {
  options_.app = "billing";
  ASSERT_EQ(Said(Opened(Keeps({"b"}, {Kept("eu-cnt")}))), "");
  options_.app = "billing-eu";
  ExpectRefused(KeepsOne(), StatusCode::kRefused, "billing-eu-cnt-changelog");
  EXPECT_FALSE(HasTopic("billing-eu.kstream"));
}

TEST_F(ChangelogPlanTest, OneThatWasNamedAndNotMadeIsMade) {
  ASSERT_TRUE(Opened(KeepsOne()).ok());
  // The manifest as one left it that died between the two.
  Manifest named = Standing();
  named.topics.front().made = 0;
  named.replaces = named.incarnation;
  named.incarnation = NewIncarnation();
  cluster_.Produce(kManifest, 0, {.key = "manifest", .value = WriteManifest(named)});
  cluster_.DeleteTopic(changelog_);
  ASSERT_EQ(Said(Opened(KeepsOne())), "");
  EXPECT_EQ(TopicsNow().at(changelog_), 3);
  EXPECT_EQ(Standing().Find(changelog_)->made, 3);
}

TEST_F(ChangelogPlanTest, OneThatIsGoneIsLostState) {
  Member member(this, KeepsOne());
  ASSERT_EQ(member.Open(), "");
  cluster_.DeleteTopic(changelog_);
  ExpectRefused(KeepsOne(), StatusCode::kState, changelog_ + " is gone");
  EXPECT_EQ(member.planner.Refresh(true).status().code(), StatusCode::kState);
  EXPECT_FALSE(HasTopic(changelog_)) << "no empty one takes its place";
  // A topology that has no such store any more does not miss it.
  EXPECT_EQ(Said(Opened(Keeps({"b"}, {Kept("sum")}))), "");
}

TEST_F(ChangelogPlanTest, OneWithAnotherCountIsToldWithBoth) {
  ASSERT_TRUE(Opened(KeepsOne()).ok());
  for (const int32_t count : {2, 4}) {
    cluster_.DeleteTopic(changelog_);
    cluster_.CreateTopic(changelog_, count, ChangelogSettings());
    ExpectRefused(KeepsOne(), StatusCode::kCluster,
                  "made with 3 partitions and has " + std::to_string(count));
  }
}

TEST_F(ChangelogPlanTest, OneThatForgetsIsToldWithWhatItMustBe) {
  ASSERT_TRUE(Opened(KeepsOne()).ok());
  for (const auto& [name, value] : {std::pair("cleanup.policy", "delete"),
                                    {"cleanup.policy", "compact,delete"},
                                    {"delete.retention.ms", "86400000"},
                                    {"delete.retention.ms", ""}}) {
    auto settings = ChangelogSettings();
    settings[name] = value;
    cluster_.DeleteTopic(changelog_);
    cluster_.CreateTopic(changelog_, 3, settings);
    ExpectRefused(KeepsOne(), StatusCode::kState, std::string(name) + "=" + value);
  }
  auto longer = ChangelogSettings();
  longer["delete.retention.ms"] = "999999999999";
  cluster_.DeleteTopic(changelog_);
  cluster_.CreateTopic(changelog_, 3, longer);
  EXPECT_EQ(Said(Opened(KeepsOne())), "");
}

TEST_F(ChangelogPlanTest, AnInputThatGrowsStopsTheStageUnlessATaskTakesItIn) {
  ASSERT_TRUE(Opened(KeepsOne()).ok());
  cluster_.GrowTopic("b", 4);
  ExpectRefused(KeepsOne(), StatusCode::kCluster, "b had 3 partitions");

  options_.app = "one";
  options_.grouper = "single";
  Member member(this, KeepsOne());
  ASSERT_EQ(member.Open(), "");
  EXPECT_EQ(TopicsNow().at("one-cnt-changelog"), 1);
  cluster_.GrowTopic("b", 6);
  EXPECT_TRUE(*member.planner.Refresh(true));
  EXPECT_EQ(TopicsNow().at("one-cnt-changelog"), 1);
}

TEST_F(ChangelogPlanTest, ANewTaskHasItsPartitionBeforeItIsGiven) {
  options_.grouper = "by-topic";
  Member member(this, KeepsOne("^[bc]$"));
  ASSERT_EQ(member.Open(), "");
  EXPECT_EQ(TopicsNow().at(changelog_), 1);
  cluster_.CreateTopic("c", 3);
  EXPECT_TRUE(*member.planner.Refresh(true));
  EXPECT_EQ(TopicsNow().at(changelog_), 2);
  EXPECT_EQ(TopicsNow().at(kTasks), 2);
  EXPECT_EQ(Standing().Find(changelog_)->made, 2);
  ASSERT_EQ(Said(Opened(KeepsOne("^[bc]$"))), "");
}

}  // namespace
}  // namespace kstream::runtime
