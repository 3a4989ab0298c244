#include "runtime/manifest.h"

#include <gmock/gmock.h>

#include "runtime/layout.h"
#include "transport/memory/memory_cluster.h"

namespace kstream::runtime {
namespace {

using std::chrono::milliseconds;
using testing::AllOf;
using testing::HasSubstr;
using transport::memory::MemoryCluster;

const std::string kA(32, 'a'), kB(32, 'b');

// Moves on by itself, so that waiting ends without time.
class TickingClock final : public Clock {
 public:
  int64_t WallMs() const override { return 1'700'000'000'000; }
  Instant Steady() const override { return now_ += milliseconds(100); }

 private:
  mutable Instant now_;
};

ManifestStage StageOf(const std::string& grouper, const std::vector<InputTopic>& topics) {
  ManifestStage stage;
  stage.grouper = grouper;
  stage.topics = topics;
  stage.tasks = *LayOut(*GrouperChoice::Parse(grouper), topics, nullptr, {});
  stage.lead = {.topic = "shop.tasks", .runs = {{0, static_cast<int32_t>(stage.tasks.size())}}};
  return stage;
}

Manifest Example(const std::string& incarnation = kA) {
  Manifest manifest;
  manifest.incarnation = incarnation;
  manifest.version = 3;
  manifest.hash = "0123456789abcdef";
  manifest.stages = {StageOf("default", {{"", "orders", 4}, {"east", "clicks", 2}})};
  manifest.topics = {{"shop.tasks", 4, InternalTopic::Kind::kTasks},
                     {"shop-counts-changelog", 4, InternalTopic::Kind::kChangelog},
                     {"shop-by-user-repartition", 2, InternalTopic::Kind::kRepartition}};
  manifest.stores = {"counts"};
  return manifest;
}

std::string Message(const Status& status) { return std::string(status.message()); }

TEST(ManifestTextTest, ComesBackAsItWas) {
  Manifest manifest = Example();
  manifest.revision = 7;
  manifest.replaces = kB;
  manifest.version = INT64_MIN;
  manifest.stages.push_back(StageOf("single", {{"", "b", 3}, {"", "a", 2}}));
  manifest.stages.push_back(StageOf("by-topic", {{"", "b", 3}, {"", "a", 1}}));
  manifest.stages.push_back(StageOf("broadcast:r", {{"", "r", 2}, {"", "a", 3}}));
  manifest.stages.back().lead.Grow(9, 0);
  manifest.stages.back().lead.runs = {{4, 1}, {9, 2}};
  const Result<Manifest> read = ParseManifest(WriteManifest(manifest));
  ASSERT_TRUE(read.ok()) << Message(read.status());
  EXPECT_EQ(*read, manifest);
}

TEST(ManifestTextTest, ALayoutByHandComesBackToo) {
  Manifest manifest = Example();
  ManifestStage& stage = manifest.stages[0];
  stage.topics = {{"", "a", 5}};
  stage.tasks = {{{"", "a", 0}, {"", "a", 3}, {"", "a", 4}},
                 {{"", "a", 1}, {"", "a", 4}},
                 {{"", "a", 0}, {"", "a", 2}}};
  stage.lead.runs = {{0, 3}};
  const Result<Manifest> read = ParseManifest(WriteManifest(manifest));
  ASSERT_TRUE(read.ok()) << Message(read.status());
  EXPECT_EQ(*read, manifest);
}

TEST(ManifestTextTest, AThousandTasksAreFewWords) {
  Manifest manifest = Example();
  manifest.stages = {StageOf("default", {{"", "a", 1000}, {"", "b", 1000}}),
                     StageOf("single", {{"", "a", 1000}})};
  EXPECT_LT(WriteManifest(manifest).size(), 1500u);
}

TEST(ManifestTextTest, ANewerOneIsNotGuessedAt) {
  const Result<Manifest> read = ParseManifest(R"({"format":2,"anything":[]})");
  EXPECT_EQ(read.status().code(), StatusCode::kState);
  EXPECT_THAT(Message(read.status()), HasSubstr("written by a newer kstream"));
}

// Each mistake alone must be found: what it is put into parses without it.
TEST(ManifestTextTest, DamageIsFound) {
  const auto text = [](std::string stage, std::string topics, std::string head) {
    return R"({"format":1,"incarnation":")" + kA + R"(",)" + head + R"("stages":[{)" + stage +
           R"(}],"topics":[)" + topics + R"(],"stores":["s"]})";
  };
  const std::string head = R"("revision":0,"replaces":"","version":0,"hash":"h",)";
  const std::string topics = R"({"name":"t","partitions":2,"kind":"changelog"})";
  const std::string lead = R"("grouper":"default","lead":"in","lead_runs":[[0,2]],)";
  const std::string in = R"("topics":[{"cluster":"","topic":"in","partitions":2}],)";
  const std::string layout = R"("layout":[[0,0,2,0,1]])";
  ASSERT_TRUE(ParseManifest(text(lead + in + layout, topics, head)).ok());

  std::vector<std::string> damaged{"",
                                   "{",
                                   "null",
                                   "[]",
                                   "{}",
                                   R"({"format":0})",
                                   R"({"format":"1"})",
                                   R"({"format":1.0})",
                                   "\xff",
                                   std::string(100'000, '[')};
  for (const std::string bad :
       {R"("layout":[])", R"("layout":{})", R"("layout":[[0,0,2,0]])", R"("layout":[[0,0,2,0,2]])",
        R"("layout":[[1,0,2,0,1]])", R"("layout":[[0,1,2,0,1]])", R"("layout":[[0,0,1,0,1]])",
        R"("layout":[[0,0,2,1,1]])", R"("layout":[[0,0,2,0,1],[0,0,1,0,0]])",
        R"("layout":[[0,0,0,0,1],[0,0,2,0,1]])", R"("layout":[[0,0,2,-1,1]])",
        R"("layout":[[0,0,2,1000000,0]])", R"("layout":[[0,0,18446744073709551615,0,1]])",
        R"("layout":[[0,0,2.0,0,1]])", R"("layout":"")", R"("stores":[])"}) {
    damaged.push_back(text(lead + in + bad, topics, head));
  }
  // A stage without a task.
  damaged.push_back(text(
      R"("grouper":"default","lead":"in","lead_runs":[],"topics":[],"layout":[])", topics, head));
  for (const std::string bad :
       {R"([])", R"([[0,1]])", R"([[0,3]])", R"([[0,1],[0,1]])", R"([[1,1],[0,2]])",
        R"([[0,2],[5,0]])", R"([[-1,2]])", R"([0,2])", R"(null)"}) {
    const std::string bad_lead = R"("grouper":"default","lead":"in","lead_runs":)" + bad + ",";
    damaged.push_back(text(bad_lead + in + layout, topics, head));
  }
  for (
      const std::string bad :
      {R"([1])", R"([{"cluster":"","topic":"in","partitions":0}])",
       R"([{"cluster":"","topic":"in","partitions":3000000000}])",
       R"([{"cluster":"","topic":"in"}])", R"([{"cluster":null,"topic":"in","partitions":2}])",
       R"([{"cluster":"","topic":"in","partitions":2},{"cluster":"","topic":"in","partitions":2}])"}) {
    damaged.push_back(text(lead + R"("topics":)" + bad + "," + layout, topics, head));
  }
  for (const std::string bad : {R"({"name":"t","partitions":2,"kind":"other"})",
                                R"({"name":"","partitions":2,"kind":"tasks"})",
                                R"({"name":"t","partitions":0,"kind":"tasks"})", R"("t")"}) {
    damaged.push_back(text(lead + in + layout, bad, head));
  }
  for (const std::string bad :
       {R"("replaces":"","version":0,"hash":"h",)",
        R"("revision":-1,"replaces":"","version":0,"hash":"h",)",
        R"("revision":9223372036854775807,"replaces":"","version":0,"hash":"h",)",
        R"("revision":0,"replaces":"abc","version":0,"hash":"h",)",
        R"("revision":0,"replaces":"","version":9223372036854775808,"hash":"h",)",
        R"("revision":0,"replaces":"","version":0,"hash":1,)"}) {
    damaged.push_back(text(lead + in + layout, topics, bad));
  }
  for (const std::string& json : damaged) {
    const Result<Manifest> read = ParseManifest(json);
    EXPECT_EQ(read.status().code(), StatusCode::kState) << json.substr(0, 400);
    EXPECT_THAT(Message(read.status()), HasSubstr("damaged"));
  }
}

// Many stages, each as large as one may be: no more memory than for one.
TEST(ManifestTextTest, AFewBytesCannotAskForMuchMemory) {
  std::string stage = R"({"grouper":"default","lead":"in","lead_runs":[[0,1000000]],)"
                      R"("topics":[{"cluster":"","topic":"in","partitions":1000000}],)"
                      R"("layout":[[0,0,1000000,0,0],[0,0,1000000,0,0]]})";
  const std::string text = R"({"format":1,"incarnation":")" + kA +
                           R"(","revision":0,"replaces":"","version":0,"hash":"h","stages":[)" +
                           stage + R"(],"topics":[],"stores":[]})";
  EXPECT_EQ(ParseManifest(text).status().code(), StatusCode::kState);
}

TEST(LeadTest, PartitionsAndTasks) {
  Lead lead{.topic = "shop.tasks", .runs = {}};
  lead.Grow(4, 2);
  lead.Grow(6, 1);
  EXPECT_EQ(lead.runs, (std::vector<Lead::Run>{{4, 3}}));
  lead.Grow(9, 2);
  EXPECT_EQ(lead.tasks(), 5);
  const std::vector<int32_t> partitions{4, 5, 6, 9, 10};
  for (int32_t task = 0; task < 5; task++) {
    EXPECT_EQ(lead.PartitionOf(task), partitions[static_cast<size_t>(task)]);
    EXPECT_EQ(lead.TaskOf(partitions[static_cast<size_t>(task)]), task);
  }
  for (const int32_t other : {-1, 0, 3, 7, 8, 11, INT32_MAX}) {
    EXPECT_EQ(lead.TaskOf(other), std::nullopt) << other;
  }
}

TEST(InternalNameTest, MustBeATopic) {
  EXPECT_TRUE(CheckInternalName("shop-1.b_C", "shop-1.b_C.kstream").ok());
  for (const std::string app : {"", "my shop", "shop/eu", "läden", "a\n"}) {
    EXPECT_EQ(CheckInternalName(app, ManifestTopic(app)).code(), StatusCode::kUsage) << app;
  }
  EXPECT_EQ(CheckInternalName("shop", ChangelogTopic("shop", "by user")).code(),
            StatusCode::kUsage);
  EXPECT_TRUE(CheckInternalName("a", ManifestTopic(std::string(241, 'a'))).ok());
  const Status longer = CheckInternalName("a", ManifestTopic(std::string(242, 'a')));
  EXPECT_EQ(longer.code(), StatusCode::kUsage);
  EXPECT_THAT(Message(longer), HasSubstr("250"));
}

// `billing` with store `eu-cnt` and `billing-eu` with store `cnt` have one name for two topics.
TEST(InternalTopicsTest, WhatOthersMadeIsRefused) {
  const std::string shared = ChangelogTopic("billing", "eu-cnt");
  ASSERT_EQ(shared, ChangelogTopic("billing-eu", "cnt"));
  const std::vector<InternalTopic> wanted{{shared, 4, InternalTopic::Kind::kChangelog}};
  EXPECT_TRUE(CheckInternalTopics("billing", nullptr, wanted, {{"other", 1}}).ok());
  const Status first = CheckInternalTopics("billing", nullptr, wanted, {{shared, 4}});
  EXPECT_EQ(first.code(), StatusCode::kRefused);
  EXPECT_THAT(Message(first), AllOf(HasSubstr(shared), HasSubstr("no manifest"), HasSubstr("-G")));
  Manifest manifest = Example();
  EXPECT_EQ(CheckInternalTopics("billing", &manifest, wanted, {{shared, 4}}).code(),
            StatusCode::kRefused);
  manifest.topics = wanted;
  EXPECT_TRUE(CheckInternalTopics("billing", &manifest, wanted, {{shared, 4}}).ok());
  EXPECT_TRUE(CheckInternalTopics("billing", &manifest, wanted, {}).ok());
  const Status grown = CheckInternalTopics("billing", &manifest, wanted, {{shared, 6}});
  EXPECT_EQ(grown.code(), StatusCode::kCluster);
  EXPECT_THAT(Message(grown), AllOf(HasSubstr("4 partitions"), HasSubstr("6 now")));
}

// Of the user's own topics none matters, even one whose name looks internal.
TEST(InternalTopicsTest, OnlyExactNamesCount) {
  EXPECT_TRUE(CheckInternalTopics("billing", nullptr,
                                  {{"billing-cnt-changelog", 1, InternalTopic::Kind::kChangelog}},
                                  {{"billing-raw-changelog", 1}, {"billing-eu-cnt-changelog", 1}})
                  .ok());
}

class ManifestLogTest : public testing::Test {
 protected:
  ManifestLog Log() { return ManifestLog(&cluster_, "shop", &clock_, milliseconds(1000)); }
  std::optional<Manifest> Read() {
    Result<std::optional<Manifest>> read = Log().Read();
    EXPECT_TRUE(read.ok()) << Message(read.status());
    return read.ok() ? *read : std::nullopt;
  }
  void Append(const std::optional<std::string>& value, const std::string& key = "manifest",
              transport::memory::Transaction transaction = transport::memory::kNoTransaction) {
    cluster_.Produce("shop.kstream", 0, {.key = key, .value = value}, transaction);
  }
  void Append(const Manifest& manifest) { Append(WriteManifest(manifest)); }

  MemoryCluster cluster_;
  TickingClock clock_;
};

TEST_F(ManifestLogTest, ThereIsNoneBeforeTheFirstStart) {
  EXPECT_EQ(Read(), std::nullopt);
  cluster_.CreateTopic("shopXkstream", 2);  // what a dot might match
  EXPECT_EQ(Read(), std::nullopt);
  cluster_.CreateTopic("shop.kstream", 1);  // whoever made it died before it wrote
  EXPECT_EQ(Read(), std::nullopt);
}

TEST_F(ManifestLogTest, TheFirstStartWritesIt) {
  const Result<Manifest> written = Log().Establish(Example());
  ASSERT_TRUE(written.ok()) << Message(written.status());
  EXPECT_EQ(*written, Example());
  EXPECT_EQ(Read(), Example());
  const auto admin = *cluster_.NewAdmin();
  EXPECT_EQ(admin->Topics("shop.kstream")->at("shop.kstream"), 1);
  EXPECT_EQ(admin->TopicConfig("shop.kstream")->at("cleanup.policy"), "compact");
  const auto records = cluster_.Read("shop.kstream");
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].key, "manifest");
  EXPECT_EQ(records[0].timestamp, clock_.WallMs());
}

TEST_F(ManifestLogTest, ATopicThatWasThereMustBeAsOurs) {
  const std::tuple<int32_t, std::string, std::string> others[] = {
      {1, "delete", "1 partition and cleanup.policy=delete"},
      {1, "compact,delete", "1 partition and cleanup.policy=compact,delete"},
      {3, "compact", "3 partitions and cleanup.policy=compact"}};
  for (const auto& [partitions, policy, said] : others) {
    cluster_.CreateTopic("shop.kstream", partitions, {{"cleanup.policy", policy}});
    const Status status = Log().Establish(Example()).status();
    EXPECT_EQ(status.code(), StatusCode::kRefused) << said;
    EXPECT_THAT(Message(status), AllOf(HasSubstr("shop.kstream"), HasSubstr(said),
                                       HasSubstr("delete the topic"), HasSubstr("-G")));
    EXPECT_TRUE(cluster_.Read("shop.kstream").empty()) << "nothing is written there";
    cluster_.DeleteTopic("shop.kstream");
  }
  cluster_.CreateTopic("shop.kstream", 1, {{"cleanup.policy", "compact"}});
  EXPECT_EQ(*Log().Establish(Example()), Example());
}

TEST_F(ManifestLogTest, ALaterStartTakesWhatStands) {
  ASSERT_TRUE(Log().Establish(Example(kA)).ok());
  EXPECT_EQ(Log().Establish(Example(kB))->incarnation, kA);
  EXPECT_EQ(cluster_.Read("shop.kstream").size(), 1u);
}

// Another process writes between our look and our writing.
TEST_F(ManifestLogTest, OfSeveralFirstStartsTheFirstToBeWrittenWins) {
  cluster_.CreateTopic("shop.kstream", 1, {{"cleanup.policy", "compact"}});
  cluster_.HoldAcks(true);
  cluster_.OnIdle([&] {
    Append(Example(kB));
    cluster_.HoldAcks(false);
    cluster_.OnIdle([] {});
  });
  const Result<Manifest> stands = Log().Establish(Example(kA));
  ASSERT_TRUE(stands.ok()) << Message(stands.status());
  EXPECT_EQ(stands->incarnation, kB);
  EXPECT_EQ(cluster_.Read("shop.kstream").size(), 2u);
  EXPECT_EQ(Read()->incarnation, kB);
}

TEST_F(ManifestLogTest, IsAcknowledgedOrFails) {
  cluster_.FailDeliveries(Status::Cluster("no leader"));
  EXPECT_EQ(Message(Log().Establish(Example()).status()), "no leader");
}

TEST_F(ManifestLogTest, AChangeIsTheNextRevision) {
  const Manifest first = *Log().Establish(Example());
  Manifest next = first;
  next.version = 4;
  next.incarnation = kB;  // not its to choose
  const Result<Manifest> changed = Log().Change(first, next);
  ASSERT_TRUE(changed.ok()) << Message(changed.status());
  EXPECT_EQ(changed->incarnation, kA);
  EXPECT_EQ(changed->revision, 1);
  EXPECT_EQ(changed->version, 4);
  EXPECT_EQ(Read(), *changed);
}

TEST_F(ManifestLogTest, OfTwoChangesTheFirstStands) {
  const Manifest base = *Log().Establish(Example());
  Manifest ours = base, theirs = base;
  theirs.version = 10;
  ours.version = 11;
  ASSERT_TRUE(Log().Change(base, theirs).ok());
  const Result<Manifest> stands = Log().Change(base, ours);
  ASSERT_TRUE(stands.ok());
  EXPECT_EQ(stands->version, 10);
  // On the ground of what stands it can be said again.
  EXPECT_EQ(Log().Change(*stands, ours)->version, 11);
}

TEST_F(ManifestLogTest, AResetLeavesNothingDecided) {
  ASSERT_TRUE(Log().Establish(Example()).ok());
  const Result<Manifest> fresh = Log().Replace(Example());
  ASSERT_TRUE(fresh.ok()) << Message(fresh.status());
  EXPECT_EQ(fresh->replaces, kA);
  EXPECT_NE(fresh->incarnation, kA);
  EXPECT_TRUE(fresh->stages.empty() && fresh->topics.empty() && fresh->stores.empty());
  EXPECT_EQ(Read(), *fresh);
  // Another that began at the same time was not first.
  EXPECT_EQ(*Log().Replace(Example()), *fresh);
  Manifest next = Example();
  const Result<Manifest> decided = Log().Change(*fresh, next);
  ASSERT_TRUE(decided.ok());
  EXPECT_EQ(decided->incarnation, fresh->incarnation);
  EXPECT_EQ(decided->stages, next.stages);
}

TEST_F(ManifestLogTest, AResetReplacesTheIncarnationOnceAndForAll) {
  const Manifest old = *Log().Establish(Example(kA));
  Manifest reset = Example(kB);
  reset.replaces = kA;
  Append(reset);
  EXPECT_EQ(Read()->incarnation, kB);
  // A member that has not heard of it writes to the wind.
  EXPECT_EQ(Log().Change(old, old)->incarnation, kB);
  EXPECT_EQ(Read()->incarnation, kB);
}

TEST_F(ManifestLogTest, ARunningMemberNoticesAReset) {
  const Manifest mine = *Log().Establish(Example(kA));
  EXPECT_TRUE(CheckIncarnation("shop", mine, Read()).ok());
  Manifest reset = Example(kB);
  reset.replaces = kA;
  Append(reset);
  EXPECT_EQ(CheckIncarnation("shop", mine, Read()).code(), StatusCode::kFenced);
  EXPECT_EQ(CheckIncarnation("shop", mine, std::nullopt).code(), StatusCode::kFenced);
}

TEST_F(ManifestLogTest, MoreRecordsThanOnePollBrings) {
  cluster_.LimitPolls(2);
  Manifest manifest = *Log().Establish(Example());
  for (int i = 0; i < 7; i++) manifest = *Log().Change(manifest, manifest);
  EXPECT_EQ(Read()->revision, 7);
}

TEST_F(ManifestLogTest, RecordsOfOtherKeysAreNotRead) {
  cluster_.CreateTopic("shop.kstream", 1);
  Append("{}", "something of a later kstream");
  Append(Example());
  EXPECT_EQ(Read(), Example());
}

TEST_F(ManifestLogTest, DamageNamesTheRecord) {
  cluster_.CreateTopic("shop.kstream", 1);
  Append(Example());
  Append("rubbish");
  const Status status = Log().Read().status();
  EXPECT_EQ(status.code(), StatusCode::kState);
  EXPECT_THAT(Message(status),
              AllOf(HasSubstr("topic shop.kstream partition 0 offset 1: the manifest is damaged"),
                    HasSubstr("manifest.md"), HasSubstr("-G")));
}

TEST_F(ManifestLogTest, DamageInsideIsToldOnceWithItsPlace) {
  cluster_.CreateTopic("shop.kstream", 1);
  std::string text = WriteManifest(Example());
  const std::string runs = R"("lead_runs":[[0,)";
  const size_t at = text.find(runs);
  ASSERT_NE(at, std::string::npos);
  text.insert(at + runs.size(), "-");
  Append(text);
  EXPECT_THAT(Message(Log().Read().status()),
              HasSubstr("offset 0: the manifest is damaged at stages[0]: lead_runs: make the"));
}

TEST_F(ManifestLogTest, ATombstoneIsNoManifest) {
  cluster_.CreateTopic("shop.kstream", 1);
  Append(std::nullopt);
  EXPECT_EQ(Log().Read().status().code(), StatusCode::kState);
}

TEST_F(ManifestLogTest, MarkersAtTheEndAreNoRecords) {
  cluster_.CreateTopic("shop.kstream", 1);
  Append(Example());
  const auto aborted = cluster_.BeginTransaction();
  Append("rubbish", "manifest", aborted);
  cluster_.EndTransaction(aborted, false);
  EXPECT_EQ(Read(), Example());
}

TEST_F(ManifestLogTest, AnOpenTransactionIsWaitedForInBounds) {
  cluster_.OnIdle([] {});
  cluster_.CreateTopic("shop.kstream", 1);
  Append(Example());
  const auto open = cluster_.BeginTransaction();
  Append("{}", "x", open);
  const Status status = Log().Read().status();
  EXPECT_EQ(status.code(), StatusCode::kCluster);
  EXPECT_THAT(Message(status), AllOf(HasSubstr("1 of 2"), HasSubstr("transaction")));
  cluster_.OnIdle([&] { cluster_.EndTransaction(open, true); });
  EXPECT_EQ(Read(), Example());
}

TEST(IncarnationTest, IsNew) {
  const std::string one = NewIncarnation();
  EXPECT_EQ(one.size(), 32u);
  EXPECT_NE(one, NewIncarnation());
}

}  // namespace
}  // namespace kstream::runtime
