#include "runtime/file_consumer.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "record/partitioner.h"

namespace kstream::runtime {

using std::chrono::milliseconds;
using transport::PartitionOffset;
using transport::TopicPartition;

class FileBatch final : public transport::Batch {
 public:
  explicit FileBatch(std::shared_ptr<const std::vector<FileTopic>> topics)
      : topics_(std::move(topics)) {}

  void Clear() {
    records.clear();
    origins.clear();
    as_read.clear();
    bad.clear();
    ends.clear();
    finished.clear();
    memory_.clear();
  }

  // Keeps what records point into.
  void Hold(std::shared_ptr<const void> memory) { memory_.push_back(std::move(memory)); }

 private:
  const std::shared_ptr<const std::vector<FileTopic>> topics_;
  std::vector<std::shared_ptr<const void>> memory_;
};

namespace {

using Steady = std::chrono::steady_clock;

constexpr milliseconds kStopCheck{50};  // how late a stop may be noticed

Status NoGroup() { return Status::Usage("files are read without a group"); }

bool NeedsAsRead(const std::vector<std::unique_ptr<FileCursor>>& cursors) {
  return std::any_of(cursors.begin(), cursors.end(),
                     [](const auto& cursor) { return !cursor->lines().gives_raw(); });
}

}  // namespace

FileConsumer::FileConsumer(std::shared_ptr<const std::vector<FileTopic>> topics,
                           std::vector<size_t> topic_of,
                           std::vector<std::unique_ptr<FileCursor>> cursors,
                           const std::atomic<bool>* stop)
    : topics_(std::move(topics)),
      topic_of_(std::move(topic_of)),
      stop_(stop),
      as_read_(NeedsAsRead(cursors)),
      merged_(std::move(cursors), as_read_),
      position_(topics_->size(), 0),
      taken_(merged_.size(), 0) {
  for (const FileTopic& topic : *topics_) partitions_.emplace_back(topic.partitions.size());
}

std::unique_ptr<transport::Batch> FileConsumer::NewBatch() {
  return std::make_unique<FileBatch>(topics_);
}

Status FileConsumer::Subscribe(const std::vector<std::string>& /*topics*/) { return NoGroup(); }

FileConsumer::Partition* FileConsumer::Find(const TopicPartition& partition) {
  for (size_t t = 0; t < topics_->size(); t++) {
    const auto number = static_cast<size_t>(partition.partition);  // a negative one is too large
    if ((*topics_)[t].path == partition.topic && number < partitions_[t].size()) {
      return &partitions_[t][number];
    }
  }
  return nullptr;
}

Status FileConsumer::Assign(std::span<const PartitionOffset> partitions) {
  for (const auto& [partition, offset, metadata] : partitions) {
    Partition* const found = Find(partition);
    if (!found) {
      return Status::Cluster(
          fmt::format("{} has no partition {}", partition.topic, partition.partition));
    }
    if (offset != 0 && offset != transport::kOffsetBeginning) {
      return Status::Usage(fmt::format("{} can only be read from its beginning", partition.topic));
    }
    found->assigned = true;
  }
  Activate();
  return Status::Ok();
}

Status FileConsumer::Unassign(std::span<const TopicPartition> partitions) {
  for (const TopicPartition& partition : partitions) {
    if (Partition* const found = Find(partition)) found->assigned = found->paused = false;
  }
  Activate();
  return Status::Ok();
}

void FileConsumer::Activate() {
  for (size_t i = 0; i < merged_.size(); i++) {
    const auto& partitions = partitions_[topic_of_[i]];
    merged_.SetActive(i,
                      std::any_of(partitions.begin(), partitions.end(),
                                  [](const Partition& partition) { return partition.assigned; }));
  }
}

Status FileConsumer::SetPaused(std::span<const TopicPartition> partitions, bool paused) {
  for (const TopicPartition& partition : partitions) {
    if (Partition* const found = Find(partition)) found->paused = paused;
  }
  return Status::Ok();
}

Status FileConsumer::Pause(std::span<const TopicPartition> partitions) {
  return SetPaused(partitions, true);
}
Status FileConsumer::Resume(std::span<const TopicPartition> partitions) {
  return SetPaused(partitions, false);
}

bool FileConsumer::AtRest() const {
  bool over = true;
  for (const auto& topic : partitions_) {
    for (const Partition& partition : topic) {
      if (!partition.assigned || partition.finished) continue;
      if (partition.paused) return true;
      over = false;
    }
  }
  return over;
}

Status FileConsumer::Poll(milliseconds wait, transport::Batch* batch, size_t most) {
  auto* const out = static_cast<FileBatch*>(batch);
  out->Clear();
  const Steady::time_point deadline = Steady::now() + wait;
  if (AtRest()) {
    while (!stop_->load(std::memory_order_relaxed) && Steady::now() < deadline) {
      std::this_thread::sleep_until(std::min(deadline, Steady::now() + kStopCheck));
    }
    return Status::Ok();
  }
  // What is there is delivered before more is read: reading may wait.
  while (!merged_.FindHeads()) {
    KSTREAM_ASSIGN_OR_RETURN(const bool found, merged_.ReadHeads(deadline));
    FinishEnded(out);
    if (!found || !out->finished.empty()) return Status::Ok();
  }
  do {
    const std::optional<size_t> next = merged_.Next();
    if (!next) break;
    Take(*next, out);
    merged_.Pop(*next);
  } while (out->records.size() < most && merged_.FindHeads());
  for (size_t i = 0; i < merged_.size(); i++) {
    if (std::exchange(taken_[i], 0)) out->Hold(merged_.cursor(i).memory());
  }
  return Status::Ok();
}

void FileConsumer::Take(size_t input, FileBatch* batch) {
  FileItem& item = merged_.Head(input);
  const size_t topic = topic_of_[input];
  position_[topic] = std::max(position_[topic], item.line + 1);
  const auto& partitions = (*topics_)[topic].partitions;
  const bool good = item.status.ok();
  size_t number = 0;
  if (partitions.size() > 1) {
    const auto count = static_cast<int32_t>(partitions.size());
    number = static_cast<size_t>(good ? item.record.partition
                                      : PartitionOfKey(std::nullopt, count, item.line));
  }
  if (!partitions_[topic][number].assigned) return;
  if (!good) batch->bad.push_back({batch->records.size(), std::move(item.status)});
  batch->records.push_back(good ? item.record : item.as_read);
  batch->origins.push_back({&partitions[number], item.line, merged_.cursor(input).source()});
  if (as_read_) batch->as_read.push_back(item.as_read);
  taken_[input] = 1;
}

void FileConsumer::FinishEnded(FileBatch* batch) {
  for (size_t t = 0; t < partitions_.size(); t++) {
    bool ended = true;
    for (size_t i = 0; i < merged_.size(); i++) ended &= topic_of_[i] != t || merged_.ended(i);
    for (size_t p = 0; ended && p < partitions_[t].size(); p++) {
      Partition& partition = partitions_[t][p];
      if (!partition.assigned || partition.finished) continue;
      partition.finished = true;
      const TopicPartition& name = (*topics_)[t].partitions[p];
      batch->ends.push_back({name, position_[t], ""});
      batch->finished.push_back(name);
    }
  }
}

void FileConsumer::CommitAsync(std::vector<PartitionOffset> /*offsets*/,
                               std::function<void(Status)> done) {
  if (done) done(NoGroup());
}
Status FileConsumer::CommitSync(std::vector<PartitionOffset> /*offsets*/) { return NoGroup(); }

Result<std::vector<PartitionOffset>> FileConsumer::Committed(
    std::span<const TopicPartition> partitions) {
  std::vector<PartitionOffset> offsets;
  for (const TopicPartition& partition : partitions) {
    offsets.push_back({partition, transport::kNoOffset, ""});
  }
  return offsets;
}

Status FileConsumer::Close() { return Status::Ok(); }

}  // namespace kstream::runtime
