#include "runtime/start_position.h"

#include <gmock/gmock.h>

#include "unit/runtime/processors.h"

namespace kstream::runtime {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using transport::kNoOffset;

constexpr int64_t kFrom = 15;

// Where a task begins in a log of 10 to 20.
Result<int64_t> Start(int64_t committed, bool from_given = false) {
  RuntimeOptions options;
  options.from_given = from_given;
  TopologyBuilder builder;
  builder.AddSource("in", {.inputs = {Location::Topic("t")}}).AddProcessor("p", Passes(), {"in"});
  const RunState state(*builder.Build(), options);
  TaskPartition partition;
  partition.input = {"", "t", 3};
  partition.given_out = committed;
  return StartPosition(state, partition, {.low = 10, .high = 20}, kFrom);
}

TEST(StartPosition, ACommitThatTheLogHoldsIsWhereItGoesOn) {
  for (const bool from_given : {false, true}) {
    for (const int64_t committed : {10, 12, 20}) {
      EXPECT_EQ(*Start(committed, from_given), committed) << "--from is for where there is none";
    }
  }
}

TEST(StartPosition, WithoutACommitFromHolds) {
  EXPECT_EQ(*Start(kNoOffset), kFrom);
  EXPECT_EQ(*Start(kNoOffset, true), kFrom);
}

TEST(StartPosition, WhatTheLogHasLostIsToldInNumbers) {
  const Status gone = Start(7).status();
  EXPECT_EQ(gone.code(), StatusCode::kCluster);
  EXPECT_THAT(Said(gone), AllOf(HasSubstr("t[3]: committed 7, log starts at 10, 3 records gone"),
                                HasSubstr("--from")));
  const Status anew = Start(21).status();
  EXPECT_EQ(anew.code(), StatusCode::kCluster);
  EXPECT_THAT(Said(anew),
              AllOf(HasSubstr("t[3]: committed 21, log ends at 20"), HasSubstr("--from")));
}

TEST(StartPosition, AUserWhoSaysFromGoesOnThere) {
  EXPECT_EQ(*Start(7, true), kFrom);
  EXPECT_EQ(*Start(21, true), kFrom);
}

}  // namespace
}  // namespace kstream::runtime
