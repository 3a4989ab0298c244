// Properties: what kstream tells librdkafka, and what the user may say otherwise.
//
// Three layers, later ones win: defaults that measuring chose, the user's properties, and what the
// engine must decide itself (who commits, where reading starts). A property of the last layer in
// the user's file is not an error, since client.properties are shared with other programs: it is
// ignored with a warning. Tested by tests/unit/transport/kafka/config_test.cc.
#ifndef KSTREAM_TRANSPORT_KAFKA_CONFIG_H_
#define KSTREAM_TRANSPORT_KAFKA_CONFIG_H_

#include <librdkafka/rdkafka.h>

#include <cstdint>
#include <memory>

#include "kstream/status.h"
#include "transport/cluster.h"
#include "transport/kafka/kafka_cluster.h"

namespace kstream::transport::kafka {

struct ConfDelete {
  void operator()(rd_kafka_conf_t* conf) const { rd_kafka_conf_destroy(conf); }
};
using Conf = std::unique_ptr<rd_kafka_conf_t, ConfDelete>;

// kUsage names the property that librdkafka does not know, or whose value it does not take.
Result<Conf> ConsumerConf(const Options& options, const ConsumerOptions& consumer);
// For questions about the cluster: watermarks as they are, open transactions included.
Result<Conf> AdminConf(const Options& options);

// Bytes of a batch that every topic takes: the default of a topic's max.message.bytes is larger.
inline constexpr int64_t kBatchBytes = 1000000;
// `batch_bytes`: no batch of more than one record is larger.
Result<Conf> ProducerConf(const Options& options, const ProducerOptions& producer,
                          int64_t batch_bytes);

// The value in effect; empty when it is not set.
std::string Get(const rd_kafka_conf_t* conf, const char* name);

// Whether these (the user's) properties set `name`.
bool Sets(const Properties& properties, std::string_view name);

}  // namespace kstream::transport::kafka

#endif  // KSTREAM_TRANSPORT_KAFKA_CONFIG_H_
