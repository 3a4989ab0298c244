// A store that comes to an application which has run: it must not begin empty behind positions that
// are past its records, without a word.
#include <stdlib.h>

#include <filesystem>

#include "unit/runtime/memory_run.h"
#include "unit/runtime/processors.h"
#include "unit/test_folder.h"

namespace kstream::runtime {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class NewStore : public MemoryRun {
 protected:
  NewStore() {
    options_.app = "app";
    options_.state_dir = root_.path();
    options_.exit_at_end = true;
    Topics({"in", "out"});
  }

  // With `store`, or as it was before it had one.
  Topology Counts(bool store) const {
    TopologyBuilder builder;
    builder.AddSource("in", source_)
        .AddProcessor("work", store ? CountsByKey() : Passes(), {"in"})
        .AddSink("out", sink_, {"work"});
    if (store) builder.AddStore(StoreSpec{.name = "counts"}, {"work"});
    return *builder.Build();
  }
  // Through a repartition topic; the second stage is new as well.
  Topology CountsBehind() const {
    TopologyBuilder builder = TwoStages(source_.inputs, sink_.output, Passes(), CountsByKey());
    builder.AddStore(StoreSpec{.name = "counts"}, {"second"});
    return *builder.Build();
  }
  void Come(const std::vector<std::string>& keys) {
    for (const std::string& key : keys) cluster_.Produce("in", 0, {.key = key, .value = key});
  }
  void ExpectRefused(const Topology& topology) {
    const Status status = RunTopology(topology);
    EXPECT_EQ(status.code(), StatusCode::kState) << Said(status);
    EXPECT_THAT(
        Said(status),
        HasSubstr("store counts is new, and application app has read in[0] up to offset 2"));
    EXPECT_THAT(Said(status), HasSubstr("kstream-inspect-state -G app reset"));
    EXPECT_THAT(*(*cluster_.NewAdmin())->FindTopic("app-counts-changelog"),
                testing::Eq(std::nullopt));
  }

  TestFolder root_;
};

TEST_F(NewStore, OfANewApplicationBegins) {
  Come({"a", "a"});
  ASSERT_EQ(Said(RunTopology(Counts(true))), "");
  EXPECT_THAT(Values("out"), ElementsAre("1", "2"));
  Come({"a"});
  ASSERT_EQ(Said(RunTopology(Counts(true))), "");  // it is new no more
  EXPECT_THAT(Values("out"), ElementsAre("1", "2", "3"));
}

TEST_F(NewStore, OfAnApplicationThatHasReadIsRefused) {
  Come({"a", "a"});
  ASSERT_EQ(Said(RunTopology(Counts(false))), "");
  ExpectRefused(Counts(true));
  ExpectRefused(Counts(true));  // a refusal leaves nothing behind that would let the next one in
}

TEST_F(NewStore, BehindARepartitionTopicIsRefusedToo) {
  Come({"a", "a"});
  ASSERT_EQ(Said(RunTopology(Counts(false))), "");
  ExpectRefused(CountsBehind());
}

TEST_F(NewStore, BeginsWithNothingWhereTheUserSaysFrom) {
  Come({"a", "a"});
  ASSERT_EQ(Said(RunTopology(Counts(false))), "");
  Come({"a"});
  options_.from_given = true;
  testing::internal::CaptureStderr();
  ASSERT_EQ(Said(RunTopology(Counts(true))), "");
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("up to offset 2: the store begins there, with nothing"));
  EXPECT_THAT(Values("out"), ElementsAre("a", "a", "1"));
  options_.from_given = false;
  Come({"a"});
  ASSERT_EQ(Said(RunTopology(Counts(true))), "");
  EXPECT_THAT(Values("out"), ElementsAre("a", "a", "1", "2"));
}

TEST_F(NewStore, MissesNothingWhereNothingWasRead) {
  ASSERT_EQ(Said(RunTopology(Counts(false))), "");
  Come({"a"});
  ASSERT_EQ(Said(RunTopology(Counts(true))), "");
  EXPECT_THAT(Values("out"), ElementsAre("1"));
}

// What was read before is gone, so nobody can count it any more.
TEST_F(NewStore, MissesNothingThatIsStillThere) {
  Come({"a", "a"});
  ASSERT_EQ(Said(RunTopology(Counts(false))), "");
  cluster_.DeleteRecords({"in", 0}, 2);
  Come({"a"});
  ASSERT_EQ(Said(RunTopology(Counts(true))), "");
  EXPECT_THAT(Values("out"), ElementsAre("a", "a", "1"));
}

}  // namespace
}  // namespace kstream::runtime
