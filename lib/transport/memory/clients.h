// The clients of a memory cluster. Each shares its broker, which therefore outlives it.
#ifndef KSTREAM_TRANSPORT_MEMORY_CLIENTS_H_
#define KSTREAM_TRANSPORT_MEMORY_CLIENTS_H_

#include <memory>
#include <span>
#include <vector>

#include "transport/admin.h"
#include "transport/cluster.h"
#include "transport/consumer.h"
#include "transport/memory/broker.h"
#include "transport/producer.h"

namespace kstream::transport::memory {

// What a transaction asks of the consumer whose offsets it commits: every MemoryConsumer is one.
// The broker's mutex is held.
class GroupMember {
 public:
  virtual ~GroupMember() = default;
  // kCluster when it is not a member, or not the owner of all these partitions any more.
  virtual Status CheckOwns(std::span<const PartitionOffset> offsets) = 0;
  virtual void Apply(std::vector<PartitionOffset> offsets) = 0;
};

std::unique_ptr<Consumer> NewMemoryConsumer(std::shared_ptr<Broker> broker,
                                            const ConsumerOptions& options);
std::unique_ptr<Producer> NewMemoryProducer(std::shared_ptr<Broker> broker,
                                            const ProducerOptions& options);
std::unique_ptr<Admin> NewMemoryAdmin(std::shared_ptr<Broker> broker);

}  // namespace kstream::transport::memory

#endif  // KSTREAM_TRANSPORT_MEMORY_CLIENTS_H_
