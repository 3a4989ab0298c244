// The limit that the engine is measured against: a bare librdkafka loop that consumes and produces
// and does nothing else. It also makes what all contenders work on, so that everybody reads the
// same bytes: topics, and records of about 128 bytes with 100 000 keys and timestamps 1 ms apart.
//
//   raw_loop lines N                 N values to stdout, one a line
//   raw_loop create TOPIC PARTITIONS a topic that keeps its records whatever their age
//   raw_loop delete TOPIC...
//   raw_loop fill TOPIC N            N records, keyed, spread by murmur2
//   raw_loop keys TOPIC N            N small records, each with another key, in no order
//   raw_loop copy IN OUT N           the loop itself: N records, from the beginning
//
// The broker is $KSTREAM_BROKERS. `copy` prints one line of NAME=VALUE figures that count from the
// first record on. A program for trials: the first error ends it.
#include <librdkafka/rdkafka.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

constexpr int kTimeoutMs = 60'000;
constexpr int64_t kFirstTimestamp = 1'700'000'000'000;

[[noreturn]] void Die(const std::string& what) {
  std::fprintf(stderr, "raw_loop: error: %s\n", what.c_str());
  std::exit(2);
}

struct Clock {
  double wall, cpu;  // seconds

  static Clock Now() {
    rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& t) {
      return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
    };
    const auto since_epoch = std::chrono::steady_clock::now().time_since_epoch();
    return {std::chrono::duration<double>(since_epoch).count(),
            seconds(usage.ru_utime) + seconds(usage.ru_stime)};
  }
};

// The orders that all contenders work on. A linear congruential generator: the same on any machine.
class Orders {
 public:
  // Views are valid until the next call.
  struct Order {
    std::string_view key, value;
    int64_t timestamp;
  };

  Order Next() {
    state_ = state_ * 6'364'136'223'846'793'005U + 1'442'695'040'888'963'407U;
    const auto user = static_cast<unsigned>((state_ >> 33) % 100'000);
    const int64_t timestamp = kFirstTimestamp + count_;
    const int key = std::snprintf(key_.data(), key_.size(), "u%u", user);
    const int value = std::snprintf(
        value_.data(), value_.size(),
        R"({"id":%lld,"user":"u%u","amount":%.2f,"status":"%s","country":"%s","ts":%lld,)"
        R"("items":[{"sku":"a%u","qty":%u}]})",
        static_cast<long long>(count_), user, static_cast<double>((state_ >> 20) % 100'000) / 100,
        (state_ >> 40) % 4 != 0 ? "paid" : "open", (state_ >> 44) % 3 != 0 ? "DE" : "FR",
        static_cast<long long>(timestamp), user % 977, static_cast<unsigned>(state_ >> 50) % 9);
    ++count_;
    return {{key_.data(), static_cast<size_t>(key)},
            {value_.data(), static_cast<size_t>(value)},
            timestamp};
  }

 private:
  uint64_t state_ = 42;
  int64_t count_ = 0;
  std::array<char, 32> key_;
  std::array<char, 512> value_;
};

using Properties = std::initializer_list<std::pair<const char*, const char*>>;
struct Destroy {
  void operator()(rd_kafka_t* client) const { rd_kafka_destroy(client); }
};
using Client = std::unique_ptr<rd_kafka_t, Destroy>;

Client Connect(rd_kafka_type_t type, Properties properties) {
  const char* brokers = std::getenv("KSTREAM_BROKERS");
  if (brokers == nullptr) {
    Die("KSTREAM_BROKERS is not set");
  }
  std::array<char, 512> error;
  rd_kafka_conf_t* conf = rd_kafka_conf_new();
  const auto set = [&](const char* name, const char* value) {
    if (rd_kafka_conf_set(conf, name, value, error.data(), error.size()) != RD_KAFKA_CONF_OK) {
      Die(error.data());
    }
  };
  set("bootstrap.servers", brokers);
  for (const auto& [name, value] : properties) {
    set(name, value);
  }
  Client client(rd_kafka_new(type, conf, error.data(), error.size()));
  if (client == nullptr) {
    Die(error.data());
  }
  return client;
}

// Idempotent or not: a batch that is sent again, as to a topic that has only just been made, comes
// behind later ones where it is not, and what windows would then find late is no fault of theirs.
Client Producer(const char* idempotence) {
  return Connect(RD_KAFKA_PRODUCER, {{"linger.ms", "20"},
                                     {"batch.num.messages", "100000"},
                                     {"batch.size", "1000000"},
                                     {"queue.buffering.max.messages", "1000000"},
                                     {"partitioner", "murmur2_random"},
                                     {"enable.idempotence", idempotence}});
}

void Send(rd_kafka_t* producer, const char* topic, std::string_view key, std::string_view value,
          int64_t timestamp) {
  for (;;) {
    const rd_kafka_resp_err_t error = rd_kafka_producev(
        producer, RD_KAFKA_V_TOPIC(topic), RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
        RD_KAFKA_V_KEY(key.data(), key.size()),
        RD_KAFKA_V_VALUE(const_cast<char*>(value.data()), value.size()),
        RD_KAFKA_V_TIMESTAMP(timestamp), RD_KAFKA_V_END);
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR) {
      return;
    }
    if (error != RD_KAFKA_RESP_ERR__QUEUE_FULL) {
      Die(rd_kafka_err2str(error));
    }
    rd_kafka_poll(producer, 5);
  }
}

void Flush(rd_kafka_t* producer) {
  if (rd_kafka_flush(producer, kTimeoutMs) != RD_KAFKA_RESP_ERR_NO_ERROR) {
    Die("not everything was delivered");
  }
}

// Waits for the one event of an admin call and ends the program if any of its topics failed.
void AwaitTopics(rd_kafka_queue_t* queue) {
  rd_kafka_event_t* event = rd_kafka_queue_poll(queue, kTimeoutMs);
  if (event == nullptr || rd_kafka_event_error(event) != RD_KAFKA_RESP_ERR_NO_ERROR) {
    Die(event == nullptr ? "no answer from the broker" : rd_kafka_event_error_string(event));
  }
  size_t count = 0;
  const rd_kafka_topic_result_t** results =
      rd_kafka_event_type(event) == RD_KAFKA_EVENT_CREATETOPICS_RESULT
          ? rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event), &count)
          : rd_kafka_DeleteTopics_result_topics(rd_kafka_event_DeleteTopics_result(event), &count);
  for (size_t i = 0; i < count; ++i) {
    if (rd_kafka_topic_result_error(results[i]) != RD_KAFKA_RESP_ERR_NO_ERROR) {
      Die(std::string(rd_kafka_topic_result_name(results[i])) + ": " +
          rd_kafka_topic_result_error_string(results[i]));
    }
  }
  rd_kafka_event_destroy(event);
}

void Create(const char* name, int partitions) {
  const Client client = Producer("false");
  std::array<char, 512> error;
  rd_kafka_NewTopic_t* topic =
      rd_kafka_NewTopic_new(name, partitions, 1, error.data(), error.size());
  if (topic == nullptr) {
    Die(error.data());
  }
  rd_kafka_NewTopic_set_config(topic, "retention.ms", "-1");
  rd_kafka_queue_t* queue = rd_kafka_queue_new(client.get());
  rd_kafka_CreateTopics(client.get(), &topic, 1, nullptr, queue);
  AwaitTopics(queue);
  rd_kafka_queue_destroy(queue);
  rd_kafka_NewTopic_destroy(topic);
}

void Delete(const std::vector<const char*>& names) {
  const Client client = Producer("false");
  std::vector<rd_kafka_DeleteTopic_t*> topics;
  for (const char* name : names) {
    topics.push_back(rd_kafka_DeleteTopic_new(name));
  }
  rd_kafka_queue_t* queue = rd_kafka_queue_new(client.get());
  rd_kafka_DeleteTopics(client.get(), topics.data(), topics.size(), nullptr, queue);
  AwaitTopics(queue);
  rd_kafka_queue_destroy(queue);
  rd_kafka_DeleteTopic_destroy_array(topics.data(), topics.size());
}

void Lines(int64_t count) {
  Orders orders;
  for (int64_t i = 0; i < count; ++i) {
    const std::string_view value = orders.Next().value;
    std::fwrite(value.data(), 1, value.size(), stdout);
    std::fputc('\n', stdout);
  }
  if (std::fflush(stdout) != 0) {
    Die("stdout could not be written");
  }
}

void Fill(const char* topic, int64_t count) {
  const Client producer = Producer("true");
  Orders orders;
  for (int64_t i = 0; i < count; ++i) {
    const Orders::Order order = orders.Next();
    Send(producer.get(), topic, order.key, order.value, order.timestamp);
    if (i % 1024 == 0) {
      rd_kafka_poll(producer.get(), 0);
    }
  }
  Flush(producer.get());
}

void Keys(const char* topic, int64_t count) {
  constexpr int64_t kStride =
      7'368'787;  // a prime: each key once, while count is none of its multiples
  const Client producer = Producer("true");
  std::array<char, 32> key;
  std::array<char, 32> value;
  for (int64_t i = 0; i < count; ++i) {
    const auto number = static_cast<long long>(i * kStride % count);
    const int key_size = std::snprintf(key.data(), key.size(), "user-%08lld", number);
    const int value_size = std::snprintf(value.data(), value.size(), R"({"id":%lld})", number);
    Send(producer.get(), topic, {key.data(), static_cast<size_t>(key_size)},
         {value.data(), static_cast<size_t>(value_size)}, kFirstTimestamp + i);
    if (i % 1024 == 0) {
      rd_kafka_poll(producer.get(), 0);
    }
  }
  Flush(producer.get());
}

int32_t CountPartitions(rd_kafka_t* client, const char* name) {
  rd_kafka_topic_t* topic = rd_kafka_topic_new(client, name, nullptr);
  const rd_kafka_metadata_t* metadata = nullptr;
  const rd_kafka_resp_err_t error = rd_kafka_metadata(client, 0, topic, &metadata, kTimeoutMs);
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR || metadata->topics[0].partition_cnt == 0) {
    Die(std::string("cannot look at topic ") + name);
  }
  const int32_t count = metadata->topics[0].partition_cnt;
  rd_kafka_metadata_destroy(metadata);
  rd_kafka_topic_destroy(topic);
  return count;
}

Client ConsumerOf(const char* topic) {
  Client consumer = Connect(RD_KAFKA_CONSUMER, {{"group.id", "raw-loop"},
                                                {"enable.auto.commit", "false"},
                                                {"fetch.wait.max.ms", "10"},
                                                {"queued.min.messages", "10000000"},
                                                {"queued.max.messages.kbytes", "262144"},
                                                {"fetch.message.max.bytes", "4194304"}});
  rd_kafka_poll_set_consumer(consumer.get());
  const int32_t count = CountPartitions(consumer.get(), topic);
  rd_kafka_topic_partition_list_t* partitions = rd_kafka_topic_partition_list_new(count);
  for (int32_t i = 0; i < count; ++i) {
    rd_kafka_topic_partition_list_add(partitions, topic, i)->offset = RD_KAFKA_OFFSET_BEGINNING;
  }
  rd_kafka_assign(consumer.get(), partitions);
  rd_kafka_topic_partition_list_destroy(partitions);
  return consumer;
}

void Copy(const char* in, const char* out, int64_t count) {
  const Client consumer = ConsumerOf(in);
  const Client producer = Producer("false");
  rd_kafka_queue_t* queue = rd_kafka_queue_get_consumer(consumer.get());
  std::vector<rd_kafka_message_t*> batch(10'000);
  int64_t done = 0;
  Clock start{};
  while (done < count) {
    const ssize_t got = rd_kafka_consume_batch_queue(queue, 100, batch.data(), batch.size());
    if (done == 0 && got > 0) {
      start = Clock::Now();
    }
    for (ssize_t i = 0; i < got; ++i) {
      rd_kafka_message_t* message = batch[static_cast<size_t>(i)];
      if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
        Send(producer.get(), out, {static_cast<const char*>(message->key), message->key_len},
             {static_cast<const char*>(message->payload), message->len},
             rd_kafka_message_timestamp(message, nullptr));
        ++done;
      }
      rd_kafka_message_destroy(message);
    }
    rd_kafka_poll(producer.get(), 0);
  }
  Flush(producer.get());
  const Clock end = Clock::Now();
  std::printf("records=%lld wall_s=%.3f cpu_s=%.3f\n", static_cast<long long>(done),
              end.wall - start.wall, end.cpu - start.cpu);
  std::fflush(stdout);
  _exit(0);  // what is still queued of the records after `count` would only be thrown away
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<const char*> words(argv + 1, argv + argc);
  const std::string_view verb = words.empty() ? "" : words[0];
  if (verb == "lines" && words.size() == 2) {
    Lines(std::atoll(words[1]));
  } else if (verb == "create" && words.size() == 3) {
    Create(words[1], std::atoi(words[2]));
  } else if (verb == "delete" && words.size() > 1) {
    Delete({words.begin() + 1, words.end()});
  } else if (verb == "fill" && words.size() == 3) {
    Fill(words[1], std::atoll(words[2]));
  } else if (verb == "keys" && words.size() == 3) {
    Keys(words[1], std::atoll(words[2]));
  } else if (verb == "copy" && words.size() == 4) {
    Copy(words[1], words[2], std::atoll(words[3]));
  } else {
    Die("usage: raw_loop lines N | create TOPIC PARTITIONS | delete TOPIC... | fill TOPIC N | "
        "keys TOPIC N | copy IN OUT N");
  }
}
