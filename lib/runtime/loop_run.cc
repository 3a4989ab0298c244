#include "runtime/loop_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/log.h"
#include "base/stopped.h"
#include "kstream/internal_topics.h"
#include "runtime/file_cluster.h"
#include "runtime/inside.h"
#include "runtime/output_check.h"
#include "runtime/pulse.h"
#include "runtime/standbys.h"
#include "runtime/stream_thread.h"

namespace kstream::runtime {
namespace {

// The files among the inputs, as a cluster of their own.
Status OpenFiles(RunState* state) {
  std::vector<FileInput> inputs;
  for (const SourceSpec* source : state->Sources()) {
    for (const Location& input : source->inputs) {
      if (input.kind != Location::Kind::kFile) continue;
      KSTREAM_ASSIGN_OR_RETURN(const Serdes serdes, state->SerdesOf(*source));
      inputs.push_back({input.name, source, serdes});
    }
  }
  if (inputs.empty()) return Status::Ok();
  KSTREAM_ASSIGN_OR_RETURN(
      state->clusters[std::string(kFiles)],
      FileCluster::Open(inputs, state->options.partitions, state->clock.get(), state->stop));
  return Status::Ok();
}

// Whether there is a store on disk.
bool KeepsOnDisk(const RunState& state) {
  const auto& stores = state.graph().stores;
  return std::any_of(stores.begin(), stores.end(), [&](const TopologyStore& store) {
    return store.kept && state.EngineOf(store.spec) == StoreSpec::Engine::kRocksDb;
  });
}

// What members must agree in: the topology, and how its partitions make tasks.
std::string GroupHash(const Topology& topology, const GrouperChoice& grouper) {
  if (grouper.kind == GrouperChoice::Kind::kDefault) return topology.Hash();
  return fmt::format("{:016x}", Fnv1a(topology.Describe() + "grouper " + grouper.ToString()));
}

}  // namespace

RunShared::RunShared(RunState* state, OutputFiles* files)
    : state(state), files(files), admins(state), planner(state, &admins), ends(state, &admins) {}

RunShared::~RunShared() = default;

std::string RunShared::instance_id() const {
  const std::string& id = state->options.instance_id;
  if (id != kOwnInstance) return id;
  return directory ? directory->instance() : "";
}

std::string RunShared::transactional_id(int thread) const {
  if (state->options.guarantee != Guarantee::kExactlyOnce || directory == nullptr) return "";
  return fmt::format("{}-{}-{}", state->options.app, directory->instance(), thread);
}

Status RunShared::Open() {
  if (NeedsStateDirectory(state->topology, state->options)) {
    KSTREAM_ASSIGN_OR_RETURN(const std::string root, state->options.StateDir());
    KSTREAM_ASSIGN_OR_RETURN(directory,
                             StateDirectory::Open(root, state->options.app, state->stop));
    // Without a group no position is kept, so each run begins with nothing.
    if (!state->grouped()) KSTREAM_RETURN_IF_ERROR(directory->Clear());
  } else if (KeepsOnDisk(*state)) {
    KSTREAM_ASSIGN_OR_RETURN(const std::string root, state->options.StateDir());
    KSTREAM_ASSIGN_OR_RETURN(directory, StateDirectory::OpenTemporary(root));
  }
  if (directory) {
    memory = store::rocksdb::Memory::New(static_cast<uint64_t>(state->options.memory));
  }
  KSTREAM_RETURN_IF_ERROR(CheckOutputs(*state));
  KSTREAM_RETURN_IF_ERROR(OpenFiles(state));
  // One consumer reads all files, in one order.
  threads = state->clusters.contains(std::string(kFiles)) ? 1 : state->options.threads;
  if (state->grouped()) {
    session = MillisecondsOf(state->options.home.consumer, "session.timeout.ms",
                             transport::kSessionTimeout);
    KSTREAM_ASSIGN_OR_RETURN(
        const GrouperChoice grouper,
        GrouperChoice::Parse(state->options.grouper, state->options.custom_grouper));
    tag.hash = GroupHash(state->topology, grouper);
    tag.version = state->options.version;
    tag.instance = NewInstance();
    KSTREAM_ASSIGN_OR_RETURN(auto admin, state->clusters.at("")->NewAdmin());
    check = std::make_unique<GroupCheck>(
        GroupCheck::Options{state->options.app, tag, instance_id(), session}, std::move(admin),
        state->clock.get());
    // Before the planner writes: a start that is refused leaves nothing behind.
    KSTREAM_RETURN_IF_ERROR(check->Precheck());
  }
  KSTREAM_RETURN_IF_ERROR(planner.Open());
  KSTREAM_RETURN_IF_ERROR(OpenOutputs(*state, files));
  if (state->options.standby > 0) standbys = std::make_unique<Standbys>(this);
  return Status::Ok();
}

Status RunLoop(RunState* state, OutputFiles* files, const LoopCallbacks& callbacks) {
  RunShared shared(state, files);
  if (Status opened = shared.Open(); !opened.ok()) {
    if (!IsStopped(opened)) return opened;
    // Nothing was read yet, so nothing is left undone.
    Log(LogLevel::kInfo, opened.message());
    return Status::Ok();
  }
  shared.on_ready = [&](int thread, bool ready) {
    callbacks.on_ready(thread, ready, shared.threads);
  };
  std::optional<Pulse> pulse;
  if (state->grouped()) {
    pulse.emplace(shared.session);
    shared.stood_still = [&](Clock::Instant since) { return pulse->Stopped(since); };
  }
  std::mutex mutex;
  Status first;
  const auto work = [&](int index) {
    const Inside inside(state);
    for (;;) {
      StreamThread thread(&shared, index);
      Status status = thread.Run();
      if (status.ok()) return;
      if (thread.stood_still()) {
        Log(LogLevel::kWarning, status.message());
        shared.on_ready(index, false);
        if (state->stopping()) return;
        continue;
      }
      // Without a group there is no commit at which another thread could go on.
      if (!state->stopping() &&
          callbacks.on_error(status, index) == ErrorResponse::kReplaceThread && state->grouped()) {
        shared.on_ready(index, false);
        Log(LogLevel::kWarning, status.At("thread replaced").message());
        continue;
      }
      const std::lock_guard lock(mutex);
      if (first.ok()) first = std::move(status);
      state->stop = true;
      return;
    }
  };
  std::vector<std::thread> threads;
  for (int i = 1; i < shared.threads; i++) threads.emplace_back(work, i);
  if (shared.standbys) shared.standbys->Start();
  work(0);
  for (std::thread& thread : threads) thread.join();
  if (shared.standbys) shared.standbys->Stop();
  return first;
}

}  // namespace kstream::runtime
