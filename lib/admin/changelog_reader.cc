#include "admin/changelog_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/log.h"

namespace kstream::admin {
namespace {

using std::chrono::milliseconds;
using transport::PartitionOffset;
using transport::TopicPartition;

constexpr milliseconds kTurn{100};
// So long nothing comes of a log whose end is known: a transaction is open there.
constexpr std::chrono::seconds kPatience{2};

class Parts {
 public:
  Parts(std::span<const LogPart> parts, const std::function<Status(std::span<const Record>)>& take)
      : take_(take) {
    for (const LogPart& part : parts) {
      if (part.from < part.end) left_.emplace(part.partition, part);
    }
  }

  bool done() const { return left_.empty(); }
  std::vector<PartitionOffset> Begin() const {
    std::vector<PartitionOffset> from;
    for (const auto& [name, part] : left_) from.push_back({name, part.from, ""});
    return from;
  }

  // True: something came.
  Result<bool> Take(const transport::Batch& batch) {
    for (size_t first = 0, last = 0; first < batch.records.size(); first = last) {
      const Record& head = batch.records[first];
      for (last = first + 1; last < batch.records.size(); last++) {
        const Record& record = batch.records[last];
        if (record.partition != head.partition || record.topic != head.topic) break;
      }
      KSTREAM_RETURN_IF_ERROR(Run(std::span(batch.records).subspan(first, last - first)));
    }
    for (const PartitionOffset& end : batch.ends) Reach(end.partition, end.offset);
    return !batch.records.empty();
  }

  std::string Waiting() const {
    const LogPart& part = left_.begin()->second;
    return fmt::format(
        "{}[{}]: read up to offset {}, and waiting for offset {}: a transaction is "
        "open there",
        part.partition.topic, part.partition.partition, part.from, part.end);
  }

 private:
  Status Run(std::span<const Record> records) {
    const TopicPartition name{std::string(records.front().topic), records.front().partition};
    const auto found = left_.find(name);
    if (found == left_.end()) return Status::Ok();
    const int64_t end = found->second.end;
    const auto beyond =
        std::ranges::find_if(records, [end](const Record& r) { return r.offset >= end; });
    const auto within = records.first(static_cast<size_t>(beyond - records.begin()));
    if (!within.empty()) KSTREAM_RETURN_IF_ERROR(take_(within));
    Reach(name, records.back().offset + 1);
    return Status::Ok();
  }

  void Reach(const TopicPartition& name, int64_t position) {
    const auto found = left_.find(name);
    if (found == left_.end()) return;
    found->second.from = std::max(found->second.from, position);
    if (found->second.from >= found->second.end) left_.erase(found);
  }

  const std::function<Status(std::span<const Record>)>& take_;
  std::map<TopicPartition, LogPart> left_;  // `from` is the position
};

}  // namespace

Status ReadParts(transport::Cluster* cluster, const Clock& clock, std::span<const LogPart> parts,
                 const std::function<Status(std::span<const Record>)>& take) {
  Parts left(parts, take);
  if (left.done()) return Status::Ok();
  KSTREAM_ASSIGN_OR_RETURN(const auto consumer, cluster->NewConsumer({}));
  KSTREAM_RETURN_IF_ERROR(consumer->Assign(left.Begin()));
  const auto batch = consumer->NewBatch();
  auto heard = clock.Steady();
  for (bool told = false; !left.done();) {
    KSTREAM_RETURN_IF_ERROR(consumer->Poll(kTurn, batch.get()));
    KSTREAM_ASSIGN_OR_RETURN(const bool came, left.Take(*batch));
    if (came) heard = clock.Steady();
    if (told || left.done() || clock.Steady() - heard < kPatience) continue;
    Log(LogLevel::kInfo, left.Waiting());
    told = true;
  }
  return consumer->Close();
}

}  // namespace kstream::admin
