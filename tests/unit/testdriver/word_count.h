// The topology that most tests of the driver run: lines are split into words, words of one kind
// meet in one task, and their counts are told as they grow.
#ifndef KSTREAM_TESTS_UNIT_TESTDRIVER_WORD_COUNT_H_
#define KSTREAM_TESTS_UNIT_TESTDRIVER_WORD_COUNT_H_

#include <functional>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "kstream/log.h"
#include "kstream/test_driver.h"

namespace kstream {

// A processor that is one function.
using Work = std::function<Status(ProcessorContext& context, const Record& record)>;

class Worker final : public Processor {
 public:
  explicit Worker(Work work) : work_(std::move(work)) {}
  Status Init(ProcessorContext& context) override {
    context_ = &context;
    return Status::Ok();
  }
  Status Process(const Record& record) override { return work_(*context_, record); }

 private:
  const Work work_;
  ProcessorContext* context_ = nullptr;
};

inline ProcessorSupplier Does(Work work, std::string description = "work") {
  return {[work = std::move(work)] { return std::make_unique<Worker>(work); },
          std::move(description)};
}

inline Status Split(ProcessorContext& context, const Record& line) {
  std::istringstream words{std::string(line.value.value_or(""))};
  for (std::string word; words >> word;) {
    Record made = line;
    made.key = word;
    made.value = "1";
    made.cache = nullptr;
    KSTREAM_RETURN_IF_ERROR(context.Forward(made));
  }
  return Status::Ok();
}

// Counts in store "counts".
inline Status Count(ProcessorContext& context, const Record& word) {
  KSTREAM_ASSIGN_OR_RETURN(StateStore* const found, context.Store("counts"));
  auto* const counts = dynamic_cast<KeyValueStore*>(found);
  KSTREAM_ASSIGN_OR_RETURN(const auto before, counts->Get(*word.key));
  const std::string count = std::to_string(before ? std::stol(*before) + 1 : 1);
  KSTREAM_RETURN_IF_ERROR(counts->Put(*word.key, count));
  Record made = word;
  made.value = count;
  made.cache = nullptr;
  return context.Forward(made);
}

inline Topology WordCount() {
  TopologyBuilder builder;
  builder.AddSource("lines", {.inputs = {Location::Topic("lines")}})
      .AddProcessor("split", Does(Split, "split"), {"lines"})
      .AddSink("words-out", {.output = Location::Repartition("words")}, {"split"})
      .AddSource("words", {.inputs = {Location::Repartition("words")}})
      .AddProcessor("count", Does(Count, "count"), {"words"})
      .AddStore("counts", InMemoryKeyValueStore(), {"count"})
      .AddSink("counts-out", {.output = Location::Topic("counts")}, {"count"});
  return *builder.Build();
}

// A driver that must start.
inline std::unique_ptr<TestDriver> Driver(Topology topology, TestDriverOptions options = {}) {
  auto driver = TestDriver::Create(std::move(topology), std::move(options));
  if (!driver.ok()) throw std::runtime_error(std::string(driver.status().message()));
  return *std::move(driver);
}

// From topic "in" to topic "out".
inline Topology Through(ProcessorSupplier supplier) {
  TopologyBuilder builder;
  builder.AddSource("in", {.inputs = {Location::Topic("in")}})
      .AddProcessor("work", std::move(supplier), {"in"})
      .AddSink("out", {.output = Location::Topic("out")}, {"work"});
  return *builder.Build();
}

inline Status Pass(ProcessorContext& context, const Record& record) {
  return context.Forward(record);
}

inline std::vector<std::string> ValuesOf(const Result<std::vector<TestRecord>>& records) {
  if (!records.ok()) return {"error: " + std::string(records.status().message())};
  std::vector<std::string> values;
  for (const TestRecord& record : *records) values.push_back(record.value.value_or("NULL"));
  return values;
}

// "partition key=value@timestamp", in order.
inline std::vector<std::string> Shown(const Result<std::vector<TestRecord>>& records) {
  if (!records.ok()) return {"error: " + std::string(records.status().message())};
  std::vector<std::string> shown;
  for (const TestRecord& record : *records) {
    shown.push_back(std::to_string(*record.partition) + " " + record.key.value_or("NULL") + "=" +
                    record.value.value_or("NULL") + "@" + std::to_string(*record.timestamp));
  }
  return shown;
}

}  // namespace kstream

#endif  // KSTREAM_TESTS_UNIT_TESTDRIVER_WORD_COUNT_H_
