#include "dsl/seen_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <tuple>
#include <utility>

#include "base/printable.h"
#include "base/sort_by_key.h"
#include "dsl/row_store.h"
#include "dsl/store_range.h"
#include "dsl/window_key.h"

namespace kstream::dsl {
namespace {

constexpr int64_t kBuckets = 4;  // in which the time of what is remembered is divided, about

// Whether it was read, from the same partition, behind a record that is being read now.
bool IsBehind(const RecordId& id, const RecordId& now) {
  return id.origin != 0 && id.origin == now.origin &&
         std::tie(id.offset, id.ordinal) > std::tie(now.offset, now.ordinal);
}

template <typename Number>
bool ReadNumber(std::string_view text, int base, Number* number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number, base);
  return error == std::errc() && end == text.data() + text.size();
}

bool ReadSeen(const json::Document& document, json::Node node, SeenRecords::Seen* seen) {
  if (document.type(node) != json::Type::kObject) return false;
  const auto number = [&](std::string_view name, auto* value) {
    const json::Node member = document.Find(node, name);
    return member != json::kNoNode && ReadNumber(document.Raw(member), 10, value);
  };
  const json::Node origin = document.Find(node, "origin");
  return origin != json::kNoNode && document.type(origin) == json::Type::kString &&
         ReadNumber(document.StringContent(origin), 16, &seen->id.origin) &&
         number("time", &seen->time) && number("came", &seen->came) &&
         number("offset", &seen->id.offset) && number("ordinal", &seen->id.ordinal);
}

}  // namespace

SeenRecords::SeenRecords(int64_t within, int64_t grace, std::string store)
    : within_(within),
      kept_for_(within + grace),
      width_(std::max<int64_t>(1, kept_for_ / kBuckets)),
      store_name_(std::move(store)),
      label_(fmt::format(R"({{"windows":"tumbling:{}ms","distinct":"--within {}ms --grace {}ms"}})",
                         width_, within, grace)) {}

Status SeenRecords::Init(ProcessorContext& context) {
  context_ = &context;
  if (store_name_.empty()) return Status::Ok();
  KSTREAM_ASSIGN_OR_RETURN(store_, FindKeyValueStore(context, store_name_));
  KSTREAM_RETURN_IF_ERROR(label_.Check(*store_, store_name_));
  return FindBuckets();
}

Status SeenRecords::FindBuckets() {
  std::optional<std::string> found;
  const auto first = [&found](std::string_view key, std::string_view, int64_t) {
    found = key;
    return false;
  };
  for (std::string from = kWindowsKey + '\0';;) {
    found.reset();
    KSTREAM_RETURN_IF_ERROR(store_->RangeRows(from, std::nullopt, first));
    if (!found) return Status::Ok();
    const std::optional<int64_t> start = StartOfKey(*found);
    if (!start || *start < 0 || *start % width_ != 0 || !label_.said()) {
      return OtherState(store_name_,
                        fmt::format("key {} is of no such operator", Printable(*found)));
    }
    Bucket& bucket = buckets_.try_emplace(*start).first->second;
    bucket.whole = false;
    bucket.stored = true;
    from = WindowPrefix(*start + 1);
  }
}

Result<SeenRecords::Answer> SeenRecords::Ask(std::string_view key, const Seen& record) {
  if (store_ && bytes_ > static_cast<size_t>(store_->memory_share())) {
    KSTREAM_RETURN_IF_ERROR(Spill());
  }
  const uint64_t hash = BytesHash::Of(key);
  Answer answer = Answer::kNew;
  const auto look = [&](const Seen& seen) {
    if (seen.id == record.id) {
      answer = Answer::kItself;
    } else if (answer == Answer::kNew && seen.came <= record.came &&
               seen.came + kept_for_ >= record.came && !IsBehind(seen.id, record.id) &&
               std::max(seen.time, record.time) - std::min(seen.time, record.time) <= within_) {
      answer = Answer::kRepeat;
    }
  };
  for (auto& [start, bucket] : buckets_) {
    KSTREAM_ASSIGN_OR_RETURN(const Rows::Entry* const entry, Find(start, &bucket, key, hash));
    if (!entry) continue;
    look(entry->value.first);
    for (const Seen& seen : entry->value.others) look(seen);
  }
  return answer;
}

Result<SeenRecords::Rows::Entry*> SeenRecords::Find(int64_t start, Bucket* bucket,
                                                    std::string_view key, uint64_t hash) {
  Rows::Entry* const found = bucket->rows.Find(key, hash);
  if (found || bucket->whole) return found;
  KSTREAM_ASSIGN_OR_RETURN(const bool stored,
                           store_->Find(WindowPrefix(start).append(key), &stored_));
  if (!stored) return nullptr;
  Row row;
  KSTREAM_RETURN_IF_ERROR(Read(key, &row));
  Rows::Entry* const entry = bucket->rows.Make(key, hash).first;
  Grow(bucket, key.size() + Rows::kEntryBytes + row.others.size() * sizeof(Seen));
  entry->value = std::move(row);
  return entry;
}

void SeenRecords::Remember(std::string_view key, const Seen& record) {
  Bucket& bucket = buckets_.try_emplace(record.came - record.came % width_).first->second;
  const auto [entry, fresh] = bucket.rows.Make(key);
  Grow(&bucket, fresh ? key.size() + Rows::kEntryBytes : sizeof(Seen));
  Add(record, fresh, &entry->value);
  if (store_ && !std::exchange(entry->value.dirty, true)) bucket.dirty.push_back(entry);
}

void SeenRecords::Add(const Seen& seen, bool fresh, Row* row) {
  if (fresh) {
    row->first = seen;
  } else {
    row->others.push_back(seen);
  }
}

void SeenRecords::MoveTo(int64_t stream_time) {
  while (!buckets_.empty() && IsPast(buckets_.begin()->first, stream_time)) {
    const auto& [start, bucket] = *buckets_.begin();
    bytes_ -= bucket.bytes;
    if (bucket.stored) past_.push_back(start);
    buckets_.erase(buckets_.begin());
  }
}

Status SeenRecords::Flush() {
  if (!store_) return Status::Ok();
  KSTREAM_RETURN_IF_ERROR(Store());
  const int64_t committed = context_->committed_stream_time().value_or(0);
  while (!past_.empty() && IsPast(past_.front(), committed)) {
    const int64_t start = past_.front();
    past_.pop_front();
    KSTREAM_RETURN_IF_ERROR(DeleteRange(store_, WindowPrefix(start), WindowPrefix(start + width_)));
  }
  return Status::Ok();
}

Status SeenRecords::Store() {
  for (auto& [start, bucket] : buckets_) {
    if (bucket.dirty.empty()) continue;
    KSTREAM_RETURN_IF_ERROR(label_.Say(store_));
    bucket.stored = true;
    SortByKey(&bucket.dirty, [](const Rows::Entry* entry) { return entry->key(); });
    for (Rows::Entry* const entry : std::exchange(bucket.dirty, {})) {
      Row& row = entry->value;
      row.dirty = false;
      Write(row);
      const int64_t time = row.others.empty() ? row.first.time : row.others.back().time;
      KSTREAM_RETURN_IF_ERROR(store_->Put(WindowPrefix(start).append(entry->key()), text_, time));
    }
  }
  return Status::Ok();
}

Status SeenRecords::Spill() {
  KSTREAM_RETURN_IF_ERROR(Store());
  for (auto& [start, bucket] : buckets_) {
    bucket.rows.clear();
    bucket.bytes = 0;
    bucket.whole = !bucket.stored;
  }
  bytes_ = 0;
  return Status::Ok();
}

Status SeenRecords::Read(std::string_view key, Row* row) {
  json::Document document;
  bool good = reader_.Parse(stored_.value, &document).ok() &&
              document.type(document.root()) == json::Type::kArray;
  json::Node node = good ? document.First(document.root()) : json::kNoNode;
  bool fresh = true;
  for (; good && node != json::kNoNode; node = document.Next(node), fresh = false) {
    Seen seen;
    good = ReadSeen(document, node, &seen);
    if (good) Add(seen, fresh, row);
  }
  if (good && !fresh) return Status::Ok();
  return OtherState(store_name_, fmt::format("key {}: it is no such row", Printable(key)));
}

void SeenRecords::Write(const Row& row) {
  text_ = "[";
  const auto write = [this](const Seen& seen) {
    fmt::format_to(std::back_inserter(text_),
                   R"({{"time":{},"came":{},"origin":"{:x}","offset":{},"ordinal":{}}})", seen.time,
                   seen.came, seen.id.origin, seen.id.offset, seen.id.ordinal);
  };
  write(row.first);
  for (const Seen& seen : row.others) {
    text_ += ',';
    write(seen);
  }
  text_ += ']';
}

void SeenRecords::Grow(Bucket* bucket, size_t bytes) {
  bucket->bytes += bytes;
  bytes_ += bytes;
}

void SeenRecords::Close() {
  buckets_.clear();
  bytes_ = 0;
}

}  // namespace kstream::dsl
