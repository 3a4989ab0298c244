#include "runtime/file_run.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "record/lines.h"
#include "runtime/file_worker.h"
#include "runtime/inside.h"
#include "runtime/line_source.h"
#include "topology/graph.h"
#include "transport/file/chunk_reader.h"

namespace kstream::runtime {
namespace {

constexpr std::chrono::seconds kFlushLimit{60};
// Nothing wakes a thread that sits out a pause: Stop only sets a flag.
constexpr std::chrono::milliseconds kPauseCheck{20};

const Location& InputOf(const RunState& state) { return state.Sources().front()->inputs.front(); }

// The chunks of one file, shared by the threads of a run. Threads take chunks in order and give
// their results back in the same order.
class ChunkedRun {
 public:
  ChunkedRun(RunState* state, OutputFiles* files, std::unique_ptr<transport::ChunkReader> reader)
      : state_(state), files_(files), path_(InputOf(*state).name), reader_(std::move(reader)) {}

  Status Run(int thread_count) {
    std::vector<std::thread> threads;
    for (int i = 1; i < thread_count; i++) threads.emplace_back([this, i] { Work(i); });
    Work(0);
    for (std::thread& thread : threads) thread.join();
    return status_;
  }

 private:
  void Work(int thread) {
    const Inside inside(state_);
    FileWorker worker(state_, files_, path_, thread);
    ThreadMetrics* const metrics = worker.metrics();
    metrics->Enter(ThreadState::kStarting);
    if (Status status = worker.Open(); !status.ok()) {
      Fail(status);
      return metrics->Enter(ThreadState::kFailed);
    }
    metrics->Enter(ThreadState::kRunning);
    transport::Chunk chunk;
    std::vector<EncodedLines> parts;
    Status result;
    for (int64_t turn = 0; Take(&chunk, &turn, metrics);) {
      const Clock::Instant begin = state_->clock->Steady();
      result = ProcessChunk(chunk, &worker);
      metrics->process_latency.Observe(state_->clock->Steady() - begin);
      worker.outputs()->TakeFiles(&parts);
      if (!Give(turn, result, parts, &worker)) break;
    }
    metrics->Enter(ThreadState::kStopping);
    Status flushed = worker.outputs()->FlushTopics(kFlushLimit);
    if (!flushed.ok()) Fail(flushed);
    metrics->Enter(result.ok() && flushed.ok() ? ThreadState::kStopped : ThreadState::kFailed);
  }

  Status ProcessChunk(const transport::Chunk& chunk, FileWorker* worker) {
    LineSplitter splitter = worker->Prepare(chunk);
    std::string_view line;
    size_t number = 0;
    while (splitter.Next(&line, &number)) {
      KSTREAM_RETURN_IF_ERROR(
          worker->Process(line, chunk.first_line + static_cast<int64_t>(number)));
      if (state_->limit_reached() || state_->time_over) break;
    }
    return worker->outputs()->failure();
  }

  bool Take(transport::Chunk* chunk, int64_t* turn, ThreadMetrics* metrics) {
    const std::lock_guard lock(take_mutex_);
    if (ended_ || state_->stopping() || state_->limit_reached()) return false;
    const Result<bool> more = reader_->Next(state_->stop, chunk);
    if (!more.ok()) Fail(more.status());
    ended_ = !more.ok() || !*more;
    SitOutPause(metrics);
    if (!ended_) *turn = taken_++;
    return !ended_;
  }

  // After a chunk was read, as it may be the first in a long time. What a stop during a pause
  // leaves is not done.
  void SitOutPause(ThreadMetrics* metrics) {
    if (!state_->paused) return;
    metrics->Enter(ThreadState::kPaused);
    while (state_->paused && !state_->stopping()) std::this_thread::sleep_for(kPauseCheck);
    if (state_->paused) ended_ = true;
    metrics->Enter(ThreadState::kRunning);
  }

  // Writes what came of chunk number `turn` when all before it have been written. False when the
  // run is over: what comes after a failure or a closed output is dropped.
  bool Give(int64_t turn, const Status& result, const std::vector<EncodedLines>& parts,
            FileWorker* worker) {
    std::unique_lock lock(give_mutex_);
    turn_changed_.wait(lock, [&] { return given_ == turn; });
    if (!over_) {
      Status written = worker->outputs()->WriteFiles(parts);
      worker->Report();
      over_ = !result.ok() || !written.ok() || files_->closed();
      if (status_.ok()) status_ = written.ok() ? result : written;
    }
    given_++;
    turn_changed_.notify_all();
    if (over_) End();
    return !over_;
  }

  void Fail(const Status& status) {
    const std::lock_guard lock(give_mutex_);
    if (status_.ok()) status_ = status;
    End();
  }

  void End() { ended_ = true; }

  RunState* const state_;
  OutputFiles* const files_;
  const std::string path_;
  const std::unique_ptr<transport::ChunkReader> reader_;
  std::mutex take_mutex_;  // guards reader_, taken_
  int64_t taken_ = 0;
  std::atomic<bool> ended_{false};
  std::mutex give_mutex_;  // guards given_, over_, status_
  std::condition_variable turn_changed_;
  int64_t given_ = 0;
  bool over_ = false;
  Status status_;
};

// Whether outputs or limits count one by one.
bool NeedsOneThread(const RunState& state) {
  const auto outputs = SinkLocations(state);
  const auto& nodes = state.topology.graph().nodes;
  return state.options.limit || state.options.max_errors ||
         std::any_of(outputs.begin(), outputs.end(),
                     [](auto& output) { return output.is_topic(); }) ||
         std::any_of(nodes.begin(), nodes.end(), [](auto& node) {
           return node.kind == TopologyNode::Kind::kSink &&
                  (node.sink.topic_of_record || node.sink.format == "csv" ||
                   node.sink.format == "tsv");
         });
}

}  // namespace

bool MayRunByChunks(const RunState& state) {
  const TopologyGraph& graph = state.graph();
  if (graph.stages.size() != 1) return false;
  const TopologyStage& stage = graph.stages[0];
  if (stage.sources.size() != 1 || !stage.stores.empty()) return false;
  const bool keeps_nothing =
      std::all_of(stage.nodes.begin(), stage.nodes.end(), [&](const size_t node) {
        return graph.nodes[node].kind != TopologyNode::Kind::kProcessor ||
               graph.nodes[node].supplier.stateless;
      });
  if (!keeps_nothing) return false;
  const SourceSpec& source = graph.nodes[stage.sources[0]].source;
  return source.inputs.size() == 1 && source.inputs[0].kind == Location::Kind::kFile &&
         source.format != "csv" && source.format != "tsv" && !source.extractor;
}

Status RunByChunks(RunState* state, OutputFiles* files) {
  KSTREAM_ASSIGN_OR_RETURN(auto reader,
                           transport::ChunkReader::Open(InputOf(*state).name, state->stop));
  KSTREAM_RETURN_IF_ERROR(OpenOutputs(*state, files));
  const int threads = NeedsOneThread(*state) ? 1 : state->options.threads;
  return ChunkedRun(state, files, std::move(reader)).Run(threads);
}

}  // namespace kstream::runtime
