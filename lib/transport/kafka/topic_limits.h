// TopicLimits: which records a topic takes, known before they are sent.
//
// The broker judges whole batches: one record too large, too far in the future, or without a key in
// a compacted topic fails everything that travelled with it. So the topic's own configuration is
// read once and such a record is refused alone, before it is queued.
// Tested by tests/unit/transport/kafka/topic_limits_test.cc.
#ifndef KSTREAM_TRANSPORT_KAFKA_TOPIC_LIMITS_H_
#define KSTREAM_TRANSPORT_KAFKA_TOPIC_LIMITS_H_

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>

#include "kstream/record.h"
#include "kstream/status.h"

namespace kstream::transport::kafka {

struct TopicLimits {
  static constexpr int64_t kNone = std::numeric_limits<int64_t>::max();

  int32_t partitions = 0;        // when it was looked at; 0: not known
  int64_t max_bytes = kNone;     // of a batch: max.message.bytes
  int64_t max_age_ms = kNone;    // how far a timestamp may lie before the broker's clock
  int64_t max_ahead_ms = kNone;  // and after it
  int64_t retention_ms = kNone;  // older records are deleted at once: retention.ms
  bool log_append_time = false;  // the broker sets timestamps: ours do not matter
  bool needs_key = false;        // compacted
};

// From the answer to DescribeConfigs; what it does not tell is not limited.
TopicLimits ToLimits(const std::map<std::string, std::string>& config);

// The bytes of a batch (format 2, not compressed) that holds this record alone.
int64_t BatchBytes(const Record& record);

// kData: why `topic` would refuse this record, or the protocol cannot carry it. `now`: ms since the
// epoch.
Status Admit(const TopicLimits& limits, std::string_view topic, const Record& record, int64_t now);

// What is odd about a record that is admitted, for one warning a topic: the topic's retention would
// delete it at once, or its timestamp lies outside 2000-2100, as one in the wrong unit does. Empty:
// nothing.
std::string Oddity(const TopicLimits& limits, std::string_view topic, const Record& record,
                   int64_t now);

}  // namespace kstream::transport::kafka

#endif  // KSTREAM_TRANSPORT_KAFKA_TOPIC_LIMITS_H_
