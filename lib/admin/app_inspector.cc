#include "admin/app_inspector.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "admin/history.h"
#include "admin/row_keys.h"
#include "admin/row_sum.h"
#include "admin/verify.h"
#include "base/log.h"
#include "base/printable.h"
#include "store/rocksdb/format.h"
#include "store/rocksdb/rocksdb_engine.h"

namespace kstream::admin {
namespace {

Status NoChangelog(const Instance& instance) {
  return {StatusCode::kState,
          fmt::format("store {} has no changelog, so what it has is nowhere else",
                      Printable(instance.store))};
}

}  // namespace

AppInspector::AppInspector(InspectOptions options, std::unique_ptr<transport::Cluster> home,
                           const Clock* clock)
    : options_(std::move(options)),
      home_(std::move(home)),
      instances_(options_, home_.get(), clock) {}

AppInspector::~AppInspector() = default;

Result<std::vector<InspectedStore>> AppInspector::List() {
  KSTREAM_ASSIGN_OR_RETURN(const auto found, runtime::ListStores(options_.state_dir, options_.app));
  std::vector<InspectedStore> instances;
  for (const runtime::StoreDirectory& directory : found) {
    KSTREAM_ASSIGN_OR_RETURN(auto engine, store::rocksdb::OpenForReading(directory.path));
    const store::Checkpoint at = engine->checkpoint();
    const store::EngineStats stats = engine->Stats();
    StoreView view(std::move(engine), [this] { return instances_.Room(); });
    KSTREAM_ASSIGN_OR_RETURN(const RowKeys keys, RowKeys::Of(&view));
    KSTREAM_ASSIGN_OR_RETURN(const auto windows, keys.CountWindows(&view));
    instances.push_back({.store = directory.store,
                         .task = directory.task,
                         .path = directory.path,
                         .engine = "rocksdb",
                         .format = static_cast<int>(store::rocksdb::kFormat),
                         .rows = stats.rows,
                         .bytes = stats.bytes,
                         .offset = at.offset,
                         .incarnation = at.incarnation,
                         .written = at.written,
                         .windows = windows,
                         .standby = directory.standby});
  }
  return instances;
}

Result<std::optional<std::string>> AppInspector::Holder() {
  return runtime::HolderOf(options_.state_dir, options_.app);
}

Status AppInspector::Scan(const RowQuery& query, const Visitor& visit) {
  KSTREAM_ASSIGN_OR_RETURN(const auto asked, instances_.Asked(query));
  for (const Instance& instance : asked) {
    KSTREAM_ASSIGN_OR_RETURN(const auto view, instances_.Open(instance, query));
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
    return (!query.stored && !keys.Read(key, query, &row)) || visit(row);
  };
  if (keys.windowed() && !query.stored) return view->Scan("", std::nullopt, each);
  return view->Scan(query.from, query.to, each);
}

Result<std::vector<RowQuery>> AppInspector::EachStore(const RowQuery& query) {
  KSTREAM_ASSIGN_OR_RETURN(const auto all, instances_.All());
  std::set<std::string> stores{query.store};
  if (query.store.empty() && !all.empty()) {
    stores.clear();
    for (const Instance& instance : all) stores.insert(instance.store);
  }
  std::vector<RowQuery> queries;
  for (const std::string& store : stores) {
    queries.push_back(query);
    queries.back().store = store;
  }
  return queries;
}

Result<std::vector<StoreTotals>> AppInspector::Totals(const RowQuery& query) {
  KSTREAM_ASSIGN_OR_RETURN(const auto queries, EachStore(query));
  std::vector<StoreTotals> totals;
  for (const RowQuery& of_store : queries) {
    KSTREAM_ASSIGN_OR_RETURN(const auto asked, instances_.Asked(of_store));
    for (const Instance& instance : asked) {
      KSTREAM_ASSIGN_OR_RETURN(totals.emplace_back(), Sum(instance, of_store));
    }
  }
  return totals;
}

Result<StoreTotals> AppInspector::Sum(const Instance& instance, const RowQuery& query) {
  KSTREAM_ASSIGN_OR_RETURN(const auto view, instances_.Open(instance, query));
  KSTREAM_ASSIGN_OR_RETURN(const RowKeys keys, RowKeys::Of(view.get()));
  RowSum sum(instance.store, instance.task, keys);
  const auto each = [&sum](const InspectedRow& row) {
    sum.Add(row);
    return true;
  };
  KSTREAM_RETURN_IF_ERROR(ScanView(instance, query, view.get(), each));
  return sum.totals();
}

Result<std::optional<int32_t>> AppInspector::Tasks(const RowQuery& query) {
  KSTREAM_ASSIGN_OR_RETURN(const auto asked, instances_.Asked(query));
  return instances_.TasksOf(asked.front().store);
}

Status AppInspector::History(const RowQuery& query, const VersionVisitor& visit) {
  if (home_ == nullptr) return Status::Usage("history needs --brokers: it is in the changelog");
  KSTREAM_ASSIGN_OR_RETURN(const auto asked, instances_.Asked(query));
  for (const Instance& instance : asked) {
    const auto changelog = instances_.ChangelogOf(instance);
    if (!changelog) return NoChangelog(instance);
    KSTREAM_ASSIGN_OR_RETURN(const bool more,
                             HistoryOf(&instances_, instance, *changelog, query, visit));
    if (!more) break;
  }
  return Status::Ok();
}

Result<std::vector<InstanceVerdict>> AppInspector::Verify(const RowQuery& query,
                                                          const DifferenceVisitor& visit) {
  if (home_ == nullptr) {
    return Status::Usage("verify needs --brokers: the directory is compared with its changelog");
  }
  KSTREAM_ASSIGN_OR_RETURN(const auto queries, EachStore(query));
  std::vector<InstanceVerdict> verdicts;
  for (const RowQuery& of_store : queries) {
    KSTREAM_ASSIGN_OR_RETURN(const auto asked, instances_.Asked(of_store));
    for (const Instance& instance : asked) {
      const auto changelog = instances_.ChangelogOf(instance);
      if (instance.path.empty()) continue;
      if (!changelog && query.store.empty()) continue;
      if (!changelog) return NoChangelog(instance);
      KSTREAM_ASSIGN_OR_RETURN(verdicts.emplace_back(),
                               VerifyInstance(&instances_, instance, *changelog, visit));
    }
  }
  if (!verdicts.empty()) return verdicts;
  return Status(StatusCode::kState,
                fmt::format("application {} has no store with a changelog in {}", options_.app,
                            options_.state_dir));
}

}  // namespace kstream::admin
