// How a run stands, as it tells it.
#include "runtime/run_status.h"

#include <gmock/gmock.h>

#include <optional>

#include "unit/runtime/memory_run.h"

namespace kstream::runtime {
namespace {

using std::chrono::seconds;
using testing::AllOf;
using testing::HasSubstr;

class RunStatusTest : public MemoryRun {
 protected:
  RunStatusTest() {
    Topics({"in", "out"});
    options_.app = "app";
  }
  std::string Line() {
    return status_->Line(RuntimeState::kRunning, state_->registry.Take(clock_->Steady()));
  }
  // Produces so many records in the time before the next turn.
  void Pass(int records, seconds time) {
    clock_->Advance(time);
    Produce("in", std::vector<std::string>(static_cast<size_t>(records), "1"));
  }

  std::optional<RunStatus> status_;
};

TEST_F(RunStatusTest, TellsTasksAndRates) {
  ASSERT_TRUE(RunSteps({[&] {
                          status_.emplace(state_);
                          EXPECT_THAT(Line(), HasSubstr("\"read\":0"));
                          Pass(20, seconds(5));
                        },
                        // Levels are shown once a second.
                        [&] { Pass(0, seconds(1)); }, [] {},
                        [&] {
                          const std::string line = Line();
                          EXPECT_EQ(line.find('\n'), std::string::npos);
                          EXPECT_THAT(line, AllOf(HasSubstr("\"state\":\"RUNNING\",\"ready\":true,"
                                                            "\"paused\":false,\"elapsed_ms\":61"),
                                                  HasSubstr("\"read\":20,\"written\":20,"),
                                                  HasSubstr("\"read_per_second\":3.3,"),
                                                  HasSubstr("\"lag\":0,")));
                          EXPECT_THAT(line, HasSubstr("{\"name\":\"0_0\",\"stage\":0,\"task\":0,"
                                                      "\"state\":\"running\",\"thread\":0"));
                          EXPECT_THAT(line,
                                      HasSubstr("\"partitions\":[{\"topic\":\"in\","
                                                "\"partition\":0,\"position\":20,\"lag\":0}]"));
                          EXPECT_THAT(line, HasSubstr("\"threads\":[{\"thread\":0,\"state\":"
                                                      "\"running\"}]"));
                        }})
                  .ok());
}

TEST_F(RunStatusTest, RatesAreOfTheLastSecondsHoweverManyAsk) {
  ASSERT_TRUE(RunSteps({[&] {
                          status_.emplace(state_);
                          Pass(1000, seconds(100));
                        },
                        [&] {
                          EXPECT_THAT(Line(), HasSubstr("\"read_per_second\":10.0,"));
                          Pass(10, seconds(5));
                        },
                        [&] {
                          static_cast<void>(Line());
                          Pass(10, seconds(5));
                        },
                        [&] {
                          for (int i = 0; i < 3; i++) {
                            EXPECT_THAT(Line(), HasSubstr("\"read_per_second\":2.0,"));
                          }
                        }})
                  .ok());
}

}  // namespace
}  // namespace kstream::runtime
