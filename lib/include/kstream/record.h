// Record: one message of a topic, or one line of a file, as a stage sees it.
//
// A Record is a view. Key, value and headers point into memory of whoever delivered it and are
// valid only during the call that hands it over; copy what must live longer. Null, empty and the
// text `null` are three different values: a null key or value is std::nullopt, an empty one is an
// empty view.
#ifndef KSTREAM_RECORD_H_
#define KSTREAM_RECORD_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "kstream/export.h"

namespace kstream {

// What a timestamp says (KIP-32). kNone: the record has no timestamp.
enum class TimestampType : uint8_t { kNone, kCreateTime, kLogAppendTime };

// One header. Names may repeat; order counts; a value may be null.
struct Header {
  std::string_view name;
  std::optional<std::string_view> value;
};

using Bytes = std::optional<std::string_view>;

namespace json {
struct ValueCache;
}

struct Record {
  std::string_view cluster;  // the cluster's name as the user gave it; empty for home and files
  std::string_view topic;    // topic, or the path of a file ("-" for stdin)
  int32_t partition = -1;    // -1: none
  int64_t offset = -1;       // -1: none. In a file: the number of the line, from 0
  int64_t timestamp = -1;    // ms since the epoch; meaningless with kNone
  TimestampType timestamp_type = TimestampType::kNone;
  Bytes key;
  Bytes value;
  std::span<const Header> headers;
  // By what a partition is chosen where that is not the key: by murmur2, as Java's producer does.
  // What one source gives has none.
  Bytes partition_key;

  // The parsed value, shared by all nodes that look at this record. Set by the engine; a processor
  // that replaces `value` resets it to nullptr.
  json::ValueCache* cache = nullptr;
};

}  // namespace kstream

#endif  // KSTREAM_RECORD_H_
