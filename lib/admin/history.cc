#include "admin/history.h"

#include <fmt/format.h>

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "admin/changelog_reader.h"
#include "admin/row_keys.h"
#include "base/log.h"
#include "dsl/ordered_time.h"
#include "dsl/window_key.h"
#include "runtime/changelogs.h"

namespace kstream::admin {
namespace {

// A record in a view: under its offset, in an order that bytes keep, with its own time. The value
// has a byte that tells a deletion, the row's time, the size of the key, the key and the value.
struct Kept {
  static constexpr size_t kHead = 1 + 2 * dsl::kOrderedTime;

  static std::string KeyOf(const Record& record) { return dsl::WindowPrefix(record.offset); }
  static std::string ValueOf(const Record& record) {
    std::string kept(1, record.value ? '\1' : '\0');
    dsl::AppendOrderedTime(runtime::RowTimeOf(record), &kept);
    dsl::AppendOrderedTime(static_cast<int64_t>(record.key->size()), &kept);
    return kept.append(*record.key).append(record.value.value_or(""));
  }

  explicit Kept(std::string_view kept)
      : deleted(kept[0] == '\0'), row_time(dsl::OrderedTimeOf(kept.substr(1))) {
    const auto size = static_cast<size_t>(dsl::OrderedTimeOf(kept.substr(1 + dsl::kOrderedTime)));
    key = kept.substr(kHead, size);
    value = kept.substr(kHead + size);
  }

  bool deleted;
  int64_t row_time;
  std::string_view key, value;
};

}  // namespace

Result<bool> HistoryOf(Instances* instances, const Instance& instance,
                       const transport::TopicPartition& changelog, const RowQuery& query,
                       const Inspector::VersionVisitor& visit) {
  KSTREAM_ASSIGN_OR_RETURN(const auto log, instances->EndsOf(changelog));
  const auto room = [instances] { return instances->Room(); };
  StoreView versions(nullptr, room), windows(nullptr, room);
  const auto take = [&](std::span<const Record> records) -> Status {
    for (const Record& record : records) {
      if (!record.key || !RowKeys::MayAsk(query, *record.key)) continue;
      const store::Change row{*record.key, record.value, 0};
      if (*record.key == dsl::kWindowsKey) KSTREAM_RETURN_IF_ERROR(windows.Lay({&row, 1}));
      const std::string key = Kept::KeyOf(record), value = Kept::ValueOf(record);
      const store::Change version{key, value, record.timestamp};
      KSTREAM_RETURN_IF_ERROR(versions.Lay({&version, 1}));
    }
    return Status::Ok();
  };
  const LogPart part{changelog, log.low, log.high};
  KSTREAM_RETURN_IF_ERROR(
      ReadParts(instances->home(), instances->clock(), std::span(&part, 1), take));
  Log(LogLevel::kInfo, fmt::format("{}: changelog offsets {} to {}, as far as compaction has left "
                                   "them",
                                   Named(instance), log.low, log.high));
  KSTREAM_ASSIGN_OR_RETURN(RowKeys keys, RowKeys::Of(&windows));
  bool more = true;
  const auto each = [&](std::string_view offset, std::string_view kept, int64_t written) {
    const Kept record(kept);
    InspectedRow row{instance.store, instance.task, record.key, record.value, record.row_time};
    if (!keys.Read(record.key, query, &row)) return true;
    if (record.deleted && keys.has_sessions()) row.window_end.reset();
    return more = visit({row, record.deleted, dsl::OrderedTimeOf(offset), written});
  };
  KSTREAM_RETURN_IF_ERROR(versions.Scan("", std::nullopt, each));
  return more;
}

}  // namespace kstream::admin
