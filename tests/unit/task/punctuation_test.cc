// Timers of a task: when they fire, in which order, and what their records carry.
#include <gtest/gtest.h>

#include <map>
#include <stdexcept>

#include "unit/task/task_testing.h"

namespace kstream::task {
namespace {

using std::chrono::milliseconds;
constexpr auto kStream = PunctuationType::kStreamTime;
constexpr auto kWall = PunctuationType::kWallClockTime;

// A task of one node with timers by name; each firing is an event "name@time".
class Timers {
 public:
  explicit Timers(std::function<void(Timers&)> on_init = {}) {
    one_ = std::make_unique<OneNode>(
        Parts{.init =
                  [this, on_init](auto& context) {
                    context_ = &context;
                    if (on_init) on_init(*this);
                    return Status::Ok();
                  },
              .process = [this](auto&, const Record& record) { return on_record(record); },
              .punctuate =
                  [this](auto& context, const Punctuation& punctuation) {
                    EXPECT_EQ(context.source_record(), nullptr);
                    const std::string name = NameOf(punctuation.timer);
                    fired.push_back(fmt::format("{}@{}", name, punctuation.time));
                    return on_fire(name, punctuation);
                  },
              .close = [this](auto&) { on_close(); }});
    EXPECT_TRUE(task().Init().ok());
  }

  void Add(const std::string& name, int64_t period, PunctuationType type) {
    Result<Timer> timer = context_->Schedule(milliseconds(period), type);
    ASSERT_TRUE(timer.ok());
    timers[name] = *timer;
  }
  std::string NameOf(const Timer& timer) const {
    for (const auto& [name, known] : timers) {
      if (known == timer) return name;
    }
    return "?";
  }
  // What fires on a record at `time`.
  Events On(int64_t time) {
    return After([&] { return task().Process(0, At(time)); });
  }
  // What fires after `ms` of silence.
  Events Wait(int64_t ms) {
    one_->host.manual.Advance(milliseconds(ms));
    return After([&] { return task().Punctuate(); });
  }
  Task& task() { return *one_->task; }
  NotedHost& host() { return one_->host; }
  ProcessorContext& context() { return *context_; }

  std::function<Status(const Record&)> on_record = [](auto&) { return Status::Ok(); };
  std::function<Status(const std::string&, const Punctuation&)> on_fire = [](auto&, auto&) {
    return Status::Ok();
  };
  std::function<void()> on_close = [] {};
  std::map<std::string, Timer> timers;
  Events fired;

 private:
  Events After(const std::function<Status()>& act) {
    fired.clear();
    EXPECT_TRUE(act().ok());
    return fired;
  }

  std::unique_ptr<OneNode> one_;
  ProcessorContext* context_ = nullptr;
};

TEST(StreamTimer, FiresFirstOnePeriodAfterTheFirstRecord) {
  Timers t([](Timers& t) { t.Add("a", 10, kStream); });
  EXPECT_EQ(t.On(1003), Events{});
  EXPECT_EQ(t.On(1012), Events{});
  EXPECT_EQ(t.On(1013), Events{"a@1013"});
  EXPECT_EQ(t.On(1022), Events{});
}

TEST(StreamTimer, AJumpFiresOnceWithTheStreamTimeAndSilenceFiresNone) {
  Timers t([](Timers& t) { t.Add("a", 10, kStream); });
  EXPECT_EQ(t.On(0), Events{});
  EXPECT_EQ(t.On(57), Events{"a@57"});
  EXPECT_EQ(t.Wait(1000000), Events{});
  EXPECT_EQ(t.On(57), Events{});  // as late as the stream time: it does not move
  EXPECT_EQ(t.On(3), Events{});
  EXPECT_EQ(t.On(66), Events{});  // it fell behind at 57, so it goes on from there
  EXPECT_EQ(t.On(67), Events{"a@67"});
}

TEST(StreamTimer, KeepsItsPhaseWhenItIsLessThanAPeriodLate) {
  Timers t([](Timers& t) { t.Add("a", 10, kStream); });
  EXPECT_EQ(t.On(0), Events{});
  EXPECT_EQ(t.On(14), Events{"a@14"});
  EXPECT_EQ(t.On(20), Events{"a@20"});
}

TEST(StreamTimer, FiresAfterTheRecordThatMovedTheTime) {
  Timers t([](Timers& t) { t.Add("a", 10, kStream); });
  t.on_record = [&](const Record& record) {
    t.fired.push_back("record " + Text(record));
    return Status::Ok();
  };
  t.On(0);
  EXPECT_EQ(t.On(10), (Events{"record v@10", "a@10"}));
}

TEST(StreamTimer, RecordsWithoutATimestampAndBadOnesStartAndFireNothing) {
  Timers t([](Timers& t) { t.Add("a", 10, kStream); });
  t.on_record = [&](const Record& record) {
    return record.value == "bad" ? Status::Data("bad") : Status::Ok();
  };
  EXPECT_TRUE(t.task().Process(0, Timeless()).ok());
  EXPECT_FALSE(t.task().Process(0, At(5, "bad")).ok());
  EXPECT_EQ(t.On(100), Events{});
  EXPECT_FALSE(t.task().Process(0, At(500, "bad")).ok());
  EXPECT_EQ(t.On(109), Events{});
  EXPECT_EQ(t.On(110), Events{"a@110"});
}

TEST(StreamTimer, OneMadeLaterStartsAtTheStreamTimeOfItsRecord) {
  Timers t;
  EXPECT_EQ(t.On(100), Events{});
  t.on_record = [&](auto&) {
    t.Add("a", 10, kStream);
    return Status::Ok();
  };
  EXPECT_EQ(t.On(200), Events{});
  t.on_record = [](auto&) { return Status::Ok(); };
  EXPECT_EQ(t.On(209), Events{});
  EXPECT_EQ(t.On(210), Events{"a@210"});
}

TEST(StreamTimer, ARestoredStreamTimeIsTheStartOfWhatIsOlder) {
  Timers t([](Timers& t) { t.Add("a", 10, kStream); });
  t.task().set_stream_time(1000);
  EXPECT_EQ(t.Wait(5), Events{});
  EXPECT_EQ(t.On(900), Events{});
  EXPECT_EQ(t.On(1009), Events{});
  EXPECT_EQ(t.On(1010), Events{"a@1010"});
}

TEST(StreamTimer, TimesAtTheEndOfTheRangeFireNothing) {
  Timers t([](Timers& t) {
    t.Add("a", 10, kStream);
    t.Add("b", INT64_MAX, kStream);
  });
  EXPECT_EQ(t.On(5), Events{});
  EXPECT_EQ(t.On(INT64_MAX), Events{fmt::format("a@{}", INT64_MAX)});
  EXPECT_EQ(t.On(INT64_MAX), Events{});
}

TEST(WallClockTimer, FiresInSilenceOncePerPeriodAndOnceForSeveral) {
  Timers t([](Timers& t) { t.Add("a", 10, kWall); });  // the clock begins at 1000
  EXPECT_EQ(t.task().next_wall_clock_punctuation(), 1010);
  EXPECT_EQ(t.Wait(9), Events{});
  EXPECT_EQ(t.Wait(1), Events{"a@1010"});
  EXPECT_EQ(t.Wait(0), Events{});
  EXPECT_EQ(t.task().next_wall_clock_punctuation(), 1020);
  EXPECT_EQ(t.Wait(14), Events{"a@1024"});
  EXPECT_EQ(t.task().next_wall_clock_punctuation(), 1030);
  EXPECT_EQ(t.Wait(50), Events{"a@1074"});
  EXPECT_EQ(t.task().next_wall_clock_punctuation(), 1084);
  EXPECT_EQ(t.On(1000000), Events{});
}

TEST(WallClockTimer, NextIsNeverWithoutOne) {
  Timers t;
  EXPECT_EQ(t.task().next_wall_clock_punctuation(), INT64_MAX);
  t.Add("a", 10, kWall);
  t.Add("s", 10, kStream);
  EXPECT_EQ(t.task().next_wall_clock_punctuation(), 1010);
  EXPECT_TRUE(t.timers["a"].Cancel().ok());
  EXPECT_EQ(t.task().next_wall_clock_punctuation(), INT64_MAX);
}

TEST(Timers, ThoseDueAtOnceGoByDueTimeThenByTheOrderInWhichTheyWereMade) {
  Timers t([](Timers& t) {
    t.Add("slow", 20, kStream);
    t.Add("z", 10, kStream);
    t.Add("m", 10, kStream);
    t.Add("b", 10, kStream);
  });
  t.On(0);
  EXPECT_EQ(t.On(25), (Events{"z@25", "m@25", "b@25", "slow@25"}));
  EXPECT_EQ(t.On(40), (Events{"z@40", "m@40", "b@40", "slow@40"}));
}

TEST(Timers, MayCancelThemselvesAndOthersAndMakeNewOnesWhenTheyFire) {
  Timers t([](Timers& t) {
    t.Add("a", 10, kStream);
    t.Add("b", 10, kStream);
    t.Add("c", 10, kStream);
  });
  t.on_fire = [&](const std::string& name, const Punctuation& punctuation) {
    if (name == "a") {
      Timer own = punctuation.timer;
      EXPECT_TRUE(own.Cancel().ok());
      EXPECT_TRUE(own.Cancel().ok());
      EXPECT_TRUE(t.timers["b"].Cancel().ok());
      t.Add("new", 1, kStream);
    }
    return Status::Ok();
  };
  t.On(0);
  EXPECT_EQ(t.On(10), (Events{"a@10", "c@10"}));  // not the new one: it begins at 10
  EXPECT_EQ(t.On(11), (Events{"new@11"}));
  EXPECT_EQ(t.On(20), (Events{"new@20", "c@20"}));
}

TEST(Timers, EachClockHasItsOwn) {
  Timers t([](Timers& t) {
    t.Add("s", 10, kStream);
    t.Add("w", 10, kWall);
  });
  t.on_fire = [&](const std::string& name, const Punctuation& punctuation) {
    EXPECT_EQ(punctuation.type, name == "s" ? kStream : kWall);
    return Status::Ok();
  };
  t.On(0);
  EXPECT_EQ(t.On(10), Events{"s@10"});
  EXPECT_EQ(t.Wait(10), Events{"w@1010"});
}

TEST(Timers, ARecordOfAPunctuationCarriesItsTimeUnlessItSaysOtherwise) {
  Timers t([](Timers& t) {
    t.Add("s", 10, kStream);
    t.Add("w", 10, kWall);
  });
  t.on_fire = [&](auto&, auto&) {
    EXPECT_TRUE(t.context().Forward(Timeless("1")).ok());
    EXPECT_TRUE(t.context().Forward(At(7, "2"), "out").ok());
    EXPECT_TRUE(t.context().Forward(Timeless("3"), "out").ok());
    return t.context().Send(Location::Topic("t"), Timeless("4"));
  };
  t.On(0);
  t.On(10);
  EXPECT_EQ(t.host().events, (Events{"out 1@10", "out 2@7", "out 3@10", "send topic:t 4@10 -1"}));
  t.host().events.clear();
  t.Wait(10);
  EXPECT_EQ(t.host().events,
            (Events{"out 1@1010", "out 2@7", "out 3@1010", "send topic:t 4@1010 -1"}));
  t.host().events.clear();
  t.on_record = [&](const Record& record) { return t.context().Forward(record); };
  EXPECT_TRUE(t.task().Process(0, Timeless("5")).ok());
  EXPECT_EQ(t.host().events, Events{"out 5"});
}

TEST(Timers, AFailureIsToldApartFromOneOfTheRecordAndTheRestFiresAfterwards) {
  Timers t([](Timers& t) {
    t.Add("a", 10, kStream);
    t.Add("b", 10, kStream);
    t.Add("c", 10, kStream);
  });
  t.on_fire = [&](const std::string& name, auto&) -> Status {
    if (name == "a") return Status::Data("no sum");
    if (name == "b") throw std::runtime_error("no luck");
    return Status::Ok();
  };
  t.On(0);
  Status status = t.task().Process(0, At(10));
  EXPECT_EQ(status.message(), "node 'a': no sum");
  EXPECT_EQ(status.code(), StatusCode::kData);
  const Record* failed = t.task().failed_punctuation();
  ASSERT_NE(failed, nullptr);
  EXPECT_EQ(failed->timestamp, 10);
  EXPECT_EQ(failed->timestamp_type, TimestampType::kCreateTime);
  EXPECT_EQ(failed->topic, "");
  EXPECT_EQ(failed->offset, -1);
  EXPECT_EQ(failed->value, std::nullopt);
  EXPECT_EQ(t.task().stream_time(), 10);  // the record was good
  status = t.task().Punctuate();
  EXPECT_EQ(status.message(), "node 'a' threw: no luck");
  EXPECT_NE(t.task().failed_punctuation(), nullptr);
  EXPECT_TRUE(t.task().Punctuate().ok());
  EXPECT_EQ(t.fired, (Events{"a@10", "b@10", "c@10"}));
  t.on_record = [](auto&) { return Status::Data("bad"); };
  EXPECT_FALSE(t.task().Process(0, At(30)).ok());
  EXPECT_EQ(t.task().failed_punctuation(), nullptr);
}

TEST(Timers, AWallClockFailureLeavesTheRestToTheNextCall) {
  Timers t([](Timers& t) {
    t.Add("a", 10, kWall);
    t.Add("b", 10, kWall);
  });
  t.on_fire = [&](const std::string& name, auto&) {
    return name == "a" ? Status::Data("no sum") : Status::Ok();
  };
  t.host().manual.Advance(milliseconds(10));
  EXPECT_FALSE(t.task().Punctuate().ok());
  EXPECT_EQ(t.task().failed_punctuation()->timestamp, 1010);
  EXPECT_TRUE(t.task().Punctuate().ok());
  EXPECT_EQ(t.fired, (Events{"a@1010", "b@1010"}));
}

TEST(Timers, APeriodIsPositive) {
  Timers t;
  for (const int64_t period : {0, -5}) {
    for (const PunctuationType type : {kStream, kWall}) {
      const Status status = t.context().Schedule(milliseconds(period), type).status();
      EXPECT_EQ(status.code(), StatusCode::kUsage);
      EXPECT_EQ(status.message(),
                fmt::format("node 'a' schedules every {} ms: give a positive period", period));
    }
  }
}

TEST(Timers, AreCancelledInCloseAndRefusedAfterIt) {
  Timers t([](Timers& t) {
    t.Add("s", 10, kStream);  // without a start
    t.Add("w", 10, kWall);
  });
  bool cancelled = false;
  t.on_close = [&] { cancelled = t.timers["s"].Cancel().ok(); };
  EXPECT_TRUE(t.task().Close().ok());
  EXPECT_TRUE(cancelled);
  for (const char* name : {"s", "w"}) {
    const Status status = t.timers[name].Cancel();
    EXPECT_EQ(status.code(), StatusCode::kUsage);
    EXPECT_NE(status.message().find("node 'a'"), std::string_view::npos) << status.message();
  }
}

TEST(Timers, OutliveTheTask) {
  Timer timer;
  {
    Timers t;
    t.Add("w", 10, kWall);
    timer = t.timers["w"];
  }
  EXPECT_EQ(timer.Cancel().code(), StatusCode::kUsage);
}

TEST(Timers, OneForEachRecordThatIsCancelledLeavesNothingBehind) {
  PunctuationQueue queue(kStream);
  std::vector<Timer> kept;
  for (int i = 0; i < 100000; i++) {
    Timer timer = queue.Add(0, "a", milliseconds(1000000 + i), 0);
    if (i % 1000 == 0) {
      kept.push_back(timer);
    } else {
      ASSERT_TRUE(timer.Cancel().ok());
    }
    EXPECT_LE(queue.size(), 300u);
  }
  for (const Timer& timer : kept) {
    const auto due = queue.Take(2000000);
    ASSERT_TRUE(due);
    EXPECT_EQ(due->timer, timer);
  }
  EXPECT_FALSE(queue.Take(2000000));
}

}  // namespace
}  // namespace kstream::task
