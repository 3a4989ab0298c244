#include "task/bad_records.h"

#include <fmt/format.h>

namespace kstream::task {
namespace {

// So many are told one by one; a stream of bad records must not drown the log.
constexpr int64_t kToldOneByOne = 10;

}  // namespace

std::string PlaceOf(const Record& record) {
  const std::string_view separator = record.cluster.empty() ? "" : ":";
  return fmt::format("{}{}{}[{}]@{}", record.cluster, separator, record.topic, record.partition,
                     record.offset);
}

Status BadRecords::Handle(const Record& record, const std::string& place, const Status& why,
                          std::string* message) {
  message->clear();
  if (policy_.on_error == OnError::kFail) return why.At(place);

  int64_t seen;
  if (policy_.on_error == OnError::kDeadLetter) {
    if (Status status = Bury(record, why); !status.ok()) {
      return status.At(fmt::format("{}: dead letter", place));
    }
    decided_.dead_letters++;
    seen = counts_->dead_letters.fetch_add(1, std::memory_order_relaxed) + 1;
  } else {
    decided_.skipped++;
    seen = counts_->skipped.fetch_add(1, std::memory_order_relaxed) + 1;
  }
  if (policy_.max_errors && seen > *policy_.max_errors) {
    return Status::Data(fmt::format("{}: bad record number {}, and --max-errors is {}: {}", place,
                                    seen, *policy_.max_errors, why.message()));
  }
  if (seen <= kToldOneByOne) {
    *message =
        fmt::format("{} {}: {}{}", policy_.on_error == OnError::kSkip ? "skipped" : "dead letter",
                    place, why.message(), seen == kToldOneByOne ? " (more are only counted)" : "");
  }
  return Status::Ok();
}

void BadRecords::Undo(const Decided& decided) {
  counts_->skipped.fetch_sub(decided.skipped, std::memory_order_relaxed);
  counts_->dead_letters.fetch_sub(decided.dead_letters, std::memory_order_relaxed);
}

Status BadRecords::Bury(const Record& record, const Status& why) {
  const std::string partition = std::to_string(record.partition),
                    offset = std::to_string(record.offset);
  const std::string timestamp = std::to_string(record.timestamp);
  std::vector<Header> headers(record.headers.begin(), record.headers.end());
  headers.push_back({"kstream.error.reason", why.message()});
  headers.push_back({"kstream.error.topic", record.topic});
  headers.push_back({"kstream.error.partition", partition});
  headers.push_back({"kstream.error.offset", offset});
  if (record.timestamp_type != TimestampType::kNone) {
    headers.push_back({"kstream.error.timestamp", timestamp});
  }
  Record letter = record;
  letter.headers = headers;
  letter.partition = -1;
  letter.cache = nullptr;
  return dead_letters_->Write(letter);
}

}  // namespace kstream::task
