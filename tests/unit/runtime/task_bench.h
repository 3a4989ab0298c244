// Stage tasks without a thread around them. Their stage has the sources that a test gives it, and
// one processor, which notes the offsets that it has. Dead letters are noted with their reasons.
#ifndef KSTREAM_TESTS_UNIT_RUNTIME_TASK_BENCH_H_
#define KSTREAM_TESTS_UNIT_RUNTIME_TASK_BENCH_H_

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "record/json_document.h"
#include "runtime/stage_task.h"
#include "unit/runtime/processors.h"

namespace kstream::runtime {

class TaskBench : private task::TaskHost {
 public:
  // A source for each of `sources`; the topics of their inputs may be any.
  explicit TaskBench(std::vector<SourceSpec> sources = std::vector<SourceSpec>(1),
                     RuntimeOptions options = {}, FunctionProcessor::InitFunction init = nullptr,
                     FunctionProcessor::PunctuateFunction punctuate = nullptr)
      : state(Build(std::move(sources), std::move(init), std::move(punctuate)), std::move(options)),
        outputs_(&state, &files_),
        bad_records_(state.policy(), &state.bad, &letters_) {
    state.clock = time;
    cache_.reader = &reader_;
    for (const SourceSpec* source : state.Sources()) {
      ingests_.push_back(*task::Ingest::Create(*source, state.serdes, time.get()));
    }
  }

  std::unique_ptr<StageTask> Make(int32_t number, std::vector<TaskPartition> partitions) {
    return Make(number, StageTask::Start{std::move(partitions), {}, {}, {}});
  }
  std::unique_ptr<StageTask> Make(int32_t number, StageTask::Start start) {
    StageTask::Env env{&state, 0, &outputs_, this, &bad_records_, &cache_, {}};
    for (auto& ingest : ingests_) env.ingests.push_back(ingest.get());
    auto task = std::make_unique<StageTask>(env, TaskId{0, number}, std::move(start));
    EXPECT_TRUE(task->Init().ok());
    return task;
  }

  std::map<int32_t, std::vector<int64_t>> processed;  // by task
  std::vector<std::string> letters;                   // why each was one
  ProcessFunction fails;                              // what a record leads to, if not Ok
  const std::shared_ptr<ManualClock> time = std::make_shared<ManualClock>();
  RunState state;

 private:
  class Letters final : public task::RecordSink {
   public:
    explicit Letters(std::vector<std::string>* reasons) : reasons_(reasons) {}
    Status Write(const Record& record) override {
      reasons_->emplace_back(record.headers[0].value.value_or("NULL"));
      return Status::Ok();
    }

   private:
    std::vector<std::string>* const reasons_;
  };

  Topology Build(std::vector<SourceSpec> sources, FunctionProcessor::InitFunction init,
                 FunctionProcessor::PunctuateFunction punctuate) {
    TopologyBuilder builder;
    std::vector<std::string> names;
    for (SourceSpec& source : sources) {
      if (source.inputs.empty()) source.inputs = {Location::Topic("t")};
      names.push_back("source" + std::to_string(names.size()));
      builder.AddSource(names.back(), std::move(source));
    }
    const auto notes = [this](ProcessorContext& context, const Record& record) {
      if (fails) KSTREAM_RETURN_IF_ERROR(fails(context, record));
      const std::string task(context.task());
      processed[std::stoi(task.substr(task.find('_') + 1))].push_back(record.offset);
      return Status::Ok();
    };
    builder.AddProcessor("notes", Does(notes, std::move(init), std::move(punctuate)), names);
    return *builder.Build();
  }

  task::RecordSink* SinkOf(const TopologyNode&) override { return nullptr; }
  Status Send(const Location&, const Record&, int32_t) override { return Status::Ok(); }
  void RequestCommit() override {}
  const kstream::Clock& clock() const override { return *time; }

  OutputFiles files_;
  ThreadOutputs outputs_;
  Letters letters_{&letters};
  task::BadRecords bad_records_;
  json::Reader reader_;
  json::ValueCache cache_;
  std::vector<std::unique_ptr<task::Ingest>> ingests_;
};

}  // namespace kstream::runtime

#endif  // KSTREAM_TESTS_UNIT_RUNTIME_TASK_BENCH_H_
