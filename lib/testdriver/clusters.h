// Clusters: the clusters in memory that an application under test sees, and the test's own hands on
// them. Tested by tests/unit/testdriver/.
#ifndef KSTREAM_TESTDRIVER_CLUSTERS_H_
#define KSTREAM_TESTDRIVER_CLUSTERS_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kstream/grouper.h"
#include "kstream/status.h"
#include "kstream/test_driver.h"
#include "runtime/run_state.h"
#include "transport/memory/memory_cluster.h"

namespace kstream::testdriver {

// Belongs to one thread.
class Clusters {
 public:
  // Makes the clusters that this run names and does not have yet, the topics of `partitions` and
  // all others that the topology names, and gives them to the run. kUsage: a file among them, or a
  // number of partitions that is none.
  Status Serve(runtime::RunState* state, const std::map<std::string, int32_t>& partitions,
               int32_t default_partitions);

  // `topic` is "topic" or "cluster:topic". kUsage: there is no such cluster or topic, or partition.
  Status Produce(const std::string& topic, const TestRecord& record, int64_t now);
  Result<std::vector<TestRecord>> Read(const std::string& topic);
  Result<std::vector<TestRecord>> ReadAll(const std::string& topic) const;
  Result<int64_t> Committed(const std::string& group, const std::string& topic,
                            int32_t partition) const;
  Status CreateTopic(const std::string& topic, int32_t partitions);
  Status GrowTopic(const std::string& topic, int32_t partitions);

  transport::memory::MemoryCluster& home() { return clusters_.at("").cluster; }

  // A client takes its turn: at its second wait within it, it waits for acknowledgements that are
  // held back, and gets them. (Each cluster is polled once a turn, which is the first.)
  void BeginTurn();
  void HoldAcks(bool hold);
  void FailDeliveries(const Status& error, int64_t most = INT64_MAX);
  void FailCommits(const Status& error);
  // No records are to be had of partitions of which this is true.
  void Hide(const std::function<bool(const InputPartition&)>& hidden);
  // Grows while anything happens.
  int64_t Activity() const;

 private:
  struct Entry {
    transport::memory::MemoryCluster cluster;
    int waits = 0;  // in this turn
  };
  struct Place {
    std::string cluster, topic;
    int32_t partitions;
    InputPartition at(int32_t partition) const { return {cluster, topic, partition}; }
  };

  void AddCluster(const std::string& name);
  Result<std::pair<std::string, std::string>> Split(const std::string& topic) const;
  Result<Place> Find(const std::string& topic) const;
  std::vector<transport::memory::StoredRecord> Stored(const Place& place) const;

  std::map<std::string, Entry> clusters_;  // nodes stay where they are
  std::map<InputPartition, int64_t> read_;
  std::map<std::string, int64_t> unkeyed_;  // by topic as given
};

}  // namespace kstream::testdriver

#endif  // KSTREAM_TESTDRIVER_CLUSTERS_H_
