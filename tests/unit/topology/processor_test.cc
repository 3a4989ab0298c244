#include "kstream/processor.h"

#include <gtest/gtest.h>

#include "topology/timer.h"

namespace kstream {
namespace {

TEST(Timer, ADefaultOneIsNoScheduleAndCancellingItIsNothing) {
  Timer none;
  EXPECT_TRUE(none.Cancel().ok());
  EXPECT_EQ(none, Timer());
}

TEST(Timer, CopiesAreTheSameSchedule) {
  auto state = std::make_shared<Timer::State>();
  const Timer first(state);
  Timer second = first;
  EXPECT_EQ(first, second);
  EXPECT_NE(first, Timer(std::make_shared<Timer::State>()));
  EXPECT_TRUE(second.Cancel().ok());
  EXPECT_TRUE(state->cancelled);
  EXPECT_TRUE(Timer(first).Cancel().ok());
}

TEST(Timer, RefusesToCancelOnceItsNodeIsClosed) {
  auto state = std::make_shared<Timer::State>();
  state->node = "sum";
  state->closed = true;
  const Status status = Timer(state).Cancel();
  EXPECT_EQ(status.code(), StatusCode::kUsage);
  EXPECT_EQ(status.message(), "node 'sum' is closed, and its timers with it: cancel them before");
  EXPECT_FALSE(state->cancelled);
}

TEST(Processor, DoesNothingAtAPunctuationUnlessItSaysOtherwise) {
  struct Idle : Processor {
    Status Process(const Record&) override { return Status::Data("not asked"); }
  };
  EXPECT_TRUE(Idle().Punctuate({}).ok());
}

}  // namespace
}  // namespace kstream
