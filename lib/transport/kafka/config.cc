#include "transport/kafka/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <random>
#include <string>

#include "base/log.h"
#include "transport/timeouts.h"

namespace kstream::transport::kafka {
namespace {

Status Set(rd_kafka_conf_t* conf, const std::string& name, const std::string& value) {
  char error[512];
  switch (rd_kafka_conf_set(conf, name.c_str(), value.c_str(), error, sizeof error)) {
    case RD_KAFKA_CONF_OK:
      return Status::Ok();
    case RD_KAFKA_CONF_UNKNOWN:
      return Status::Usage(fmt::format("unknown property {}: librdkafka {} has none of that name",
                                       name, rd_kafka_version_str()));
    default:
      return Status::Usage(fmt::format("property {}={}: {}", name, value, error));
  }
}

Status SetAll(rd_kafka_conf_t* conf, const Properties& properties) {
  for (const auto& [name, value] : properties) {
    KSTREAM_RETURN_IF_ERROR(Set(conf, name, value));
  }
  return Status::Ok();
}

// Both sides: a broker that comes back is found soon, and idle connections that it closes are no
// news.
const Properties& CommonDefaults() {
  static const Properties defaults = {
      {"client.id", "kstream"},
      {"reconnect.backoff.ms", "50"},
      {"reconnect.backoff.max.ms", "2000"},
      {"socket.nagle.disable", "true"},
      {"log.connection.close", "false"},
      {"allow.auto.create.topics", "false"},
  };
  return defaults;
}

Result<Conf> Build(const Options& options, const Properties& defaults, const Properties& user,
                   const Properties& forced) {
  Conf conf(rd_kafka_conf_new());
  KSTREAM_RETURN_IF_ERROR(SetAll(conf.get(), CommonDefaults()));
  KSTREAM_RETURN_IF_ERROR(SetAll(conf.get(), defaults));
  KSTREAM_RETURN_IF_ERROR(SetAll(conf.get(), user));
  if (!options.bootstrap.empty()) {
    KSTREAM_RETURN_IF_ERROR(Set(conf.get(), "bootstrap.servers", options.bootstrap));
  }
  for (const auto& [name, value] : forced) {
    std::string before = Get(conf.get(), name.c_str());
    KSTREAM_RETURN_IF_ERROR(Set(conf.get(), name, value));
    if (Sets(user, name) && before != Get(conf.get(), name.c_str())) {
      Log(LogLevel::kWarning,
          fmt::format("property {}={} is ignored: kstream decides it", name, before));
    }
  }
  return conf;
}

// A hash by its bare name (see Options::partitioner). What librdkafka calls by those names puts
// every record without a key into one partition; Java's producer, and ours, spread them.
std::string PartitionerName(const std::string& name) {
  if (name == "crc32") return "consistent_random";
  return name == "murmur2" || name == "fnv1a" ? name + "_random" : name;
}

// A group that nobody else has, for a consumer that belongs to none: librdkafka wants a name.
std::string NoGroup() {
  std::random_device random;
  return fmt::format("kstream-none-{:08x}{:08x}", random(), random());
}

// What the user calls the client; librdkafka's own name for it says nothing.
std::string UsersClientId(const rd_kafka_conf_t* conf) {
  const std::string id = Get(conf, "client.id");
  return id.empty() || id == "rdkafka" ? "kstream" : id;
}

int64_t Number(const rd_kafka_conf_t* conf, const char* name) {
  std::string text = Get(conf, name);
  int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// Takes a timeout that the user set longer, or to none at all (0), down to `most` ms.
Status Cap(rd_kafka_conf_t* conf, const char* name, int64_t most) {
  const int64_t now = Number(conf, name);
  return now > 0 && now <= most ? Status::Ok() : Set(conf, name, std::to_string(most));
}

}  // namespace

bool Sets(const Properties& properties, std::string_view name) {
  return std::any_of(properties.begin(), properties.end(),
                     [&](const auto& property) { return property.first == name; });
}

std::string Get(const rd_kafka_conf_t* conf, const char* name) {
  size_t size = 0;
  if (rd_kafka_conf_get(conf, name, nullptr, &size) != RD_KAFKA_CONF_OK || size == 0) return "";
  std::string value(size, '\0');
  if (rd_kafka_conf_get(conf, name, value.data(), &size) != RD_KAFKA_CONF_OK) return "";
  value.resize(size - 1);  // without the final NUL
  return value;
}

Result<Conf> ConsumerConf(const Options& options, const ConsumerOptions& consumer) {
  // A full local queue stops fetching for a whole second (before librdkafka 2.2) if nothing wakes
  // it, so it had better hold what is taken meanwhile. Bytes are those of keys and values alone,
  // and each message costs some 400 more: without a limit to their number, small ones that wait for
  // a slow stage would take gigabytes.
  const int threads = std::max(consumer.threads, 1);
  const int queue = std::max(65536 / threads, 4096);
  const int messages = std::max(consumer.most_ahead / threads, 40'000);
  const Properties defaults = {
      {"fetch.wait.max.ms", "10"},
      {"fetch.message.max.bytes", "4194304"},
      {"queued.min.messages", std::to_string(messages)},
      {"queued.max.messages.kbytes", std::to_string(queue)},
      {"isolation.level", "read_committed"},
      {"session.timeout.ms", std::to_string(kSessionTimeout.count())},
      {"topic.metadata.refresh.interval.ms", "60000"},
  };
  Properties forced = {
      {"group.id", consumer.group.empty() ? NoGroup() : consumer.group},
      {"enable.auto.commit", "false"},
      {"enable.auto.offset.store", "false"},
      {"enable.partition.eof", "true"},
      {"auto.offset.reset", "error"},
      {"partition.assignment.strategy", "cooperative-sticky"},
  };
  if (!consumer.instance_id.empty()) {
    forced.emplace_back("group.instance.id", consumer.instance_id);
  }
  KSTREAM_ASSIGN_OR_RETURN(Conf conf, Build(options, defaults, options.consumer, forced));
  if (!consumer.client_id.empty()) {
    const std::string full = UsersClientId(conf.get()) + ";" + consumer.client_id;
    KSTREAM_RETURN_IF_ERROR(Set(conf.get(), "client.id", full));
  }
  return conf;
}

Result<Conf> AdminConf(const Options& options) {
  return Build(options, {}, options.consumer, {{"isolation.level", "read_uncommitted"}});
}

Result<Conf> ProducerConf(const Options& options, const ProducerOptions& producer,
                          int64_t batch_bytes) {
  // A record that outlives the session of the consumer that caused it could be appended after the
  // partition's next owner has begun: so it times out before.
  KSTREAM_ASSIGN_OR_RETURN(Conf consumer, ConsumerConf(options, {}));
  const int64_t timeout =
      std::min<int64_t>(30000, Number(consumer.get(), "session.timeout.ms") * 2 / 3);
  Properties defaults = {
      {"enable.idempotence", "true"},
      {"partitioner", PartitionerName(options.partitioner)},
      {"linger.ms", "20"},
      {"batch.num.messages", "100000"},
      {"queue.buffering.max.messages", "300000"},  // of some 400 bytes beside key and value
      {"queue.buffering.max.kbytes", "131072"},
      {"message.timeout.ms", std::to_string(timeout)},
      {"transaction.timeout.ms", std::to_string(kTransactionTimeout.count())},
  };
  if (!Sets(options.producer, "batch.size")) {
    defaults.emplace_back("batch.size", std::to_string(kBatchBytes));
  }
  // What a topic takes is checked against the topic's own limit, record by record.
  Properties forced = {{"message.max.bytes", "1000000000"}};
  const bool transactional = !producer.transactional_id.empty();
  if (transactional) forced.emplace_back("transactional.id", producer.transactional_id);
  if (transactional || producer.idempotent) {
    forced.emplace_back("enable.idempotence", "true");
    forced.emplace_back("acks", "all");
  }
  KSTREAM_ASSIGN_OR_RETURN(Conf conf, Build(options, defaults, options.producer, forced));
  const int64_t own = producer.message_timeout.count();
  if (own > 0 || transactional || producer.idempotent) {
    KSTREAM_RETURN_IF_ERROR(Cap(conf.get(), "message.timeout.ms", own > 0 ? own : timeout));
  }
  if (transactional) {
    // librdkafka asks that neither outlives the transaction.
    const int64_t transaction = Number(conf.get(), "transaction.timeout.ms");
    KSTREAM_RETURN_IF_ERROR(Cap(conf.get(), "message.timeout.ms", transaction));
    KSTREAM_RETURN_IF_ERROR(Cap(conf.get(), "socket.timeout.ms", transaction));
  }
  if (Number(conf.get(), "batch.size") > batch_bytes) {
    KSTREAM_RETURN_IF_ERROR(Set(conf.get(), "batch.size", std::to_string(batch_bytes)));
  }
  // Nothing is written after a record that failed: see producer_client.cc. In a transaction nothing
  // of it counts anyhow, and the gap must not end the client, which has still to abort.
  if (!transactional && Get(conf.get(), "enable.idempotence") == "true") {
    KSTREAM_RETURN_IF_ERROR(Set(conf.get(), "enable.gapless.guarantee", "true"));
  }
  return conf;
}

}  // namespace kstream::transport::kafka
