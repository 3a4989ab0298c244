#include "admin/instances.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "admin/changelog_reader.h"
#include "admin/row_keys.h"
#include "base/log.h"
#include "base/printable.h"
#include "runtime/changelogs.h"
#include "store/changelog_hash.h"
#include "store/rocksdb/rocksdb_engine.h"

namespace kstream::admin {

using transport::TopicPartition;

std::string Named(const Instance& instance) {
  return fmt::format("{}[{}]", Printable(instance.store), instance.task);
}

Instances::Instances(InspectOptions options, transport::Cluster* home, const Clock* clock)
    : options_(std::move(options)), home_(home), clock_(clock) {}

Instances::~Instances() = default;

Status Instances::ReadManifest() {
  if (home_ == nullptr || manifest_) return Status::Ok();
  runtime::ManifestLog log(home_, options_.app, clock_);
  KSTREAM_ASSIGN_OR_RETURN(manifest_, log.Read());
  if (manifest_) return Status::Ok();
  return Status::Cluster(
      fmt::format("application {} has no manifest on this cluster: it has not run there, or keeps "
                  "nothing; leave out --brokers to look into its directory alone",
                  options_.app));
}

Result<std::vector<Instance>> Instances::All() {
  KSTREAM_RETURN_IF_ERROR(ReadManifest());
  std::vector<Instance> all;
  std::error_code error;
  const std::string directory = fmt::format("{}/{}", options_.state_dir, options_.app);
  if (home_ == nullptr || (!options_.from_changelog && std::filesystem::exists(directory, error))) {
    KSTREAM_ASSIGN_OR_RETURN(const auto found,
                             runtime::ListStores(options_.state_dir, options_.app));
    for (const auto& here : found) all.push_back({here.store, here.task, here.path});
  }
  if (home_ == nullptr) return all;
  std::set<std::pair<std::string, int32_t>> here;
  for (const Instance& instance : all) here.emplace(instance.store, instance.task);
  for (const std::string& store : manifest_->stores) {
    const auto* const topic = manifest_->Find(runtime::ChangelogTopic(options_.app, store));
    for (int32_t task = 0; topic != nullptr && task < topic->partitions; task++) {
      if (!here.contains({store, task})) all.push_back({store, task});
    }
  }
  std::ranges::sort(all, {}, [](const Instance& i) { return std::pair(i.store, i.task); });
  return all;
}

Status Instances::CheckStore(const RowQuery& query, const std::vector<Instance>& all) const {
  std::set<std::string> names;
  for (const Instance& instance : all) names.insert(Printable(instance.store));
  const std::string_view where = home_ ? "on this cluster" : "here";
  if (names.empty()) {
    return {StatusCode::kState,
            fmt::format("application {} keeps no store {}", options_.app, where)};
  }
  if (query.store.empty() && names.size() > 1) {
    return Status::Usage(
        fmt::format("application {} has several stores, say which with --store: {}", options_.app,
                    fmt::join(names, ", ")));
  }
  if (query.store.empty() || names.contains(query.store)) return Status::Ok();
  return {StatusCode::kState,
          fmt::format("application {} has no store {} {}: it has {}", options_.app,
                      Printable(query.store), where, fmt::join(names, ", "))};
}

Result<std::vector<Instance>> Instances::Asked(const RowQuery& query) {
  KSTREAM_ASSIGN_OR_RETURN(std::vector<Instance> all, All());
  KSTREAM_RETURN_IF_ERROR(CheckStore(query, all));
  const std::string store = query.store.empty() ? all.front().store : query.store;
  std::erase_if(all, [&](const Instance& instance) {
    return instance.store != store || (query.task && instance.task != *query.task);
  });
  if (!all.empty()) return all;
  return Status(StatusCode::kState, fmt::format("store {} has no task {} {}", Printable(store),
                                                *query.task, home_ ? "on this cluster" : "here"));
}

// Of a run on files the directory has all.
Result<std::optional<int32_t>> Instances::TasksOf(std::string_view store) {
  if (home_ != nullptr) {
    const auto* const topic = manifest_->Find(runtime::ChangelogTopic(options_.app, store));
    return topic == nullptr ? std::nullopt : std::optional(topic->partitions);
  }
  KSTREAM_ASSIGN_OR_RETURN(const auto found, runtime::ListStores(options_.state_dir, options_.app));
  int32_t tasks = 0;
  for (const auto& here : found) {
    if (here.store != store) continue;
    KSTREAM_ASSIGN_OR_RETURN(const auto engine, store::rocksdb::OpenForReading(here.path));
    if (!engine->checkpoint().incarnation.empty()) return std::optional<int32_t>();
    tasks = std::max(tasks, here.task + 1);
  }
  return std::optional(tasks);
}

Result<transport::Admin::Watermarks> Instances::EndsOf(const TopicPartition& changelog) {
  KSTREAM_ASSIGN_OR_RETURN(const auto admin, home_->NewAdmin());
  KSTREAM_ASSIGN_OR_RETURN(const auto logs, admin->Offsets(std::span(&changelog, 1)));
  return logs.at(changelog);
}

std::optional<TopicPartition> Instances::ChangelogOf(const Instance& instance) const {
  if (!manifest_) return std::nullopt;
  const auto* const topic = manifest_->Find(runtime::ChangelogTopic(options_.app, instance.store));
  if (topic == nullptr || instance.task >= topic->partitions) return std::nullopt;
  return TopicPartition{topic->name, instance.task};
}

Result<std::unique_ptr<StoreView>> Instances::Open(const Instance& instance,
                                                   const RowQuery& query) {
  std::unique_ptr<store::Engine> base;
  if (!instance.path.empty()) {
    KSTREAM_ASSIGN_OR_RETURN(base, store::rocksdb::OpenForReading(instance.path));
  }
  auto view = std::make_unique<StoreView>(std::move(base), [this] { return Room(); });
  if (const auto changelog = ChangelogOf(instance)) {
    KSTREAM_RETURN_IF_ERROR(LayTail(instance, *changelog, query, view.get()));
    return view;
  }
  const store::Checkpoint at = view->base()->checkpoint();
  Log(LogLevel::kInfo,
      at.last < 0
          ? fmt::format("{}: as of its last flush; no changelog record is in it", Named(instance))
          : fmt::format("{}: as of changelog offset {}", Named(instance), at.offset));
  return view;
}

// First the end, then the rows until there: what is committed before now is seen.
Status Instances::LayTail(const Instance& instance, const TopicPartition& changelog,
                          const RowQuery& query, StoreView* view) {
  KSTREAM_ASSIGN_OR_RETURN(const auto log, EndsOf(changelog));
  const std::string name = Named(instance);
  std::optional<store::Checkpoint> at;
  std::string why;
  if (view->base() != nullptr) {
    at = view->base()->checkpoint();
    // Then the store has more than anybody else knows.
    if (const Status reaches = runtime::CheckReaches(*at, manifest_->incarnation, changelog,
                                                     instance.store, log, options_.app);
        !reaches.ok()) {
      Log(LogLevel::kWarning, reaches.message());
      return Status::Ok();
    }
    why = runtime::WhyAnew(*at, manifest_->incarnation, log, clock_->WallMs());
  }
  if (at && why.empty()) {
    bool same = true;
    const bool check = at->last >= log.low;
    KSTREAM_RETURN_IF_ERROR(ReadTail(changelog, check ? at->last : at->offset, log.high,
                                     check ? &*at : nullptr, query, view, &same));
    if (!same) why = fmt::format("the record at offset {} is another than it was", at->last);
  }
  if (!at || !why.empty()) {
    if (at) {
      Log(LogLevel::kWarning, fmt::format("{}: the directory is not used, {}: all is read from {}",
                                          name, why, changelog.topic));
    }
    view->Forget();
    bool same = true;
    KSTREAM_RETURN_IF_ERROR(ReadTail(changelog, log.low, log.high, nullptr, query, view, &same));
  }
  Log(LogLevel::kInfo, fmt::format("{}: as of changelog offset {}", name, log.high));
  return Status::Ok();
}

// `at`: the first record is the last that the rows contain, if the log is still the same.
Status Instances::ReadTail(const TopicPartition& changelog, int64_t from, int64_t end,
                           const store::Checkpoint* at, const RowQuery& query, StoreView* view,
                           bool* same) {
  const LogPart part{changelog, from, end};
  const auto take = [&](std::span<const Record> records) -> Status {
    std::vector<store::Change> changes;
    for (const Record& record : records) {
      if (!record.key || !*same) continue;
      if (at != nullptr && record.offset == at->last) {
        *same = store::ChangelogHash(*record.key, record.value) == at->last_hash;
        continue;
      }
      if (!RowKeys::MayAsk(query, *record.key)) continue;
      changes.push_back({*record.key, record.value, runtime::RowTimeOf(record)});
    }
    return view->Lay(changes);
  };
  return ReadParts(home_, *clock_, std::span(&part, 1), take);
}

Result<std::string> Instances::Room() {
  if (!room_) {
    KSTREAM_ASSIGN_OR_RETURN(room_, runtime::StateDirectory::OpenTemporary(options_.state_dir));
  }
  return room_->Make("view", rooms_++);
}

}  // namespace kstream::admin
