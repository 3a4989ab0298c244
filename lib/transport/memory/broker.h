// Broker: what the clients of one memory cluster share, all of it under one mutex.
#ifndef KSTREAM_TRANSPORT_MEMORY_BROKER_H_
#define KSTREAM_TRANSPORT_MEMORY_BROKER_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kstream/status.h"
#include "transport/memory/group.h"
#include "transport/memory/log.h"

namespace kstream::transport::memory {

struct Broker {
  struct Topic {
    std::vector<PartitionLog> partitions;
    std::map<std::string, std::string> config;
  };

  std::string name;
  std::string id;                   // of no other broker of this process
  std::atomic<int64_t> unkeyed{0};  // records without a key, which go round the partitions

  std::mutex mutex;  // guards all below
  std::condition_variable changed;
  std::map<std::string, Topic, std::less<>> topics;
  std::set<std::string> names;  // Record::topic points here; only grows
  std::map<std::string, Group> groups;
  Transaction last_transaction = kNoTransaction;
  struct TransactionalId {
    int holders = 0;  // how many producers have had it; the newest has
    Transaction open = kNoTransaction;
  };
  std::map<std::string, TransactionalId> transactional_ids;

  bool hold_acks = false;
  Status delivery_failure, poll_failure, commit_failure;
  int64_t failing_deliveries = 0;     // while delivery_failure is one
  Status transaction_failure;         // of the next that is decided
  bool commits_all_the_same = false;  // that one
  size_t poll_records = 500;
  std::function<bool(const TopicPartition&)> hidden;
  int64_t activity = 0;  // see MemoryCluster::Activity
  std::function<void()> idle;

  // False when the topic exists already.
  bool Create(const std::string& topic, int32_t partitions,
              const std::map<std::string, std::string>& config);
  // False when it does not exist. Never fewer than there are.
  bool Grow(const std::string& topic, int32_t total);
  // Null when it does not exist.
  PartitionLog* Find(const TopicPartition& partition);
  // Writes the markers of a transaction.
  void End(Transaction transaction, bool commit);
  // Lets every group look at the topics and its members again, and wakes those who wait.
  void Changed();

  // Waits for a change, or gives the turn to the test. `lock` is held before and after.
  void Wait(std::unique_lock<std::mutex>* lock, std::chrono::milliseconds limit);
};

// As of kafka/: `output`: it could have been created by us.
Status TopicMissing(std::string_view topic, bool output);
Status PartitionMissing(const TopicPartition& partition);

}  // namespace kstream::transport::memory

#endif  // KSTREAM_TRANSPORT_MEMORY_BROKER_H_
