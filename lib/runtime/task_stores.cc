#include "runtime/task_stores.h"

#include <algorithm>
#include <utility>

#include "runtime/changelogs.h"
#include "store/memory/memory_engine.h"
#include "store/rocksdb/rocksdb_engine.h"

namespace kstream::runtime {
namespace {

// Where the instance of a store lives.
Result<std::unique_ptr<store::Engine>> OpenEngine(RunShared* shared, const StoreSpec& spec,
                                                  int32_t task) {
  if (shared->directory == nullptr ||
      shared->state->EngineOf(spec) != StoreSpec::Engine::kRocksDb) {
    return store::memory::NewEngine();
  }
  KSTREAM_ASSIGN_OR_RETURN(const std::string directory, shared->directory->Make(spec.name, task));
  return store::rocksdb::Open(directory, shared->memory);
}

std::optional<std::string> ChangelogTopicOf(const RunState& state, const TopologyStore& store) {
  if (!state.grouped()) return std::nullopt;
  return ChangelogOf(state.options.app, store);
}

}  // namespace

TaskStores::~TaskStores() = default;

std::vector<transport::TopicPartition> TaskStores::ChangelogsOf(const RunState& state, TaskId id) {
  std::vector<transport::TopicPartition> names;
  for (const size_t index : state.graph().stages[id.stage].stores) {
    if (const auto topic = ChangelogTopicOf(state, state.graph().stores[index])) {
      names.push_back({*topic, id.number});
    }
  }
  return names;
}

Result<std::unique_ptr<TaskStores>> TaskStores::Open(RunShared* shared, TaskId id) {
  std::unique_ptr<TaskStores> self(new TaskStores(shared));
  const TopologyGraph& graph = shared->state->graph();
  for (const size_t index : graph.stages[id.stage].stores) {
    const TopologyStore& spec = graph.stores[index];
    if (!spec.kept) continue;
    KSTREAM_ASSIGN_OR_RETURN(auto engine, OpenEngine(shared, spec.spec, id.number));
    Store& store = self->stores_.emplace_back();
    store.kept = std::make_unique<store::KeptStore>(
        spec.name(), std::move(engine), shared->memory ? shared->memory->rows() : nullptr);
    if (const auto topic = ChangelogTopicOf(*shared->state, spec)) {
      store.changelog = {*topic, id.number};
    }
  }
  if (self->stores_.empty()) self.reset();
  return self;
}

Status TaskStores::OpenJournals(ThreadOutputs* outputs) {
  if (shared_->state->options.dry_run) return Status::Ok();
  for (Store& store : stores_) {
    if (!store.changelog) continue;
    KSTREAM_ASSIGN_OR_RETURN(
        store.journal, outputs->OpenChangelog(store.changelog->topic, store.changelog->partition));
  }
  return Status::Ok();
}

void TaskStores::Drop() {
  for (Store& store : stores_) {
    store.kept->Drop();
    store.journal.reset();
  }
}

void TaskStores::ShowStandby(TaskId id, bool stands_by) const {
  if (shared_->directory == nullptr) return;
  for (const Store& store : stores_) {
    shared_->directory->ShowStandby(store.kept->name(), id.number, stands_by);
  }
}

Status TaskStores::EndLoad() {
  for (Store& store : stores_) KSTREAM_RETURN_IF_ERROR(store.kept->engine()->EndLoad());
  return Status::Ok();
}

bool TaskStores::journaled() const {
  return std::any_of(stores_.begin(), stores_.end(),
                     [](const Store& store) { return store.changelog.has_value(); });
}

Result<bool> TaskStores::Empty() const {
  for (const Store& store : stores_) {
    bool empty = true;
    KSTREAM_RETURN_IF_ERROR(store.kept->All([&](std::string_view, std::string_view) {
      empty = false;
      return false;
    }));
    if (!empty) return false;
  }
  return true;
}

task::Task::KeptStores TaskStores::kept() const {
  task::Task::KeptStores kept;
  for (const Store& store : stores_) kept.emplace(store.kept->name(), store.kept.get());
  return kept;
}

void TaskStores::Offer(TaskId id) const {
  for (const Store& store : stores_) shared_->state->stores.Add(id.number, store.kept->reader());
}

void TaskStores::SetEventTime(const std::function<int64_t()>& event_time) {
  for (Store& store : stores_) store.kept->SetEventTime(event_time);
}

Status TaskStores::Seal() {
  for (Store& store : stores_) {
    if (store.journal) store.journal->Begin();
    KSTREAM_RETURN_IF_ERROR(store.kept->Seal(store.journal.get()));
  }
  return Status::Ok();
}

Result<bool> TaskStores::Keep(const std::string& incarnation, bool wait) {
  const int64_t now = shared_->state->clock->WallMs();
  bool kept = true;
  for (Store& store : stores_) {
    if (!store.kept->sealed()) continue;  // it is kept, or its task came after the seal
    if (!store.kept->committing()) {
      const int64_t last = store.journal ? store.journal->last() : -1;
      KSTREAM_RETURN_IF_ERROR(store.kept->StartCommit(incarnation, last, now));
    }
    KSTREAM_ASSIGN_OR_RETURN(const bool ended, store.kept->EndCommit(wait));
    kept = kept && ended;
  }
  return kept;
}

size_t TaskStores::dirty_bytes() const {
  size_t bytes = 0;
  for (const Store& store : stores_) bytes += store.kept->dirty_bytes();
  return bytes;
}

Status TaskStores::Close() {
  Status first;
  for (Store& store : stores_) {
    store.kept->Drop();
    if (Status closed = store.kept->CloseEngine(); first.ok()) first = std::move(closed);
  }
  return first;
}

}  // namespace kstream::runtime
