#include "admin/verify.h"

#include <fmt/format.h>

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "admin/changelog_reader.h"
#include "admin/differences.h"
#include "runtime/changelogs.h"
#include "store/changelog_hash.h"
#include "store/rocksdb/rocksdb_engine.h"

namespace kstream::admin {
namespace {

using transport::TopicPartition;

Status CannotCompare(const Instance& instance, std::string_view why) {
  return {StatusCode::kState,
          fmt::format("{}: cannot be compared with its changelog: {}: a start would rebuild it",
                      Named(instance), why)};
}

// Lays what the store should have over `rebuilt`, and the keys that have changed since over
// `since`. False: it is another log.
Result<bool> Read(Instances* instances, const TopicPartition& changelog,
                  const transport::Admin::Watermarks& log, const store::Checkpoint& at,
                  StoreView* rebuilt, StoreView* since) {
  bool same = true;
  const auto take = [&](std::span<const Record> records) -> Status {
    std::vector<store::Change> before, after;
    for (const Record& record : records) {
      if (!record.key) continue;
      if (record.offset == at.last) {
        same = store::ChangelogHash(*record.key, record.value) == at.last_hash;
      }
      if (record.offset < at.offset) {
        before.push_back({*record.key, record.value, runtime::RowTimeOf(record)});
      } else {
        after.push_back({*record.key, "", 0});
      }
    }
    KSTREAM_RETURN_IF_ERROR(rebuilt->Lay(before));
    return since->Lay(after);
  };
  const LogPart part{changelog, log.low, log.high};
  KSTREAM_RETURN_IF_ERROR(
      ReadParts(instances->home(), instances->clock(), std::span(&part, 1), take));
  return same;
}

}  // namespace

Result<InstanceVerdict> VerifyInstance(Instances* instances, const Instance& instance,
                                       const TopicPartition& changelog,
                                       const Inspector::DifferenceVisitor& visit) {
  KSTREAM_ASSIGN_OR_RETURN(auto engine, store::rocksdb::OpenForReading(instance.path));
  const store::Checkpoint at = engine->checkpoint();
  const std::string& incarnation = instances->manifest().incarnation;
  if (at.incarnation != incarnation) {
    return CannotCompare(instance, "it is of another incarnation of the application");
  }
  KSTREAM_ASSIGN_OR_RETURN(const auto log, instances->EndsOf(changelog));
  KSTREAM_RETURN_IF_ERROR(runtime::CheckReaches(at, incarnation, changelog, instance.store, log,
                                                instances->options().app));
  if (at.offset < log.low) {
    return CannotCompare(instance,
                         fmt::format("it stands at offset {}, and {}[{}] begins at {}", at.offset,
                                     changelog.topic, changelog.partition, log.low));
  }
  const auto room = [instances] { return instances->Room(); };
  StoreView here(std::move(engine), room), rebuilt(nullptr, room), since(nullptr, room);
  KSTREAM_ASSIGN_OR_RETURN(const bool same, Read(instances, changelog, log, at, &rebuilt, &since));
  if (!same) {
    return CannotCompare(instance,
                         fmt::format("the record at offset {} is another than it was", at.last));
  }
  InstanceVerdict verdict{.store = instance.store, .task = instance.task, .offset = at.offset};
  const auto each = [&](std::string_view key, const RowDifference& difference) -> Status {
    StoredRow row;
    KSTREAM_ASSIGN_OR_RETURN(const bool changed, since.Find(key, &row));
    (changed ? verdict.superseded : verdict.differing)++;
    if (!changed) visit(difference);
    return Status::Ok();
  };
  KSTREAM_ASSIGN_OR_RETURN(verdict.rows, Compare(instance, &here, &rebuilt, each));
  verdict.rows -= verdict.superseded;
  return verdict;
}

}  // namespace kstream::admin
