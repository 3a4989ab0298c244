#include "admin/app_inspector.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "admin/changelog_reader.h"
#include "admin/row_keys.h"
#include "base/log.h"
#include "base/printable.h"
#include "runtime/changelogs.h"
#include "store/changelog_hash.h"
#include "store/rocksdb/format.h"
#include "store/rocksdb/rocksdb_engine.h"

namespace kstream::admin {
namespace {

using transport::TopicPartition;

std::string Named(std::string_view store, int32_t task) {
  return fmt::format("{}[{}]", Printable(store), task);
}

}  // namespace

AppInspector::AppInspector(InspectOptions options, std::unique_ptr<transport::Cluster> home,
                           const Clock* clock)
    : options_(std::move(options)), home_(std::move(home)), clock_(clock) {}

AppInspector::~AppInspector() = default;

Result<std::vector<InspectedStore>> AppInspector::List() {
  KSTREAM_ASSIGN_OR_RETURN(const auto found, runtime::ListStores(options_.state_dir, options_.app));
  std::vector<InspectedStore> instances;
  for (const runtime::StoreDirectory& directory : found) {
    KSTREAM_ASSIGN_OR_RETURN(const auto engine, store::rocksdb::OpenForReading(directory.path));
    const store::Checkpoint at = engine->checkpoint();
    const store::EngineStats stats = engine->Stats();
    instances.push_back({.store = directory.store,
                         .task = directory.task,
                         .path = directory.path,
                         .engine = "rocksdb",
                         .format = static_cast<int>(store::rocksdb::kFormat),
                         .rows = stats.rows,
                         .bytes = stats.bytes,
                         .offset = at.offset,
                         .incarnation = at.incarnation,
                         .written = at.written});
    KSTREAM_RETURN_IF_ERROR(engine->Close());
  }
  return instances;
}

Result<std::optional<std::string>> AppInspector::Holder() {
  return runtime::HolderOf(options_.state_dir, options_.app);
}

Status AppInspector::ReadManifest() {
  if (home_ == nullptr || manifest_) return Status::Ok();
  runtime::ManifestLog log(home_.get(), options_.app, clock_);
  KSTREAM_ASSIGN_OR_RETURN(manifest_, log.Read());
  if (manifest_) return Status::Ok();
  return Status::Cluster(
      fmt::format("application {} has no manifest on this cluster: it has not run there, or keeps "
                  "nothing; leave out --brokers to look into its directory alone",
                  options_.app));
}

Result<std::vector<AppInspector::Instance>> AppInspector::All() {
  std::vector<Instance> all;
  if (!options_.from_changelog) {
    KSTREAM_ASSIGN_OR_RETURN(const auto found,
                             runtime::ListStores(options_.state_dir, options_.app));
    for (const auto& directory : found) {
      all.push_back({directory.store, directory.task, directory.path});
    }
    return all;
  }
  for (const std::string& store : manifest_->stores) {
    const runtime::InternalTopic* const topic =
        manifest_->Find(runtime::ChangelogTopic(options_.app, store));
    if (topic == nullptr) continue;
    for (int32_t task = 0; task < topic->partitions; task++) all.push_back({store, task, ""});
  }
  std::ranges::sort(all, {}, [](const Instance& i) { return std::pair(i.store, i.task); });
  return all;
}

Status AppInspector::CheckStore(const RowQuery& query, const std::vector<Instance>& all) const {
  std::set<std::string> names;
  for (const Instance& instance : all) names.insert(Printable(instance.store));
  const std::string_view where = options_.from_changelog ? "on this cluster" : "here";
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

Result<std::vector<AppInspector::Instance>> AppInspector::Asked(const RowQuery& query) {
  KSTREAM_RETURN_IF_ERROR(ReadManifest());
  KSTREAM_ASSIGN_OR_RETURN(std::vector<Instance> all, All());
  KSTREAM_RETURN_IF_ERROR(CheckStore(query, all));
  const std::string store = query.store.empty() ? all.front().store : query.store;
  std::vector<Instance> asked;
  std::ranges::copy_if(all, std::back_inserter(asked), [&](const Instance& instance) {
    return instance.store == store && (!query.task || instance.task == *query.task);
  });
  if (asked.empty()) {
    return Status(StatusCode::kState,
                  fmt::format("store {} has no task {} {}", Printable(store), *query.task,
                              options_.from_changelog ? "on this cluster" : "here"));
  }
  if (home_ == nullptr || options_.from_changelog || query.task) return asked;
  // With brokers it is known what another host has.
  const auto* const topic = manifest_->Find(runtime::ChangelogTopic(options_.app, store));
  const size_t there = topic == nullptr ? 0 : static_cast<size_t>(topic->partitions);
  if (asked.size() < there) {
    Log(LogLevel::kWarning,
        fmt::format("{} of {} tasks of store {} are in this directory: --from-changelog looks into "
                    "all of them",
                    asked.size(), there, Printable(store)));
  }
  return asked;
}

std::optional<TopicPartition> AppInspector::ChangelogOf(const Instance& instance) const {
  if (!manifest_) return std::nullopt;
  const auto* const topic = manifest_->Find(runtime::ChangelogTopic(options_.app, instance.store));
  if (topic == nullptr || instance.task >= topic->partitions) return std::nullopt;
  return TopicPartition{topic->name, instance.task};
}

Result<std::unique_ptr<StoreView>> AppInspector::Open(const Instance& instance,
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
  Log(LogLevel::kInfo, at.last < 0
                           ? fmt::format("{}: as of its last flush; no changelog record is in it",
                                         Named(instance.store, instance.task))
                           : fmt::format("{}: as of changelog offset {}",
                                         Named(instance.store, instance.task), at.offset));
  return view;
}

// First the end, then the rows until there: what is committed before now is seen.
Status AppInspector::LayTail(const Instance& instance, const TopicPartition& changelog,
                             const RowQuery& query, StoreView* view) {
  KSTREAM_ASSIGN_OR_RETURN(const auto admin, home_->NewAdmin());
  KSTREAM_ASSIGN_OR_RETURN(const auto logs, admin->Offsets(std::span(&changelog, 1)));
  const auto log = logs.at(changelog);
  const std::string name = Named(instance.store, instance.task);
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
Status AppInspector::ReadTail(const TopicPartition& changelog, int64_t from, int64_t end,
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
  return ReadParts(home_.get(), *clock_, std::span(&part, 1), take);
}

Result<std::string> AppInspector::Room() {
  if (!room_) {
    KSTREAM_ASSIGN_OR_RETURN(room_, runtime::StateDirectory::OpenTemporary(options_.state_dir));
  }
  return room_->Make("view", rooms_++);
}

Status AppInspector::Scan(const RowQuery& query, const Visitor& visit) {
  KSTREAM_ASSIGN_OR_RETURN(const auto instances, Asked(query));
  for (const Instance& instance : instances) {
    KSTREAM_ASSIGN_OR_RETURN(const auto view, Open(instance, query));
    bool more = true;
    const auto each = [&](const InspectedRow& row) { return more = visit(row); };
    KSTREAM_RETURN_IF_ERROR(ScanView(instance, query, view.get(), each));
    if (!more) break;
  }
  return Status::Ok();
}

Status AppInspector::ScanView(const Instance& instance, const RowQuery& query, StoreView* view,
                              const Visitor& visit) {
  KSTREAM_ASSIGN_OR_RETURN(RowKeys keys, RowKeys::Of(view));
  const auto each = [&](std::string_view key, std::string_view value, int64_t timestamp) {
    InspectedRow row{instance.store, instance.task, key, value, timestamp};
    return !keys.Read(key, query, &row) || visit(row);
  };
  if (keys.windowed()) return view->Scan("", std::nullopt, each);
  return view->Scan(query.from, query.to, each);
}

Result<std::vector<StoreTotals>> AppInspector::Totals(const RowQuery& query) {
  KSTREAM_RETURN_IF_ERROR(ReadManifest());
  KSTREAM_ASSIGN_OR_RETURN(const auto all, All());
  std::set<std::string> stores{query.store};
  if (query.store.empty() && !all.empty()) {
    stores.clear();
    for (const Instance& instance : all) stores.insert(instance.store);
  }
  std::vector<StoreTotals> totals;
  for (const std::string& store : stores) {
    RowQuery of_store = query;
    of_store.store = store;
    KSTREAM_ASSIGN_OR_RETURN(const auto instances, Asked(of_store));
    for (const Instance& instance : instances) {
      KSTREAM_ASSIGN_OR_RETURN(const auto view, Open(instance, of_store));
      StoreTotals& sum = totals.emplace_back(StoreTotals{.store = store, .task = instance.task});
      const auto each = [&sum](const InspectedRow& row) {
        sum.rows++;
        sum.key_bytes += row.key.size();
        sum.value_bytes += row.value.size();
        sum.largest_value = std::max<uint64_t>(sum.largest_value, row.value.size());
        sum.oldest = std::min(sum.oldest.value_or(row.timestamp), row.timestamp);
        sum.newest = std::max(sum.newest.value_or(row.timestamp), row.timestamp);
        return true;
      };
      KSTREAM_RETURN_IF_ERROR(ScanView(instance, of_store, view.get(), each));
    }
  }
  return totals;
}

}  // namespace kstream::admin
