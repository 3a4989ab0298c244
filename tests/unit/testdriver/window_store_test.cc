// Rows by window and by session for processors of the user's own: what they find, what goes by
// stream time, and what a restart leaves.
#include "kstream/window_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "unit/testdriver/counted.h"

namespace kstream {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;

std::string Text(const WindowRow& row) {
  return std::string(row.key) + "[" + std::to_string(row.start) + ".." + std::to_string(row.end) +
         "]=" + std::string(row.value);
}

// Puts each record in its window of 10 ms, and forwards the rows that the store has of the last
// 20 ms: of its key, then of all.
class Windowing final : public Processor {
 public:
  Status Init(ProcessorContext& context) override {
    context_ = &context;
    Result<WindowStore> rows =
        WindowStore::Open(context, "rows", milliseconds(10), milliseconds(20));
    KSTREAM_RETURN_IF_ERROR(rows.status());
    rows_ = *rows;
    return Status::Ok();
  }
  Status Process(const Record& record) override {
    const int64_t start = record.timestamp - record.timestamp % 10;
    if (!record.value) {
      KSTREAM_RETURN_IF_ERROR(rows_->Delete(*record.key, start));
    } else {
      KSTREAM_RETURN_IF_ERROR(rows_->Put(*record.key, start, *record.value));
    }
    std::string text;
    const auto add = [&text](const WindowRow& row) {
      text += Text(row) + " ";
      return true;
    };
    const int64_t from = std::max<int64_t>(0, start - 20);
    KSTREAM_RETURN_IF_ERROR(rows_->Fetch(*record.key, from, start, add));
    text += "| ";
    KSTREAM_RETURN_IF_ERROR(rows_->All(from, start, add));
    Record out = record;
    out.value = text;
    return context_->Forward(out);
  }
  Status Flush() override { return rows_->Expire(*context_); }

 private:
  ProcessorContext* context_ = nullptr;
  std::optional<WindowStore> rows_;
};

// Extends the session of a record's key that is no further than 10 ms, or begins one.
class Sessions final : public Processor {
 public:
  Status Init(ProcessorContext& context) override {
    context_ = &context;
    Result<SessionStore> rows =
        SessionStore::Open(context, "rows", milliseconds(10), milliseconds(20));
    KSTREAM_RETURN_IF_ERROR(rows.status());
    rows_ = *rows;
    return Status::Ok();
  }
  Status Process(const Record& record) override {
    int64_t start = record.timestamp, end = start;
    std::string value(record.value.value_or(""));
    std::vector<int64_t> old;
    const auto merge = [&](const WindowRow& row) {
      old.push_back(row.start);
      start = std::min(start, row.start);
      end = std::max(end, row.end);
      value.insert(0, row.value);
      return true;
    };
    KSTREAM_RETURN_IF_ERROR(rows_->Find(*record.key, start - 10, end + 10, merge));
    for (const int64_t was : old) KSTREAM_RETURN_IF_ERROR(rows_->Delete(*record.key, was));
    return rows_->Put(*record.key, start, end, value);
  }
  Status Flush() override { return rows_->Expire(*context_); }

 private:
  ProcessorContext* context_ = nullptr;
  std::optional<SessionStore> rows_;
};

template <typename Which>
Topology Of() {
  TopologyBuilder builder;
  builder.AddSource("in", {.inputs = {Location::Topic("in")}})
      .AddProcessor("keep", ProcessorSupplier([] { return std::make_unique<Which>(); }, "keep"),
                    {"in"})
      .AddStore(StoreSpec{.name = "rows"}, {"keep"})
      .AddSink("out", {.output = Location::Topic("out")}, {"keep"});
  return *builder.Build();
}

std::unique_ptr<TestDriver> Start(const Topology& topology) {
  auto driver = TestDriver::Create(topology, Options(1, 1));
  EXPECT_TRUE(driver.ok()) << driver.status().message();
  return *std::move(driver);
}

std::string At(TestDriver* driver, const std::string& key, int64_t time,
               std::optional<std::string> value) {
  const Status status =
      driver->Pipe("in", {.key = key, .value = std::move(value), .timestamp = time});
  EXPECT_TRUE(status.ok()) << status.message();
  const auto out = *driver->Read("out");
  return out.empty() ? "" : out.back().value.value_or("");
}

void Commit(TestDriver* driver) {
  for (int i = 0; i < 3; i++) ASSERT_TRUE(driver->Advance(seconds(2)).ok());
}

std::vector<std::string> Kept(const TestDriver& driver) {
  std::vector<std::string> rows;
  for (const TestRow& row : *driver.Rows("rows")) {
    if (!row.window_start) continue;
    rows.push_back(row.key + "[" + std::to_string(*row.window_start) + ".." +
                   std::to_string(*row.window_end) + "]=" + row.value);
  }
  return rows;
}

TEST(WindowStoreTest, FindsRowsByKeyAndTime) {
  auto driver = Start(Of<Windowing>());
  EXPECT_EQ(At(driver.get(), "a", 101, "1"), "a[100..110]=1 | a[100..110]=1 ");
  EXPECT_EQ(At(driver.get(), "b", 109, "2"), "b[100..110]=2 | a[100..110]=1 b[100..110]=2 ");
  ASSERT_TRUE(driver->Restart().ok());
  EXPECT_EQ(At(driver.get(), "a", 120, "3"),
            "a[100..110]=1 a[120..130]=3 | a[100..110]=1 b[100..110]=2 a[120..130]=3 ");
  EXPECT_EQ(At(driver.get(), "a", 105, std::nullopt), "| b[100..110]=2 ");
  EXPECT_EQ(At(driver.get(), "", 130, "4"), "[130..140]=4 | a[120..130]=3 [130..140]=4 ");
  EXPECT_EQ(driver->Pipe("in", {.key = "a", .value = "x", .timestamp = 300'000'000'000'000}).code(),
            StatusCode::kUsage);
}

TEST(WindowStoreTest, RowsGoByStreamTime) {
  auto driver = Start(Of<Windowing>());
  for (const int64_t time : {100, 110, 129, 130}) At(driver.get(), "a", time, "1");
  Commit(driver.get());
  EXPECT_THAT(Kept(*driver), ElementsAre("a[110..120]=1", "a[120..130]=1", "a[130..140]=1"))
      << "[100, 110) has outlived its 20 ms";
  At(driver.get(), "b", 1000, "1");
  Commit(driver.get());
  EXPECT_THAT(Kept(*driver), ElementsAre("b[1000..1010]=1"));
}

TEST(WindowStoreTest, SessionsAreFoundByTheirSpanAndGoByTheirEnd) {
  auto driver = Start(Of<Sessions>());
  for (const int64_t time : {100, 105, 115}) At(driver.get(), "a", time, "x");
  At(driver.get(), "b", 104, "y");
  At(driver.get(), "a", 126, "z");
  Commit(driver.get());
  // b ends at 104, which is 22 ago; a's first, though it began at 100, at 115.
  EXPECT_THAT(Kept(*driver), ElementsAre("a[100..115]=xxx", "a[126..126]=z"));
  ASSERT_TRUE(driver->Restart().ok());
  At(driver.get(), "a", 120, "w");
  EXPECT_THAT(Kept(*driver), ElementsAre("a[100..126]=zxxxw"));
  At(driver.get(), "c", 146, "v");
  Commit(driver.get());
  EXPECT_THAT(Kept(*driver), ElementsAre("c[146..146]=v"));
}

TEST(WindowStoreTest, AStoreOfSomethingElseIsRefused) {
  auto driver = Start(Of<Windowing>());
  At(driver.get(), "a", 100, "1");
  Commit(driver.get());
  const Status status = driver->Restart(Of<Sessions>());
  EXPECT_FALSE(driver->running());
  ASSERT_FALSE(driver->failures().empty());
  EXPECT_EQ(driver->failures().back().error.code(), StatusCode::kState) << status.message();
}

}  // namespace
}  // namespace kstream
