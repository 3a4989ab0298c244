// Cluster: makes the clients of one cluster. kafka/ makes real ones, memory/ makes twins for tests.
// Thread-safe.
#ifndef KSTREAM_TRANSPORT_CLUSTER_H_
#define KSTREAM_TRANSPORT_CLUSTER_H_

#include <memory>
#include <string>

#include "kstream/status.h"
#include "transport/admin.h"
#include "transport/consumer.h"
#include "transport/producer.h"
#include "transport/types.h"

namespace kstream::transport {

struct ConsumerOptions {
  std::string group;        // empty: no group, Subscribe is not used
  std::string instance_id;  // group.instance.id; empty: a dynamic member
  int threads = 1;          // how many consumers share the process: divides the fetch queues
  // How many records all of them together may fetch ahead of whoever reads them.
  int most_ahead = 600'000;
  // What the others of the group see of this member, after the user's own client.id and a
  // semicolon; empty: the user's own alone.
  std::string client_id = "";
};

class Cluster {
 public:
  virtual ~Cluster() = default;
  // The name that records carry and that errors print; empty for home.
  virtual const std::string& name() const = 0;
  virtual Result<std::unique_ptr<Consumer>> NewConsumer(const ConsumerOptions& options) = 0;
  virtual Result<std::unique_ptr<Producer>> NewProducer(const ProducerOptions& options = {}) = 0;
  virtual Result<std::unique_ptr<Admin>> NewAdmin() = 0;
};

}  // namespace kstream::transport

#endif  // KSTREAM_TRANSPORT_CLUSTER_H_
