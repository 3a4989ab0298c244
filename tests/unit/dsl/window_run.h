// A windowed aggregate in the real task; records and rows in short.
#ifndef KSTREAM_TESTS_UNIT_DSL_WINDOW_RUN_H_
#define KSTREAM_TESTS_UNIT_DSL_WINDOW_RUN_H_

#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "unit/dsl/aggregate_run.h"

namespace kstream {

// A count by key.
inline AggregateSpec Windowed(std::string_view window, std::chrono::milliseconds grace = {},
                              RowsOut emit = RowsOut::kFinal) {
  AggregateSpec spec{.functions = {{}}, .window = *WindowSpec::Parse(window), .emit = emit};
  spec.window->grace = grace;
  return spec;
}

// What becomes of a task's beginning.
inline Status InitOf(const Topology& topology, const task::Task::KeptStores& kept) {
  class Host final : public task::TaskHost {
    task::RecordSink* SinkOf(const TopologyNode&) override { return nullptr; }
    Status Send(const Location&, const Record&, int32_t) override { return Status::Ok(); }
    void RequestCommit() override {}
    const Clock& clock() const override { return clock_; }
    ManualClock clock_;
  } host;
  task::Task task(topology, 0, "0_0", &host);
  return task.Init(kept);
}

class WindowRun : public AggregateRun {
 public:
  using AggregateRun::AggregateRun;

  // Records "key@time", which must be good.
  void In(const std::vector<std::string>& records) {
    for (const std::string& record : records) {
      const size_t at = record.find('@');
      const Status status = Process("1", std::string_view(record).substr(0, at), {},
                                    std::stoll(record.substr(at + 1)));
      EXPECT_TRUE(status.ok()) << record << ": " << status.message();
    }
  }
  void End() {
    const Status status = AggregateRun::End();
    EXPECT_TRUE(status.ok()) << status.message();
  }

  // "key[start,end)=count", in the order in which they came.
  std::vector<std::string> Rows() { return RowsFrom(0); }
  std::vector<std::string> RowsFrom(size_t first) {
    std::vector<std::string> rows;
    for (size_t i = first; i < out().records.size(); i++) {
      const auto row = nlohmann::json::parse(*out().records[i].value);
      rows.push_back(row["key"].get<std::string>() + "[" + row["window_start"].dump() + "," +
                     row["window_end"].dump() + ")=" + row["count"].dump());
    }
    return rows;
  }
};

}  // namespace kstream

#endif  // KSTREAM_TESTS_UNIT_DSL_WINDOW_RUN_H_
