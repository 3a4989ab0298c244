#include "runtime/life_cycle.h"

#include <gmock/gmock.h>

#include <map>
#include <set>
#include <thread>
#include <utility>
#include <vector>

namespace kstream::runtime {
namespace {

using enum RuntimeState;
using testing::ElementsAre;
using Move = std::pair<RuntimeState, RuntimeState>;  // now, before

constexpr RuntimeState kAll[] = {kCreated,    kRebalancing,  kRunning, kPendingShutdown,
                                 kNotRunning, kPendingError, kError};

// Brings a new one there by the arrows of the drawing.
void Bring(LifeCycle* life, RuntimeState to) {
  static const std::map<RuntimeState, std::vector<RuntimeState>> kWays = {
      {kCreated, {}},
      {kRebalancing, {kRebalancing}},
      {kRunning, {kRebalancing, kRunning}},
      {kPendingShutdown, {kRebalancing, kPendingShutdown}},
      {kNotRunning, {kRebalancing, kPendingShutdown, kNotRunning}},
      {kPendingError, {kRebalancing, kPendingError}},
      {kError, {kRebalancing, kPendingError, kError}}};
  for (const RuntimeState step : kWays.at(to)) ASSERT_TRUE(life->Move(step));
}

TEST(LifeCycle, HasTheArrowsOfTheDrawingAndNoOthers) {
  const std::set<Move> arrows = {{kRebalancing, kCreated},          {kRunning, kRebalancing},
                                 {kRebalancing, kRunning},          {kPendingShutdown, kRunning},
                                 {kPendingShutdown, kRebalancing},  {kNotRunning, kPendingShutdown},
                                 {kPendingError, kRunning},         {kPendingError, kRebalancing},
                                 {kPendingError, kPendingShutdown}, {kError, kPendingError}};
  for (const RuntimeState from : kAll) {
    for (const RuntimeState to : kAll) {
      LifeCycle life;
      Bring(&life, from);
      ASSERT_EQ(life.state(), from);
      std::vector<Move> told;
      life.SetListener(
          [&](RuntimeState now, RuntimeState before) { told.emplace_back(now, before); });
      const bool drawn = arrows.contains({to, from});
      EXPECT_EQ(life.Move(to), drawn) << ToString(from) << " -> " << ToString(to);
      EXPECT_EQ(life.state(), drawn ? to : from);
      const std::vector<Move> expected(drawn ? 1 : 0, Move(to, from));
      EXPECT_EQ(told, expected);
    }
  }
}

TEST(LifeCycle, RunsWhenAllThreadsHaveTheirTasks) {
  LifeCycle life;
  Bring(&life, kRebalancing);
  life.Ready(0, true, 2);
  EXPECT_EQ(life.state(), kRebalancing);
  life.Ready(0, true, 2);
  EXPECT_EQ(life.state(), kRebalancing) << "the same thread twice is one";
  life.Ready(1, true, 2);
  EXPECT_EQ(life.state(), kRunning);
  life.Ready(0, false, 2);
  EXPECT_EQ(life.state(), kRebalancing);
  life.Ready(0, true, 2);
  EXPECT_EQ(life.state(), kRunning);
}

TEST(LifeCycle, AThreadThatIsReadyDoesNotUndoTheEnd) {
  LifeCycle life;
  Bring(&life, kPendingShutdown);
  life.Ready(0, true, 1);
  EXPECT_EQ(life.state(), kPendingShutdown);
}

TEST(LifeCycle, TheListenerMayAskForTheState) {
  LifeCycle life;
  std::vector<RuntimeState> seen;
  life.SetListener([&](RuntimeState, RuntimeState) { seen.push_back(life.state()); });
  Bring(&life, kRunning);
  EXPECT_THAT(seen, ElementsAre(kRebalancing, kRunning));
}

TEST(LifeCycle, TellsOneChangeAfterTheOtherWhateverTheThreads) {
  LifeCycle life;
  std::vector<Move> told;  // not guarded: calls come one at a time
  life.SetListener([&](RuntimeState now, RuntimeState before) { told.emplace_back(now, before); });
  Bring(&life, kRebalancing);
  constexpr int kThreads = 4;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; i++) {
    threads.emplace_back([&life, i] {
      for (int n = 0; n < 2000; n++) life.Ready(i, n % 2 == 0, kThreads);
      life.Ready(i, true, kThreads);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (size_t i = 1; i < told.size(); i++) ASSERT_EQ(told[i].second, told[i - 1].first);
  EXPECT_EQ(life.state(), kRunning) << "all of them are ready now";
}

}  // namespace
}  // namespace kstream::runtime
