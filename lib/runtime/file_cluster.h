// FileCluster: files, pipes and stdin as a transport, so that the loop that runs a stage on Kafka
// runs it on files too.
//
// An input is a topic named by its path. Its lines are records, decoded and with their keys and
// times applied; with --partitions N they are spread over N partitions by key. One consumer reads
// all inputs and merges them by time (engine.md, "Records, order and time"): so what it delivers is
// already in task order, the same in every run, and needs no queues behind it. Beside what
// transport::Consumer promises:
//
// - A batch's records come in the order of all partitions together, not of each alone, and ends
//   where a new stretch of some file has to be read. `origins` says of each record which partition
//   and line it is, since an envelope may say another place of itself, and which SourceSpec it was
//   decoded for: a file that two sources read is read twice.
// - Each record has a cache of its own, whose reader knows the lines around (json::Reader::Prepare)
//   and which may hold the value parsed already: Freshen it, do not reset or replace it, before the
//   record is processed. `as_read` is filled unless all records are as they were read. A record in
//   `bad` is as it was read, without a cache.
// - The end of a partition is not known before it comes: it is in `finished` (and `ends`) of the
//   batch that brings nothing after it, or of a later one. Admin says kUntilEnd until then.
// - A batch holds the memory of its records alone and may outlive the consumer; what `origins`
//   point to, too.
//
// Tested by tests/unit/runtime/file_cluster_test.cc.
#ifndef KSTREAM_RUNTIME_FILE_CLUSTER_H_
#define KSTREAM_RUNTIME_FILE_CLUSTER_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kstream/status.h"
#include "kstream/topology.h"
#include "record/serde.h"
#include "runtime/file_cursor.h"
#include "transport/cluster.h"

namespace kstream::runtime {

// The high watermark of a file: unknown, and above every line.
inline constexpr int64_t kUntilEnd = INT64_MAX;

struct FileInput {
  std::string path;          // "-": stdin
  const SourceSpec* source;  // outlives the cluster and its clients
  Serdes serdes;             // of the source
};

// An input as a topic. Those of one path are one topic, read as often as it is given.
struct FileTopic {
  std::string path;
  std::vector<transport::TopicPartition> partitions;
};

// "orders.ndjson:18": where a record of a file stands, as every error writes it.
std::string PlaceOf(const transport::Batch::Origin& origin);

class FileCluster final : public transport::Cluster {
 public:
  // Opens the inputs, which are given in the order in which ties are broken; a named pipe waits
  // here for its writer. kUsage naming the input that cannot be opened, or what is wrong with its
  // source. `stop`, once true, ends all waiting of this cluster; it and `clock` outlive the cluster
  // and its clients.
  static Result<std::unique_ptr<FileCluster>> Open(std::span<const FileInput> inputs,
                                                   int32_t partitions, const kstream::Clock* clock,
                                                   const std::atomic<bool>& stop);

  const std::string& name() const override { return name_; }
  // Once, and without a group: kUsage otherwise.
  Result<std::unique_ptr<transport::Consumer>> NewConsumer(
      const transport::ConsumerOptions& options) override;
  // kUsage: what writes files is FileOutput.
  Result<std::unique_ptr<transport::Producer>> NewProducer(
      const transport::ProducerOptions& options = {}) override;
  // Knows the inputs as topics; everything that a file is not is refused with kUsage.
  Result<std::unique_ptr<transport::Admin>> NewAdmin() override;

 private:
  FileCluster() = default;

  const std::string name_;
  const std::atomic<bool>* stop_ = nullptr;
  std::shared_ptr<const std::vector<FileTopic>> topics_;
  std::vector<size_t> topic_of_;  // of each input
  std::vector<std::unique_ptr<FileCursor>> cursors_;
};

}  // namespace kstream::runtime

#endif  // KSTREAM_RUNTIME_FILE_CLUSTER_H_
