// Files as a transport: real files and pipes, read by the consumer that the loop of a stage reads.
#include "runtime/file_cluster.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "kstream/expression.h"
#include "transport/types.h"
#include "unit/test_folder.h"

namespace kstream::runtime {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;
using transport::TopicPartition;

constexpr milliseconds kAtOnce{0};
constexpr milliseconds kLong{20'000};  // never waited for in full, unless something is broken

// A pipe that the cluster reads by a path.
class Pipe {
 public:
  Pipe() { EXPECT_EQ(pipe(ends_), 0); }
  ~Pipe() {
    EndInput();
    close(ends_[0]);
  }
  std::string path() const { return "/dev/fd/" + std::to_string(ends_[0]); }
  void Put(std::string_view text) {
    ASSERT_EQ(write(ends_[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  void EndInput() {
    if (ends_[1] >= 0) close(ends_[1]);
    ends_[1] = -1;
  }

 private:
  int ends_[2] = {-1, -1};
};

class FileClusterTest : public testing::Test {
 protected:
  std::string Path(const std::string& name) const { return folder_.path() + "/" + name; }
  void File(const std::string& name, const std::string& text) {
    std::ofstream(Path(name)) << text;
    Input(Path(name));
  }
  void Input(const std::string& path) { inputs_.push_back({path, &source_, {}}); }
  void TimeIs(const char* expression) {
    source_.timestamp_expression = *Expression::Compile(expression);
  }

  // Opens the cluster and its consumer, and assigns everything.
  void Open() {
    auto cluster = FileCluster::Open(inputs_, partitions_, &clock_, stop_);
    ASSERT_TRUE(cluster.ok()) << cluster.status().message();
    cluster_ = *std::move(cluster);
    consumer_ = *cluster_->NewConsumer({});
    for (const FileInput& input : inputs_) {
      for (int32_t i = 0; i < partitions_; i++) {
        ASSERT_TRUE(consumer_->Assign({{{{input.path, i}, transport::kOffsetBeginning, ""}}}).ok());
      }
    }
    batch_ = consumer_->NewBatch();
  }
  std::vector<std::string> Poll(milliseconds wait = kLong, size_t most = SIZE_MAX) {
    status_ = consumer_->Poll(wait, batch_.get(), most);
    std::vector<std::string> values;
    for (const Record& record : batch_->records) {
      values.emplace_back(record.value.value_or("NULL"));
    }
    for (const TopicPartition& partition : batch_->finished) finished_.push_back(partition);
    return values;
  }
  // All there is to come.
  std::vector<std::string> PollAll(size_t most = SIZE_MAX) {
    std::vector<std::string> all;
    while (status_.ok() && finished_.size() < inputs_.size() * static_cast<size_t>(partitions_)) {
      for (std::string& value : Poll(kLong, most)) all.push_back(std::move(value));
    }
    return all;
  }

  const SystemClock clock_{};
  TestFolder folder_;
  SourceSpec source_;
  std::vector<FileInput> inputs_;
  int32_t partitions_ = 1;
  std::atomic<bool> stop_{false};
  std::unique_ptr<FileCluster> cluster_;
  std::unique_ptr<transport::Consumer> consumer_;
  std::unique_ptr<transport::Batch> batch_;
  Status status_;
  std::vector<TopicPartition> finished_;
};

TEST_F(FileClusterTest, ARecordIsALineOfItsFile) {
  File("in", "1\n\n{\"n\":2}\r\n3");
  Open();
  EXPECT_THAT(Poll(), ElementsAre("1", "{\"n\":2}", "3"));
  const Record& last = batch_->records[2];
  EXPECT_EQ(last.topic, Path("in"));
  EXPECT_EQ(last.cluster, "");
  EXPECT_EQ(last.partition, 0);
  EXPECT_EQ(last.offset, 3);
  EXPECT_EQ(last.key, std::nullopt);
  EXPECT_EQ(last.timestamp_type, TimestampType::kNone);
  ASSERT_NE(last.cache, nullptr);
  EXPECT_EQ(PlaceOf(batch_->origins[2]), Path("in") + ":4");
  EXPECT_TRUE(batch_->as_read.empty());
}

TEST_F(FileClusterTest, TellsTheEndOfAFileOnceAndAfterItsRecords) {
  File("in", "1\n2\n");
  Open();
  EXPECT_THAT(Poll(), ElementsAre("1", "2"));
  EXPECT_TRUE(batch_->finished.empty());
  EXPECT_THAT(Poll(), ElementsAre());
  EXPECT_THAT(batch_->finished, ElementsAre(TopicPartition{Path("in"), 0}));
  ASSERT_EQ(batch_->ends.size(), 1u);
  EXPECT_EQ(batch_->ends[0].offset, 2);
  EXPECT_THAT(Poll(kAtOnce), ElementsAre());
  EXPECT_TRUE(batch_->finished.empty());
}

TEST_F(FileClusterTest, AnEmptyFileEndsAtZero) {
  File("in", "");
  Open();
  EXPECT_THAT(PollAll(), ElementsAre());
  ASSERT_EQ(batch_->ends.size(), 1u);
  EXPECT_EQ(batch_->ends[0].offset, 0);
}

TEST_F(FileClusterTest, MergesByTimeAndTiesInTheOrderOfTheInputs) {
  TimeIs(".t");
  File("a", "{\"t\":1,\"f\":\"a\"}\n{\"t\":5,\"f\":\"a\"}\n");
  File("b", "{\"t\":1,\"f\":\"b\"}\n{\"t\":3,\"f\":\"b\"}\n");
  Open();
  EXPECT_THAT(PollAll(), ElementsAre("{\"t\":1,\"f\":\"a\"}", "{\"t\":1,\"f\":\"b\"}",
                                     "{\"t\":3,\"f\":\"b\"}", "{\"t\":5,\"f\":\"a\"}"));
}

TEST_F(FileClusterTest, RecordsWithoutATimeComeFileByFile) {
  File("a", "1\n2\n");
  File("b", "3\n");
  Open();
  EXPECT_THAT(PollAll(), ElementsAre("1", "2", "3"));
}

TEST_F(FileClusterTest, TheSameOrderWhateverTheBatches) {
  TimeIs(".t");
  std::string a, b;
  for (int i = 0; i < 60'000; i++) {  // several chunks of each
    ((i * 7919) % 5 < 2 ? a : b) += "{\"t\":" + std::to_string(i) + ",\"pad\":\"" +
                                    std::string(static_cast<size_t>(i % 90), 'x') + "\"}\n";
  }
  std::vector<std::string> in_order;
  for (const size_t most : {SIZE_MAX, size_t{1}, size_t{777}}) {
    inputs_.clear();
    finished_.clear();
    File("a", a);
    File("b", b);
    Open();
    const std::vector<std::string> all = PollAll(most);
    ASSERT_EQ(all.size(), 60'000u);
    EXPECT_EQ(all[59'999].substr(0, 10), "{\"t\":59999");
    if (in_order.empty()) in_order = all;
    EXPECT_TRUE(all == in_order) << most;
  }
}

TEST_F(FileClusterTest, GivesAtMostAsManyAsAsked) {
  File("in", "1\n2\n3\n");
  Open();
  EXPECT_THAT(Poll(kLong, 2), ElementsAre("1", "2"));
  EXPECT_THAT(Poll(kLong, 2), ElementsAre("3"));
}

TEST_F(FileClusterTest, ABatchKeepsAllItsMemory) {
  source_.format = "envelope";
  source_.key = *Expression::Compile(".k");
  std::string text;
  for (int i = 0; i < 40'000; i++) {  // several chunks
    text += "{\"topic\":\"t\\u0041\",\"headers\":[\"h\\n\",\"" + std::to_string(i) +
            "\"],\"payload\":\"{\\\"k\\\":" + std::to_string(i) + "}\"}\n";
  }
  File("in", text);
  Open();
  std::vector<std::unique_ptr<transport::Batch>> batches;
  while (finished_.empty()) {
    Poll();
    batches.push_back(std::exchange(batch_, consumer_->NewBatch()));
  }
  EXPECT_GT(batches.size(), 3u);
  consumer_.reset();
  cluster_.reset();
  int i = 0;
  for (const auto& batch : batches) {
    for (size_t r = 0; r < batch->records.size(); r++, i++) {
      const Record& record = batch->records[r];
      const std::string number = std::to_string(i);
      ASSERT_EQ(record.topic, "tA");
      ASSERT_EQ(record.key, number);
      ASSERT_EQ(record.value, "{\"k\":" + number + "}");
      ASSERT_EQ(record.headers.size(), 1u);
      ASSERT_EQ(record.headers[0].name, "h\n");
      ASSERT_EQ(record.headers[0].value, number);
      ASSERT_EQ(PlaceOf(batch->origins[r]), Path("in") + ":" + std::to_string(i + 1));
    }
  }
  EXPECT_EQ(i, 40'000);
}

TEST_F(FileClusterTest, ABatchOfCsvKeepsAllItsMemory) {
  source_.format = "csv";
  std::string text = "n,text\n";
  for (int i = 0; i < 100'000; i++) text += std::to_string(i) + ",\"a\nb\"\n";
  File("in", text);
  Open();
  std::vector<std::unique_ptr<transport::Batch>> batches;
  while (finished_.empty()) {
    Poll();
    batches.push_back(std::exchange(batch_, consumer_->NewBatch()));
  }
  int i = 0;
  for (const auto& batch : batches) {
    for (const Record& record : batch->records) {
      ASSERT_EQ(record.value, "{\"n\":\"" + std::to_string(i) + "\",\"text\":\"a\\nb\"}");
      ASSERT_EQ(record.offset, 1 + 2 * i);
      i++;
    }
  }
  EXPECT_EQ(i, 100'000);
}

TEST_F(FileClusterTest, WhatWasParsedForAKeyStaysParsedForEachRecordOfABatch) {
  source_.format = "csv";
  source_.key = *Expression::Compile(".n");
  File("in", "n,e\n1,\"\"\"\"\n2,\n");
  Open();
  Poll();
  ASSERT_EQ(batch_->records.size(), 2u);
  EXPECT_TRUE(batch_->bad.empty());
  for (const Record& record : batch_->records) {
    record.cache->Freshen();
    ASSERT_TRUE(record.cache->parsed);
    const json::Document& document = record.cache->document;
    EXPECT_EQ(document.Raw(document.Find(document.root(), "n")),
              "\"" + std::to_string(record.offset) + "\"");
  }
}

TEST_F(FileClusterTest, WhatWasParsedAloneIsForgottenBetweenRecords) {
  source_.key = *Expression::Compile(".n");
  File("in", "{\"n\":1}\n\"\n{\"n\":2}\n");  // the lone quote spoils the index
  Open();
  Poll();
  ASSERT_EQ(batch_->records.size(), 3u);
  EXPECT_EQ(batch_->bad.size(), 1u);
  for (const size_t i : {0, 2}) {
    batch_->records[i].cache->Freshen();
    EXPECT_FALSE(batch_->records[i].cache->parsed);
    EXPECT_EQ(batch_->records[i].key, i == 0 ? "1" : "2");
  }
}

TEST_F(FileClusterTest, ABadRowIsToldWhereItStandsAndSpoilsNoOther) {
  source_.format = "csv";
  File("in", "a,b\n1,2\n3\n4,5\n\"6");
  Open();
  EXPECT_THAT(Poll(), ElementsAre("{\"a\":\"1\",\"b\":\"2\"}", "", "{\"a\":\"4\",\"b\":\"5\"}"));
  ASSERT_EQ(batch_->bad.size(), 1u);
  EXPECT_EQ(batch_->bad[0].index, 1u);
  EXPECT_THAT(batch_->bad[0].why.message(), HasSubstr("1 fields, but the header has 2"));
  EXPECT_EQ(PlaceOf(batch_->origins[1]), Path("in") + ":3");
  EXPECT_THAT(Poll(), ElementsAre(""));
  ASSERT_EQ(batch_->bad.size(), 1u);
  EXPECT_EQ(PlaceOf(batch_->origins[0]), Path("in") + ":5");
}

TEST_F(FileClusterTest, NamesTheFileWhoseHeaderIsBad) {
  source_.format = "csv";
  File("in", "a,a\n1,2\n");
  Open();
  Poll();
  EXPECT_EQ(status_.code(), StatusCode::kData);
  EXPECT_THAT(status_.message(), HasSubstr(Path("in") + ":1: header: "));
}

TEST_F(FileClusterTest, ALineThatIsNoneComesAsItWasRead) {
  TimeIs(".t");
  source_.key = *Expression::Compile(".k");
  File("in", "{\"t\":1,\"k\":\"x\"}\n{\"t\":\n{\"t\":3,\"k\":\"y\"}\n");
  Open();
  EXPECT_EQ(Poll().size(), 3u);
  ASSERT_EQ(batch_->bad.size(), 1u);
  EXPECT_EQ(batch_->bad[0].index, 1u);
  EXPECT_EQ(batch_->bad[0].why.code(), StatusCode::kData);
  EXPECT_EQ(PlaceOf(batch_->origins[1]), Path("in") + ":2");
  EXPECT_EQ(batch_->records[1].value, "{\"t\":");
  EXPECT_EQ(batch_->records[1].key, std::nullopt);
  EXPECT_EQ(batch_->records[1].cache, nullptr);
  EXPECT_EQ(batch_->records[2].key, "y");
  EXPECT_EQ(batch_->records[2].timestamp, 3);
  ASSERT_EQ(batch_->as_read.size(), 3u);
  EXPECT_EQ(batch_->as_read[2].key, std::nullopt);
  EXPECT_EQ(batch_->as_read[2].timestamp_type, TimestampType::kNone);
  EXPECT_EQ(batch_->as_read[2].value, batch_->records[2].value);
}

TEST_F(FileClusterTest, AnEnvelopeKeepsItsOwnPlaceBesideItsLine) {
  source_.format = "envelope";
  source_.key = *Expression::Compile(".k");
  File("in",
       "{\"topic\":\"orders\",\"partition\":7,\"offset\":9,\"key\":\"old\",\"value\":{\"k\":"
       "\"new\"}}\n"
       "{\"key\":\"old\",\"value\":{\"k\":\"new\"}}\nnone\n");
  Open();
  EXPECT_EQ(Poll().size(), 3u);
  EXPECT_EQ(batch_->records[0].topic, "orders");
  EXPECT_EQ(batch_->records[0].partition, 7);
  EXPECT_EQ(batch_->records[0].offset, 9);
  EXPECT_EQ(batch_->records[0].key, "new");
  EXPECT_EQ(batch_->as_read[0].key, "old");
  EXPECT_EQ(*batch_->origins[0].partition, (TopicPartition{Path("in"), 0}));
  EXPECT_EQ(batch_->origins[0].offset, 0);
  EXPECT_EQ(batch_->records[1].topic, "");
  EXPECT_EQ(batch_->as_read[1].topic, Path("in"));
  EXPECT_EQ(batch_->as_read[1].offset, 1);
  ASSERT_EQ(batch_->bad.size(), 1u);
  EXPECT_EQ(batch_->records[2].value, "none");
  EXPECT_EQ(batch_->records[2].topic, Path("in"));
}

TEST_F(FileClusterTest, KeysSpreadOverPartitionsAsInATopic) {
  partitions_ = 3;
  source_.key = *Expression::Compile(".k");
  File("in",
       "{\"k\":\"alice\"}\n{\"k\":\"TT0124\"}\n{\"k\":null}\n{\"k\":null}\n{\"k\":\"alice\"}\n");
  Open();
  EXPECT_EQ(Poll().size(), 5u);
  EXPECT_EQ(batch_->records[0].partition, 0);
  for (size_t i = 0; i < 5; i++) {
    EXPECT_EQ(batch_->origins[i].partition->partition, batch_->records[i].partition);
  }
  EXPECT_EQ(batch_->origins[0].partition, batch_->origins[4].partition);
  Poll();
  EXPECT_EQ(batch_->finished.size(), 3u);
}

TEST_F(FileClusterTest, RecordsOfAPartitionOfOthersAreLeftOut) {
  partitions_ = 2;
  File("in", "0\n1\n2\n3\n");  // without keys: by turns
  Open();
  ASSERT_TRUE(consumer_->Unassign({{{Path("in"), 0}}}).ok());
  EXPECT_THAT(Poll(), ElementsAre("1", "3"));
  Poll();
  EXPECT_THAT(batch_->finished, ElementsAre(TopicPartition{Path("in"), 1}));
}

TEST_F(FileClusterTest, NothingIsDeliveredWhileAPartitionIsPaused) {
  File("a", "1\n");
  File("b", "2\n");
  Open();
  ASSERT_TRUE(consumer_->Pause({{{Path("b"), 0}}}).ok());
  EXPECT_THAT(Poll(kAtOnce), ElementsAre());
  ASSERT_TRUE(consumer_->Resume({{{Path("b"), 0}}}).ok());
  EXPECT_THAT(PollAll(), ElementsAre("1", "2"));
}

TEST_F(FileClusterTest, AFileGivenTwiceIsReadTwiceAndEndsOnce) {
  File("in", "1\n2\n");
  Input(Path("in"));
  Open();
  EXPECT_THAT(Poll(), ElementsAre("1", "2"));
  EXPECT_THAT(Poll(), ElementsAre("1", "2"));
  Poll();
  EXPECT_THAT(batch_->finished, ElementsAre(TopicPartition{Path("in"), 0}));
}

TEST_F(FileClusterTest, AFileOfTwoSourcesIsReadForEach) {
  SourceSpec keyed;
  keyed.key = *Expression::Compile(".k");
  File("in", "{\"k\":\"x\"}\n");
  inputs_.push_back({Path("in"), &keyed, {}});
  Open();
  EXPECT_EQ(Poll().size(), 1u);
  EXPECT_EQ(batch_->origins[0].source, &source_);
  EXPECT_EQ(batch_->records[0].key, std::nullopt);
  EXPECT_EQ(Poll().size(), 1u);
  EXPECT_EQ(batch_->origins[0].source, &keyed);
  EXPECT_EQ(batch_->records[0].key, "x");
  Poll();
  EXPECT_THAT(batch_->finished, ElementsAre(TopicPartition{Path("in"), 0}));
}

TEST_F(FileClusterTest, APipeGivesWhatHasComeAndWaitsForTheRestOfALine) {
  Pipe pipe;
  Input(pipe.path());
  Open();
  EXPECT_THAT(Poll(kAtOnce), ElementsAre());
  pipe.Put("1\n2\n{\"n\"");
  EXPECT_THAT(Poll(), ElementsAre("1", "2"));
  EXPECT_THAT(Poll(kAtOnce), ElementsAre());
  EXPECT_THAT(Poll(milliseconds(1)), ElementsAre());
  pipe.Put(":3}");
  EXPECT_THAT(Poll(kAtOnce), ElementsAre());
  pipe.EndInput();
  EXPECT_THAT(Poll(), ElementsAre("{\"n\":3}"));
  EXPECT_TRUE(Poll().empty());
  EXPECT_EQ(finished_.size(), 1u);
}

TEST_F(FileClusterTest, APipeOfCsvGivesWholeRows) {
  source_.format = "csv";
  Pipe pipe;
  Input(pipe.path());
  Open();
  pipe.Put("a,b\n");
  EXPECT_THAT(Poll(kAtOnce), ElementsAre());
  pipe.Put("1,\"x\n");
  EXPECT_THAT(Poll(kAtOnce), ElementsAre());
  pipe.Put("y\"\n2,");
  EXPECT_THAT(Poll(), ElementsAre("{\"a\":\"1\",\"b\":\"x\\ny\"}"));
  pipe.EndInput();
  EXPECT_THAT(PollAll(), ElementsAre("{\"a\":\"2\",\"b\":\"\"}"));
}

TEST_F(FileClusterTest, AnInputWithNothingThereYetHoldsTheMerge) {
  TimeIs(".");
  Pipe a, b;
  Input(a.path());
  Input(b.path());
  Open();
  b.Put("2\n4\n");
  EXPECT_THAT(Poll(kAtOnce), ElementsAre());
  a.Put("1\n3\n");
  EXPECT_THAT(Poll(), ElementsAre("1", "2", "3"));
  EXPECT_THAT(Poll(kAtOnce), ElementsAre());
  a.EndInput();
  EXPECT_THAT(Poll(), ElementsAre());
  EXPECT_THAT(batch_->finished, ElementsAre(TopicPartition{a.path(), 0}));
  EXPECT_THAT(Poll(), ElementsAre("4"));
}

TEST_F(FileClusterTest, AStopEndsAWait) {
  Pipe pipe;
  Input(pipe.path());
  Open();
  const auto before = std::chrono::steady_clock::now();
  std::thread stopper([&] { stop_ = true; });
  EXPECT_THAT(Poll(), ElementsAre());
  stopper.join();
  EXPECT_TRUE(finished_.empty());
  EXPECT_LT(std::chrono::steady_clock::now() - before, kLong);
}

TEST_F(FileClusterTest, IsATransportOfTopicsThatEndSomewhere) {
  partitions_ = 2;
  File("in", "1\n");
  Open();
  const auto admin = *cluster_->NewAdmin();
  EXPECT_EQ(admin->Topics(Path("in"))->at(Path("in")), 2);
  EXPECT_EQ(admin->Topics(Path("other")).status().code(), StatusCode::kCluster);
  const TopicPartition partition{Path("in"), 1};
  EXPECT_EQ(admin->Offsets({{partition}})->at(partition).low, 0);
  EXPECT_EQ(admin->Offsets({{partition}})->at(partition).high, kUntilEnd);
  EXPECT_EQ(consumer_->Committed({{partition}})->at(0).offset, transport::kNoOffset);
}

TEST_F(FileClusterTest, RefusesWhatAFileIsNot) {
  File("in", "1\n");
  Open();
  EXPECT_EQ(cluster_->NewProducer().status().code(), StatusCode::kUsage);
  EXPECT_EQ(cluster_->NewConsumer({}).status().code(), StatusCode::kUsage);
  EXPECT_EQ(consumer_->Subscribe({Path("in")}).code(), StatusCode::kUsage);
  EXPECT_EQ(consumer_->Assign({{{{Path("in"), 0}, 5, ""}}}).code(), StatusCode::kUsage);
  EXPECT_EQ(consumer_->Assign({{{{Path("in"), 1}, 0, ""}}}).code(), StatusCode::kCluster);
  EXPECT_EQ(consumer_->Assign({{{{Path("in"), -1}, 0, ""}}}).code(), StatusCode::kCluster);
  Input(Path("none"));
  const Status none = FileCluster::Open(inputs_, 1, &clock_, stop_).status();
  EXPECT_EQ(none.code(), StatusCode::kUsage);
  EXPECT_THAT(none.message(), HasSubstr(Path("none")));
}

}  // namespace
}  // namespace kstream::runtime
