// The clients of a memory cluster. Each shares its broker, which therefore outlives it.
#ifndef KSTREAM_TRANSPORT_MEMORY_CLIENTS_H_
#define KSTREAM_TRANSPORT_MEMORY_CLIENTS_H_

#include <memory>

#include "transport/admin.h"
#include "transport/cluster.h"
#include "transport/consumer.h"
#include "transport/memory/broker.h"
#include "transport/producer.h"

namespace kstream::transport::memory {

std::unique_ptr<Consumer> NewMemoryConsumer(std::shared_ptr<Broker> broker,
                                            const ConsumerOptions& options);
std::unique_ptr<Producer> NewMemoryProducer(std::shared_ptr<Broker> broker);
std::unique_ptr<Admin> NewMemoryAdmin(std::shared_ptr<Broker> broker);

}  // namespace kstream::transport::memory

#endif  // KSTREAM_TRANSPORT_MEMORY_CLIENTS_H_
