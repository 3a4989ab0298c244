#include "transport/kafka/topic_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>

#include "base/time.h"

namespace kstream::transport::kafka {
namespace {

// Of a zigzag varint of a number that is not negative.
int64_t VarintBytes(uint64_t number) {
  return std::max<int64_t>((static_cast<int64_t>(std::bit_width(number << 1)) + 6) / 7, 1);
}

int64_t FieldBytes(const Bytes& bytes) {
  return bytes ? VarintBytes(bytes->size()) + static_cast<int64_t>(bytes->size()) : 1;
}

}  // namespace

TopicLimits ToLimits(const std::map<std::string, std::string>& config) {
  auto number = [&](const char* name, int64_t otherwise) {
    auto found = config.find(name);
    if (found == config.end()) return otherwise;
    const std::string& text = found->second;
    int64_t value = otherwise;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  };
  auto text = [&](const char* name) {
    auto found = config.find(name);
    return found == config.end() ? std::string() : found->second;
  };
  TopicLimits limits;
  limits.max_bytes = number("max.message.bytes", TopicLimits::kNone);
  // Brokers before 3.6 have one limit for both directions.
  const int64_t both = number("message.timestamp.difference.max.ms", TopicLimits::kNone);
  limits.max_age_ms = number("message.timestamp.before.max.ms", both);
  limits.max_ahead_ms = number("message.timestamp.after.max.ms", both);
  limits.log_append_time = text("message.timestamp.type") == "LogAppendTime";
  const std::string policy = text("cleanup.policy");
  if (const int64_t retention = number("retention.ms", -1); retention >= 0 && policy != "compact") {
    limits.retention_ms = retention;
  }
  limits.needs_key = policy.find("compact") != std::string::npos;
  return limits;
}

int64_t BatchBytes(const Record& record) {
  constexpr int64_t kBatchHeader = 61;
  int64_t bytes = 3;  // attributes, and the deltas of timestamp and offset, which are 0
  bytes += FieldBytes(record.key) + FieldBytes(record.value);
  bytes += VarintBytes(record.headers.size());
  for (const Header& header : record.headers) {
    bytes += FieldBytes(header.name) + FieldBytes(header.value);
  }
  return kBatchHeader + VarintBytes(static_cast<uint64_t>(bytes)) + bytes;
}

Status Admit(const TopicLimits& limits, std::string_view topic, const Record& record, int64_t now) {
  if (limits.max_bytes != TopicLimits::kNone) {
    const int64_t bytes = BatchBytes(record);
    if (bytes > limits.max_bytes) {
      return Status::Data(fmt::format(
          "a record of {} bytes is larger than topic {} takes: raise its max.message.bytes ({})",
          bytes, topic, limits.max_bytes));
    }
  }
  if (limits.needs_key && !record.key) {
    return Status::Data(
        fmt::format("topic {} is compacted and takes no record without a key: set one", topic));
  }
  if (record.timestamp_type == TimestampType::kNone || limits.log_append_time) return Status::Ok();
  const int64_t time = record.timestamp;
  if (time == 0) {
    return Status::Data(
        fmt::format("a timestamp of 0 ms (1970-01-01T00:00:00Z exactly) cannot be written to topic "
                    "{}: librdkafka takes it for now",
                    topic));
  }
  if (time < 0) {
    return Status::Data(
        fmt::format("a timestamp before 1970 ({} ms) cannot be written to topic {}: Kafka has none",
                    time, topic));
  }
  if (time > now && time - now > limits.max_ahead_ms) {
    return Status::Data(
        fmt::format("the timestamp {} is further ahead of the clock than topic {} takes: raise its "
                    "message.timestamp.after.max.ms ({})",
                    FormatRfc3339(time), topic, limits.max_ahead_ms));
  }
  if (time < now && now - time > limits.max_age_ms) {
    return Status::Data(
        fmt::format("the timestamp {} is further in the past than topic {} takes: raise its "
                    "message.timestamp.before.max.ms ({})",
                    FormatRfc3339(time), topic, limits.max_age_ms));
  }
  return Status::Ok();
}

std::string Oddity(const TopicLimits& limits, std::string_view topic, const Record& record,
                   int64_t now) {
  constexpr int64_t kYear2000 = 946'684'800'000, kYear2100 = 4'102'444'800'000;
  if (record.timestamp_type == TimestampType::kNone || limits.log_append_time) return {};
  const int64_t time = record.timestamp;
  if (time < kYear2000 || time >= kYear2100) {
    return fmt::format("topic {}: a record has the time {}: check --timestamp-unit", topic,
                       FormatRfc3339(time));
  }
  if (time < now && now - time > limits.retention_ms) {
    return fmt::format(
        "topic {}: a record has the time {}, and its retention.ms of {} deletes that at once",
        topic, FormatRfc3339(time), limits.retention_ms);
  }
  return {};
}

}  // namespace kstream::transport::kafka
