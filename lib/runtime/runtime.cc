// The public Runtime: a configuration that was checked, run in threads of its own.
#include "kstream/runtime.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "base/log.h"
#include "metrics/snapshot.h"
#include "runtime/configuration.h"
#include "runtime/file_run.h"
#include "runtime/inside.h"
#include "runtime/life_cycle.h"
#include "runtime/loop_run.h"
#include "runtime/run_state.h"
#include "runtime/run_status.h"
#include "task/thrown.h"

namespace kstream {
namespace {

using runtime::Inside;
using runtime::LifeCycle;
using runtime::RunState;

// A wait that no clock overflows by.
constexpr std::chrono::milliseconds kLongest = std::chrono::hours(24 * 365);

// Sets the flags of a run when its time is over.
class Deadline {
 public:
  explicit Deadline(RunState* state) {
    if (!state->options.timeout) return;
    thread_ = std::thread([this, state] {
      std::unique_lock lock(mutex_);
      const auto limit = std::min(*state->options.timeout, kLongest);
      if (!changed_.wait_for(lock, limit, [this] { return ended_; })) {
        state->time_over = true;
        state->stop = true;
      }
    });
  }
  ~Deadline() {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;
  std::thread thread_;
};

class TopologyRuntime final : public Runtime {
 public:
  explicit TopologyRuntime(std::unique_ptr<RunState> state)
      : state_(std::move(state)), life_(state_->registry.NewState("kstream_runtime_state", {})) {}

  ~TopologyRuntime() override {
    Stop();
    if (thread_.joinable()) thread_.join();
  }

  void SetStateListener(StateListener listener) override {
    if (!listener) return life_.SetListener(nullptr);
    // Start and Close tell it in the caller's thread.
    life_.SetListener(
        [this, listener = std::move(listener)](RuntimeState now, RuntimeState before) {
          const Inside inside(state_.get());
          listener(now, before);
        });
  }
  void SetErrorHandler(ErrorHandler handler) override {
    // No exception of the user's may end the process here; there is nobody to hand it to.
    callbacks_.on_error = [handler = std::move(handler)](const Status& error, int thread) {
      try {
        return handler(error, thread);
      } catch (...) {
        const Status thrown = task::Thrown("the error handler");
        Log(LogLevel::kError, fmt::format("{}: shutting down", thrown.message()));
        return ErrorResponse::kShutdown;
      }
    };
  }

  Status Start() override {
    // Asked of the state alone, a runtime that is running would do: it may rebalance.
    if (started_.exchange(true) || !life_.Move(RuntimeState::kRebalancing)) {
      return Status::Usage("a runtime starts once: create another");
    }
    callbacks_.on_ready = [this](int thread, bool ready, int threads) {
      life_.Ready(thread, ready, threads);
    };
    thread_ = std::thread([this] { Work(); });
    return Status::Ok();
  }

  Status Wait() override {
    KSTREAM_RETURN_IF_ERROR(CheckOutside());
    std::unique_lock lock(mutex_);
    if (!thread_.joinable()) return Status::Usage("the runtime has not been started");
    changed_.wait(lock, [this] { return ended_; });
    return outcome_;
  }

  Status Close(std::chrono::milliseconds limit) override {
    KSTREAM_RETURN_IF_ERROR(CheckOutside());
    Stop();
    // Nothing is held here: the listener may ask the runtime anything.
    life_.Move(RuntimeState::kPendingShutdown);
    std::unique_lock lock(mutex_);
    if (!thread_.joinable()) return Status::Ok();
    if (!changed_.wait_for(lock, std::min(limit, kLongest), [this] { return ended_; })) {
      return Status(StatusCode::kTimeLimit, "the runtime is still finishing: wait for it longer");
    }
    return outcome_;
  }

  void Stop() override { state_->stop = true; }

  void Pause() override {
    if (!state_->paused.exchange(true)) Log(LogLevel::kInfo, "paused");
  }
  void Resume() override {
    if (state_->paused.exchange(false)) Log(LogLevel::kInfo, "resumed");
  }
  bool paused() const override { return state_->paused; }

  RuntimeState state() const override { return life_.state(); }

  Counts counts() const override { return state_->counts(); }

  std::string Metrics() const override { return metrics::RenderPrometheus(Snapshot()); }

  std::string MetricsText() override {
    metrics::Snapshot now = Snapshot();
    const std::lock_guard lock(text_mutex_);
    std::string text = metrics::RenderText(now, told_ ? &*told_ : nullptr);
    told_ = std::move(now);
    return text;
  }

  std::string StatusJson() override { return status_.Line(life_.state(), Snapshot()); }

  std::vector<std::string> StoreNames() const override {
    std::vector<std::string> names;
    for (const TopologyStore& store : state_->graph().stores) {
      if (store.kept) names.push_back(store.name());
    }
    return names;
  }

  Result<std::vector<StoreInstance>> Store(std::string_view name) const override {
    const std::vector<std::string> kept = StoreNames();
    if (std::find(kept.begin(), kept.end(), name) == kept.end()) {
      return Status::Usage(fmt::format("the runtime keeps no store '{}' of this topology", name));
    }
    return state_->stores.Of(name);
  }

 private:
  Status CheckOutside() const {
    if (!Inside::Of(state_.get())) return Status::Ok();
    return Status::Usage("a runtime cannot wait for its end in its own threads: call Stop there");
  }

  void Work() {
    const Inside inside(state_.get());
    Status status;
    {
      const Deadline deadline(state_.get());
      status = RunOnce();
    }
    if (status.ok() && state_->time_over) {
      status = Status(StatusCode::kTimeLimit, "the time given by --timeout is over");
    }
    const bool failed = !status.ok() && status.code() != StatusCode::kTimeLimit;
    life_.Move(failed ? RuntimeState::kPendingError : RuntimeState::kPendingShutdown);
    life_.Move(failed ? RuntimeState::kError : RuntimeState::kNotRunning);
    const std::lock_guard lock(mutex_);
    outcome_ = std::move(status);
    ended_ = true;
    changed_.notify_all();
  }

  Status RunOnce() {
    runtime::OutputFiles files;
    Status status;
    if (runtime::MayRunByChunks(*state_)) {
      life_.Ready(0, true, 1);
      status = runtime::RunByChunks(state_.get(), &files);
      if (!status.ok() && !state_->stop) static_cast<void>(callbacks_.on_error(status, 0));
    } else {
      status = runtime::RunLoop(state_.get(), &files, callbacks_);
    }
    if (const Status closed = files.Close(); status.ok()) status = closed;
    return status;
  }

  metrics::Snapshot Snapshot() const { return state_->registry.Take(state_->clock->Steady()); }

  const std::unique_ptr<RunState> state_;
  LifeCycle life_;
  runtime::LoopCallbacks callbacks_;
  std::atomic<bool> started_ = false;
  std::mutex mutex_;  // guards ended_, outcome_
  std::condition_variable changed_;
  bool ended_ = false;
  Status outcome_;
  runtime::RunStatus status_{state_.get()};
  std::mutex text_mutex_;                  // guards told_
  std::optional<metrics::Snapshot> told_;  // by the last MetricsText
  std::thread thread_;
};

}  // namespace

Runtime::~Runtime() = default;

Status Runtime::Run() {
  KSTREAM_RETURN_IF_ERROR(Start());
  return Wait();
}

Result<std::unique_ptr<Runtime>> Runtime::Create(Topology topology, RuntimeOptions options) {
  auto state = std::make_unique<RunState>(std::move(topology), std::move(options));
  KSTREAM_RETURN_IF_ERROR(runtime::CheckConfiguration(state.get()));
  KSTREAM_RETURN_IF_ERROR(runtime::MakeClusters(state.get()));
  return std::unique_ptr<Runtime>(new TopologyRuntime(std::move(state)));
}

}  // namespace kstream
