// kafka_tool: what the broker tests need of Kafka and kcat does not offer: topics with a
// configuration, transactions held open as long as a test wants, deleted records, and the committed
// offsets of a group, to set and to see.
//
// It uses librdkafka directly and nothing of kstream: what it sets up and reports cannot share a
// mistake with what is tested. Anything that fails ends it with exit code 1 and one line.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <librdkafka/rdkafka.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr int kLimitMs = 30'000;  // of every answer of a broker

constexpr std::string_view kUsage =
    R"(usage: kafka_tool BROKERS VERB ARG...
  create-topic TOPIC PARTITIONS [PROPERTY=VALUE]...
  add-partitions TOPIC PARTITIONS       grows the topic to so many
  delete-topic TOPIC
  delete-records TOPIC PARTITION BEFORE
  commit-offset GROUP TOPIC PARTITION OFFSET
  committed GROUP TOPIC                 one line a partition: its offset, or -
  metadata GROUP TOPIC                  one line a partition: what was committed beside the offset
  members GROUP [EVERY-MS]              a line of JSON, or one each so many ms, for ever:
      {"time":S,"state":"Stable","members":[{"id":..,"client":..,"instance":..,"partitions":
      {"TOPIC":[0,1]}}]}
  transact ID                           runs the lines of stdin, answering each with a line "ok":
      begin | commit | abort | put TOPIC PARTITION VALUE (outside of a transaction: a plain record)
)";

[[noreturn]] void Die(std::string_view what) {
  fmt::print(stderr, "kafka_tool: {}\n", what);
  std::exit(1);
}

void Check(rd_kafka_resp_err_t error, std::string_view what) {
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) {
    Die(fmt::format("{}: {}", what, rd_kafka_err2str(error)));
  }
}

void Check(const rd_kafka_error_t* error, std::string_view what) {
  if (error != nullptr) Die(fmt::format("{}: {}", what, rd_kafka_error_string(error)));
}

template <auto kDestroy>
struct Destroy {
  template <typename T>
  void operator()(T* object) const {
    kDestroy(object);
  }
};
using Handle = std::unique_ptr<rd_kafka_t, Destroy<rd_kafka_destroy>>;
using Queue = std::unique_ptr<rd_kafka_queue_t, Destroy<rd_kafka_queue_destroy>>;
using Event = std::unique_ptr<rd_kafka_event_t, Destroy<rd_kafka_event_destroy>>;
using Partitions = std::unique_ptr<rd_kafka_topic_partition_list_t,
                                   Destroy<rd_kafka_topic_partition_list_destroy>>;
using Metadata = std::unique_ptr<const rd_kafka_metadata_t, Destroy<rd_kafka_metadata_destroy>>;

using Properties = std::vector<std::pair<std::string, std::string>>;

Handle Connect(rd_kafka_type_t type, const std::string& brokers, const Properties& properties) {
  char why[512];
  rd_kafka_conf_t* const conf = rd_kafka_conf_new();
  const auto set = [&](const std::string& name, const std::string& value) {
    if (rd_kafka_conf_set(conf, name.c_str(), value.c_str(), why, sizeof why) != RD_KAFKA_CONF_OK) {
      Die(why);
    }
  };
  set("bootstrap.servers", brokers);
  for (const auto& [name, value] : properties) set(name, value);
  rd_kafka_t* const handle = rd_kafka_new(type, conf, why, sizeof why);
  if (handle == nullptr) Die(why);
  return Handle(handle);
}

template <typename Number>
Number ToNumber(std::string_view text) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    Die(fmt::format("'{}' is no number", text));
  }
  return number;
}

Partitions OnePartition(const std::string& topic, int32_t partition, int64_t offset) {
  Partitions list(rd_kafka_topic_partition_list_new(1));
  rd_kafka_topic_partition_list_add(list.get(), topic.c_str(), partition)->offset = offset;
  return list;
}

void CheckTopics(const rd_kafka_topic_result_t** results, size_t count) {
  for (size_t i = 0; i < count; i++) {
    Check(rd_kafka_topic_result_error(results[i]), rd_kafka_topic_result_name(results[i]));
  }
}

// Each Admin* call puts one request on the queue; the event that comes back says how it went.
class Admin {
 public:
  explicit Admin(const std::string& brokers)
      : handle_(Connect(RD_KAFKA_PRODUCER, brokers, {})),
        queue_(rd_kafka_queue_new(handle_.get())) {}

  void CreateTopic(const std::string& topic, int partitions, const Properties& properties) {
    char why[512];
    rd_kafka_NewTopic_t* request =
        rd_kafka_NewTopic_new(topic.c_str(), partitions, 1, why, sizeof why);
    if (request == nullptr) Die(why);
    for (const auto& [name, value] : properties) {
      Check(rd_kafka_NewTopic_set_config(request, name.c_str(), value.c_str()), name);
    }
    rd_kafka_CreateTopics(handle_.get(), &request, 1, nullptr, queue_.get());
    rd_kafka_NewTopic_destroy(request);
    const Event event = Answer();
    size_t count = 0;
    const auto** results = rd_kafka_CreateTopics_result_topics(
        rd_kafka_event_CreateTopics_result(event.get()), &count);
    CheckTopics(results, count);
    AwaitPartitions(topic, partitions);
  }

  void AddPartitions(const std::string& topic, int partitions) {
    char why[512];
    rd_kafka_NewPartitions_t* request =
        rd_kafka_NewPartitions_new(topic.c_str(), static_cast<size_t>(partitions), why, sizeof why);
    if (request == nullptr) Die(why);
    rd_kafka_CreatePartitions(handle_.get(), &request, 1, nullptr, queue_.get());
    rd_kafka_NewPartitions_destroy(request);
    const Event event = Answer();
    size_t count = 0;
    const auto** results = rd_kafka_CreatePartitions_result_topics(
        rd_kafka_event_CreatePartitions_result(event.get()), &count);
    CheckTopics(results, count);
    AwaitPartitions(topic, partitions);
  }

  void DeleteTopic(const std::string& topic) {
    rd_kafka_DeleteTopic_t* request = rd_kafka_DeleteTopic_new(topic.c_str());
    rd_kafka_DeleteTopics(handle_.get(), &request, 1, nullptr, queue_.get());
    rd_kafka_DeleteTopic_destroy(request);
    const Event event = Answer();
    size_t count = 0;
    const auto** results = rd_kafka_DeleteTopics_result_topics(
        rd_kafka_event_DeleteTopics_result(event.get()), &count);
    CheckTopics(results, count);
  }

  void DeleteRecords(const std::string& topic, int32_t partition, int64_t before) {
    const Partitions offsets = OnePartition(topic, partition, before);
    rd_kafka_DeleteRecords_t* request = rd_kafka_DeleteRecords_new(offsets.get());
    rd_kafka_DeleteRecords(handle_.get(), &request, 1, nullptr, queue_.get());
    rd_kafka_DeleteRecords_destroy(request);
    const Event event = Answer();
    const auto* result =
        rd_kafka_DeleteRecords_result_offsets(rd_kafka_event_DeleteRecords_result(event.get()));
    Check(result->elems[0].err, topic);
  }

  // As one line of JSON. The names in it are those of tests, so nothing has to be escaped.
  std::string DescribeGroup(const std::string& group) {
    const char* names[] = {group.c_str()};
    const auto deadline = std::time(nullptr) + kLimitMs / 1000;
    Event event;
    const rd_kafka_ConsumerGroupDescription_t* description = nullptr;
    for (;;) {
      rd_kafka_DescribeConsumerGroups(handle_.get(), names, 1, nullptr, queue_.get());
      event = Answer();
      size_t count = 0;
      description = rd_kafka_DescribeConsumerGroups_result_groups(
          rd_kafka_event_DescribeConsumerGroups_result(event.get()), &count)[0];
      const rd_kafka_error_t* const error = rd_kafka_ConsumerGroupDescription_error(description);
      if (error == nullptr) break;
      // The first group of a new broker waits for the topic of the offsets.
      if (std::time(nullptr) > deadline) Check(error, group);
      usleep(100'000);
    }
    std::vector<std::string> members;
    for (size_t i = 0; i < rd_kafka_ConsumerGroupDescription_member_count(description); i++) {
      members.push_back(DescribeMember(rd_kafka_ConsumerGroupDescription_member(description, i)));
    }
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return fmt::format(
        R"({{"time":{:.3f},"state":"{}","members":[{}]}})",
        std::chrono::duration<double>(now).count(),
        rd_kafka_consumer_group_state_name(rd_kafka_ConsumerGroupDescription_state(description)),
        fmt::join(members, ","));
  }

 private:
  static std::string DescribeMember(const rd_kafka_MemberDescription_t* member) {
    std::map<std::string, std::vector<int32_t>> owned;
    const rd_kafka_topic_partition_list_t* const list =
        rd_kafka_MemberAssignment_partitions(rd_kafka_MemberDescription_assignment(member));
    for (int i = 0; list != nullptr && i < list->cnt; i++) {
      owned[list->elems[i].topic].push_back(list->elems[i].partition);
    }
    std::vector<std::string> topics;
    for (const auto& [topic, partitions] : owned) {
      topics.push_back(fmt::format(R"("{}":[{}])", topic, fmt::join(partitions, ",")));
    }
    const char* const instance = rd_kafka_MemberDescription_group_instance_id(member);
    return fmt::format(R"({{"id":"{}","client":"{}","instance":"{}","partitions":{{{}}}}})",
                       rd_kafka_MemberDescription_consumer_id(member),
                       rd_kafka_MemberDescription_client_id(member),
                       instance == nullptr ? "" : instance, fmt::join(topics, ","));
  }

  Event Answer() {
    Event event(rd_kafka_queue_poll(queue_.get(), kLimitMs));
    if (!event) Die("no answer of the broker");
    Check(rd_kafka_event_error(event.get()), "the broker refused");
    return event;
  }

  // The broker answers before every part of it knows the topic.
  void AwaitPartitions(const std::string& topic, int partitions) {
    const auto deadline = std::time(nullptr) + kLimitMs / 1000;
    rd_kafka_topic_t* const handle = rd_kafka_topic_new(handle_.get(), topic.c_str(), nullptr);
    for (bool there = false; !there;) {
      const rd_kafka_metadata_t* raw = nullptr;
      Check(rd_kafka_metadata(handle_.get(), 0, handle, &raw, kLimitMs), topic);
      const Metadata metadata(raw);
      there = raw->topic_cnt == 1 && raw->topics[0].partition_cnt == partitions;
      for (int i = 0; there && i < partitions; i++) {
        there = raw->topics[0].partitions[i].err == RD_KAFKA_RESP_ERR_NO_ERROR;
      }
      if (!there && std::time(nullptr) > deadline) Die(topic + ": not there after creation");
      if (!there) usleep(20'000);
    }
    rd_kafka_topic_destroy(handle);
  }

  const Handle handle_;
  const Queue queue_;
};

// A consumer that never joins its group.
Handle GroupHandle(const std::string& brokers, const std::string& group) {
  return Connect(RD_KAFKA_CONSUMER, brokers,
                 {{"group.id", group}, {"enable.auto.commit", "false"}});
}

void CommitOffset(const Handle& handle, const std::string& topic, int32_t partition,
                  int64_t offset) {
  const Partitions offsets = OnePartition(topic, partition, offset);
  Check(rd_kafka_commit(handle.get(), offsets.get(), 0), "commit");
  Check(offsets->elems[0].err, topic);
}

void PrintCommitted(const Handle& handle, const std::string& topic, bool metadata) {
  rd_kafka_topic_t* const topic_handle = rd_kafka_topic_new(handle.get(), topic.c_str(), nullptr);
  const rd_kafka_metadata_t* raw = nullptr;
  Check(rd_kafka_metadata(handle.get(), 0, topic_handle, &raw, kLimitMs), topic);
  const Metadata cluster(raw);
  rd_kafka_topic_destroy(topic_handle);
  if (raw->topic_cnt != 1) Die(topic + ": no metadata");
  const int count = raw->topics[0].partition_cnt;
  const Partitions list(rd_kafka_topic_partition_list_new(count));
  for (int i = 0; i < count; i++) rd_kafka_topic_partition_list_add(list.get(), topic.c_str(), i);
  Check(rd_kafka_committed(handle.get(), list.get(), kLimitMs), "committed");
  for (int i = 0; i < count; i++) {
    const auto& element = list->elems[i];
    Check(element.err, topic);
    const std::string offset = element.offset < 0 ? "-" : std::to_string(element.offset);
    const std::string text(static_cast<const char*>(element.metadata), element.metadata_size);
    fmt::print("{}\n", metadata ? text : offset);
  }
}

void PrintMembers(const std::string& brokers, const std::string& group, int every_ms) {
  Admin admin(brokers);
  do {
    std::cout << admin.DescribeGroup(group) << std::endl;
    usleep(static_cast<useconds_t>(every_ms) * 1000);
  } while (every_ms > 0 && std::cout);
}

class Script {
 public:
  Script(const std::string& brokers, const std::string& id)
      : transactional_(Connect(RD_KAFKA_PRODUCER, brokers,
                               {{"transactional.id", id}, {"transaction.timeout.ms", "120000"}})),
        plain_(Connect(RD_KAFKA_PRODUCER, brokers, {})) {
    Check(rd_kafka_init_transactions(transactional_.get(), kLimitMs), "init");
  }

  void Run() {
    for (std::string line; std::getline(std::cin, line);) {
      Execute(line);
      std::cout << "ok" << std::endl;
    }
  }

 private:
  void Execute(const std::string& line) {
    std::istringstream words(line);
    std::string verb;
    words >> verb;
    if (verb == "begin") {
      Check(rd_kafka_begin_transaction(transactional_.get()), verb);
      open_ = true;
    } else if (verb == "commit") {
      Check(rd_kafka_commit_transaction(transactional_.get(), kLimitMs), verb);
      open_ = false;
    } else if (verb == "abort") {
      Check(rd_kafka_abort_transaction(transactional_.get(), kLimitMs), verb);
      open_ = false;
    } else if (verb == "put") {
      std::string topic, value;
      int32_t partition = 0;
      words >> topic >> partition >> std::ws;
      std::getline(words, value);
      Put(topic, partition, value);
    } else {
      Die(fmt::format("'{}' is no command", line));
    }
  }

  // The record is in the log when this returns.
  void Put(const std::string& topic, int32_t partition, const std::string& value) {
    rd_kafka_t* const producer = (open_ ? transactional_ : plain_).get();
    Check(rd_kafka_producev(producer, RD_KAFKA_V_TOPIC(topic.c_str()),
                            RD_KAFKA_V_PARTITION(partition),
                            RD_KAFKA_V_VALUE(const_cast<char*>(value.data()), value.size()),
                            RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_END),
          "put");
    Check(rd_kafka_flush(producer, kLimitMs), "put");
  }

  const Handle transactional_, plain_;
  bool open_ = false;
};

Properties ToProperties(const std::vector<std::string>& arguments, size_t first) {
  Properties properties;
  for (size_t i = first; i < arguments.size(); i++) {
    const size_t equals = arguments[i].find('=');
    if (equals == std::string::npos) Die(arguments[i] + ": PROPERTY=VALUE is wanted");
    properties.emplace_back(arguments[i].substr(0, equals), arguments[i].substr(equals + 1));
  }
  return properties;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) Die(kUsage);
  const std::string brokers = argv[1], verb = argv[2];
  const std::vector<std::string> arguments(argv + 3, argv + argc);
  const auto has = [&](std::string_view name, size_t least, size_t most) {
    return verb == name && arguments.size() >= least && arguments.size() <= most;
  };
  if (has("create-topic", 2, SIZE_MAX)) {
    Admin(brokers).CreateTopic(arguments[0], ToNumber<int>(arguments[1]),
                               ToProperties(arguments, 2));
  } else if (has("add-partitions", 2, 2)) {
    Admin(brokers).AddPartitions(arguments[0], ToNumber<int>(arguments[1]));
  } else if (has("delete-topic", 1, 1)) {
    Admin(brokers).DeleteTopic(arguments[0]);
  } else if (has("delete-records", 3, 3)) {
    Admin(brokers).DeleteRecords(arguments[0], ToNumber<int32_t>(arguments[1]),
                                 ToNumber<int64_t>(arguments[2]));
  } else if (has("commit-offset", 4, 4)) {
    CommitOffset(GroupHandle(brokers, arguments[0]), arguments[1], ToNumber<int32_t>(arguments[2]),
                 ToNumber<int64_t>(arguments[3]));
  } else if (has("committed", 2, 2)) {
    PrintCommitted(GroupHandle(brokers, arguments[0]), arguments[1], false);
  } else if (has("metadata", 2, 2)) {
    PrintCommitted(GroupHandle(brokers, arguments[0]), arguments[1], true);
  } else if (has("members", 1, 2)) {
    PrintMembers(brokers, arguments[0], arguments.size() > 1 ? ToNumber<int>(arguments[1]) : 0);
  } else if (has("transact", 1, 1)) {
    Script(brokers, arguments[0]).Run();
  } else {
    Die(kUsage);
  }
  return 0;
}
