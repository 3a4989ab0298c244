// FileConsumer: what reads the inputs of a FileCluster (see file_cluster.h). Tested by
// tests/unit/runtime/file_cluster_test.cc.
#ifndef KSTREAM_RUNTIME_FILE_CONSUMER_H_
#define KSTREAM_RUNTIME_FILE_CONSUMER_H_

#include <atomic>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "runtime/file_cluster.h"
#include "runtime/merged_files.h"
#include "transport/consumer.h"

namespace kstream::runtime {

class FileBatch;

class FileConsumer final : public transport::Consumer {
 public:
  // `topic_of` has the number of the topic of each cursor.
  FileConsumer(std::shared_ptr<const std::vector<FileTopic>> topics, std::vector<size_t> topic_of,
               std::vector<std::unique_ptr<FileCursor>> cursors, const std::atomic<bool>* stop);

  std::unique_ptr<transport::Batch> NewBatch() override;
  // kUsage, as for all that needs a group.
  Status Subscribe(const std::vector<std::string>& topics) override;
  // From the beginning: kUsage for any other offset, kCluster for what is no partition. An input
  // takes part from the next Poll on, if any partition of it is assigned; records of the others are
  // left out.
  Status Assign(std::span<const transport::PartitionOffset> partitions) override;
  Status Unassign(std::span<const transport::TopicPartition> partitions) override;
  // A file cannot be read again, and the merge cannot go on without one of its inputs: as long as a
  // partition is paused that may bring more, nothing is delivered.
  Status Pause(std::span<const transport::TopicPartition> partitions) override;
  Status Resume(std::span<const transport::TopicPartition> partitions) override;
  Status Poll(std::chrono::milliseconds wait, transport::Batch* batch, size_t most) override;
  void KeepAlive() override {}
  void CommitAsync(std::vector<transport::PartitionOffset> offsets,
                   std::function<void(Status)> done) override;
  Status CommitSync(std::vector<transport::PartitionOffset> offsets) override;
  Result<std::vector<transport::PartitionOffset>> Committed(
      std::span<const transport::TopicPartition> partitions) override;
  // What is left of a file is not counted.
  std::optional<int64_t> HighWatermark(const transport::TopicPartition&) const override {
    return std::nullopt;
  }
  Status Close() override;

 private:
  struct Partition {
    bool assigned = false, paused = false, finished = false;
  };

  Partition* Find(const transport::TopicPartition& partition);
  Status SetPaused(std::span<const transport::TopicPartition> partitions, bool paused);
  void Activate();
  // Whether reading would bring nothing now, or ever.
  bool AtRest() const;
  void Take(size_t input, FileBatch* batch);
  void FinishEnded(FileBatch* batch);

  const std::shared_ptr<const std::vector<FileTopic>> topics_;
  const std::vector<size_t> topic_of_;
  const std::atomic<bool>* const stop_;
  const bool as_read_;
  MergedFiles merged_;
  std::vector<std::vector<Partition>> partitions_;  // by topic and number
  std::vector<int64_t> position_;                   // by topic: the line behind the last one taken
  std::vector<char> taken_;                         // by input: whether this Poll took of it
};

}  // namespace kstream::runtime

#endif  // KSTREAM_RUNTIME_FILE_CONSUMER_H_
