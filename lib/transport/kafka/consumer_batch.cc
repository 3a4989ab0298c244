#include "transport/kafka/consumer_batch.h"

namespace kstream::transport::kafka {
namespace {

Bytes View(const void* data, size_t size) {
  if (data == nullptr) return std::nullopt;
  return std::string_view(static_cast<const char*>(data), size);
}

TimestampType Type(rd_kafka_timestamp_type_t type) {
  switch (type) {
    case RD_KAFKA_TIMESTAMP_CREATE_TIME:
      return TimestampType::kCreateTime;
    case RD_KAFKA_TIMESTAMP_LOG_APPEND_TIME:
      return TimestampType::kLogAppendTime;
    default:
      return TimestampType::kNone;
  }
}

}  // namespace

void KafkaBatch::Clear() {
  records.clear();
  ends.clear();
  assigned.clear();
  revoked.clear();
  lost.clear();
  rebalanced = false;
  headers_.clear();
  ranges_.clear();
  for (rd_kafka_message_t* message : messages_) rd_kafka_message_destroy(message);
  messages_.clear();
}

bool KafkaBatch::Take(rd_kafka_queue_t* queue, std::chrono::milliseconds wait, size_t size) {
  const size_t had = messages_.size();
  if (wait.count() > 0) size = 1;  // else librdkafka would wait until there are `size`
  messages_.resize(had + size);
  const ssize_t got = rd_kafka_consume_batch_queue(queue, static_cast<int>(wait.count()),
                                                   messages_.data() + had, size);
  messages_.resize(had + (got > 0 ? static_cast<size_t>(got) : 0));
  return got > 0;
}

void KafkaBatch::Add(const rd_kafka_message_t& message, std::string_view topic) {
  Record& record = records.emplace_back();
  record.cluster = core_->cluster;
  record.topic = topic;
  record.partition = message.partition;
  record.offset = message.offset;
  rd_kafka_timestamp_type_t type;
  record.timestamp = rd_kafka_message_timestamp(&message, &type);
  record.timestamp_type = Type(type);
  record.key = View(message.key, message.key_len);
  record.value = View(message.payload, message.len);
  rd_kafka_headers_t* headers = nullptr;
  if (rd_kafka_message_headers(&message, &headers) == RD_KAFKA_RESP_ERR_NO_ERROR) {
    AddHeaders(headers);
  }
}

void KafkaBatch::AddHeaders(const rd_kafka_headers_t* headers) {
  const size_t begin = headers_.size();
  const char* name;
  const void* value;
  size_t size;
  for (size_t i = 0;
       rd_kafka_header_get_all(headers, i, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR;
       i++) {
    headers_.push_back({name, View(value, size)});
  }
  ranges_.push_back({records.size() - 1, begin, headers_.size() - begin});
}

void KafkaBatch::Finish() {
  for (const HeaderRange& range : ranges_) {
    records[range.record].headers = std::span(headers_).subspan(range.begin, range.size);
  }
}

}  // namespace kstream::transport::kafka
