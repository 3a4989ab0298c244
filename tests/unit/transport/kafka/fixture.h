// What the tests of the Kafka transport share: a mock cluster inside the process, a real broker
// when KSTREAM_BROKERS names one, and short words for writing and reading.
#ifndef KSTREAM_TESTS_UNIT_TRANSPORT_KAFKA_FIXTURE_H_
#define KSTREAM_TESTS_UNIT_TRANSPORT_KAFKA_FIXTURE_H_

#include <gtest/gtest.h>
#include <librdkafka/rdkafka.h>
// The mock asks for rdkafka.h before it.
#include <librdkafka/rdkafka_mock.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "transport/kafka/kafka_cluster.h"
#include "transport/kafka/raii.h"

namespace kstream::transport::kafka {

using std::chrono::milliseconds;
using std::chrono::seconds;

#define ASSERT_OK(expression)                                 \
  do {                                                        \
    const auto& status_ = (expression);                       \
    ASSERT_TRUE(status_.ok()) << AsStatus(status_).message(); \
  } while (0)

inline const Status& AsStatus(const Status& status) { return status; }
template <typename T>
const Status& AsStatus(const Result<T>& result) {
  return result.status();
}

// A value that must be there.
template <typename T>
T Must(Result<T> result) {
  if (!result.ok()) {
    ADD_FAILURE() << result.status().message();
    std::abort();
  }
  return *std::move(result);
}

// A record that owns what it shows.
struct Owned {
  int32_t partition = -1;
  int64_t offset = -1;
  int64_t timestamp = -1;
  std::optional<std::string> key, value;
  std::vector<std::pair<std::string, std::optional<std::string>>> headers;
};

inline Owned Own(const Record& record) {
  auto text = [](const Bytes& bytes) {
    return bytes ? std::optional<std::string>(*bytes) : std::nullopt;
  };
  Owned owned{record.partition, record.offset,      record.timestamp,
              text(record.key), text(record.value), {}};
  for (const Header& header : record.headers) {
    owned.headers.emplace_back(std::string(header.name), text(header.value));
  }
  return owned;
}

inline Record Make(Bytes key, Bytes value, int64_t timestamp = 1700000000000) {
  Record record;
  record.key = key;
  record.value = value;
  record.timestamp = timestamp;
  record.timestamp_type = timestamp < 0 ? TimestampType::kNone : TimestampType::kCreateTime;
  return record;
}

inline std::vector<std::string> Values(const std::vector<Owned>& records) {
  std::vector<std::string> values;
  for (const Owned& record : records) values.push_back(record.value.value_or("<null>"));
  return values;
}

inline std::unique_ptr<Cluster> Connect(const std::string& brokers, Properties consumer = {},
                                        Properties producer = {},
                                        milliseconds deadline = seconds(2)) {
  Options options;
  options.bootstrap = brokers;
  options.consumer = std::move(consumer);
  options.producer = std::move(producer);
  options.deadline = deadline;
  return Must(NewCluster(options));
}

// Polls until `enough` holds or a generous time is over; false then.
template <typename F>
bool PollUntil(Consumer* consumer, Batch* batch, F enough) {
  const auto end = std::chrono::steady_clock::now() + seconds(60);
  while (std::chrono::steady_clock::now() < end) {
    Status status = consumer->Poll(milliseconds(50), batch);
    if (!status.ok()) {
      ADD_FAILURE() << status.message();
      return false;
    }
    if (enough()) return true;
  }
  return false;
}

// What partitions hold up to their ends, and where the ends are.
struct Contents {
  std::vector<Owned> records;
  std::map<TopicPartition, int64_t> ends;
};
inline Contents ReadToEnd(Consumer* consumer, size_t partitions) {
  Contents contents;
  auto batch = consumer->NewBatch();
  EXPECT_TRUE(PollUntil(consumer, batch.get(), [&] {
    for (const Record& record : batch->records) contents.records.push_back(Own(record));
    for (const auto& end : batch->ends) contents.ends[end.partition] = end.offset;
    return contents.ends.size() == partitions;
  }));
  return contents;
}
inline Contents ReadTopic(Cluster* cluster, const std::string& topic, int32_t partitions) {
  auto consumer = Must(cluster->NewConsumer({}));
  std::vector<PartitionOffset> from;
  for (int32_t i = 0; i < partitions; i++) from.push_back({{topic, i}, kOffsetBeginning, ""});
  EXPECT_TRUE(consumer->Assign(from).ok());
  return ReadToEnd(consumer.get(), static_cast<size_t>(partitions));
}

inline void WriteAll(Cluster* cluster, const std::string& topic, int32_t partition,
                     const std::vector<std::string>& values) {
  auto producer = Must(cluster->NewProducer());
  auto* to = Must(producer->Open(topic));
  for (const std::string& value : values) {
    ASSERT_OK(producer->Send(to, partition, Make("k", value), 0));
  }
  ASSERT_OK(producer->Flush(seconds(30)));
}

// An admin request whose answer does not matter beyond having come.
inline void Administer(const std::string& brokers,
                       const std::function<void(rd_kafka_t*, rd_kafka_queue_t*)>& ask) {
  rd_kafka_conf_t* conf = rd_kafka_conf_new();
  char error[256];
  rd_kafka_conf_set(conf, "bootstrap.servers", brokers.c_str(), error, sizeof error);
  rd_kafka_t* client = rd_kafka_new(RD_KAFKA_PRODUCER, conf, error, sizeof error);
  {
    Queue queue(rd_kafka_queue_new(client));
    ask(client, queue.get());
    Event event(rd_kafka_queue_poll(queue.get(), 30000));
    ASSERT_NE(event, nullptr);
    EXPECT_EQ(rd_kafka_event_error(event.get()), RD_KAFKA_RESP_ERR_NO_ERROR);
  }
  rd_kafka_destroy(client);
}

inline void SetTopicConfig(const std::string& brokers, const std::string& name,
                           const char* property, const char* value) {
  Administer(brokers, [&](rd_kafka_t* client, rd_kafka_queue_t* queue) {
    rd_kafka_ConfigResource_t* topic =
        rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, name.c_str());
    rd_kafka_ConfigResource_set_config(topic, property, value);
    rd_kafka_AlterConfigs(client, &topic, 1, nullptr, queue);
    rd_kafka_ConfigResource_destroy(topic);
  });
}

inline std::string RandomName(const char* prefix) {
  std::random_device random;
  return std::string(prefix) + "-" + std::to_string(random()) + std::to_string(random() % 1000);
}

// A mock cluster inside this process.
// It knows no DescribeConfigs, so each Open of a producer waits a quarter of the deadline for one.
class MockTest : public ::testing::Test {
 protected:
  explicit MockTest(int brokers = 1) {
    SetLog({.name = "test", .least = LogLevel::kError, .json = false});
    rd_kafka_conf_t* conf = rd_kafka_conf_new();
    char error[256];
    host_ = rd_kafka_new(RD_KAFKA_PRODUCER, conf, error, sizeof error);
    mock_ = rd_kafka_mock_cluster_new(host_, brokers);
    brokers_ = rd_kafka_mock_cluster_bootstraps(mock_);
  }
  ~MockTest() override {
    rd_kafka_mock_cluster_destroy(mock_);
    rd_kafka_destroy(host_);
  }
  void NewTopic(const std::string& name, int partitions) {
    ASSERT_EQ(rd_kafka_mock_topic_create(mock_, name.c_str(), partitions, 1),
              RD_KAFKA_RESP_ERR_NO_ERROR);
  }

  rd_kafka_t* host_;
  rd_kafka_mock_cluster_t* mock_;
  std::string brokers_;
};

// A real broker.
class BrokerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* brokers = std::getenv("KSTREAM_BROKERS");
    if (brokers == nullptr) {
      GTEST_SKIP() << "needs a broker: set KSTREAM_BROKERS, or run ./dev test";
    }
    brokers_ = brokers;
    cluster_ = Connect(brokers_, {}, {}, seconds(15));
    admin_ = Must(cluster_->NewAdmin());
  }
  std::string NewTopic(int32_t partitions, const std::map<std::string, std::string>& config = {}) {
    std::string name = RandomName("t");
    EXPECT_TRUE(Must(admin_->CreateTopic(name, partitions, 1, config)));
    return name;
  }

  std::string brokers_;
  std::unique_ptr<Cluster> cluster_;
  std::unique_ptr<Admin> admin_;
};

}  // namespace kstream::transport::kafka

#endif  // KSTREAM_TESTS_UNIT_TRANSPORT_KAFKA_FIXTURE_H_
