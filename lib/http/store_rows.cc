#include "http/store_rows.h"

#include <utility>

namespace kstream::http {
namespace {

// Of one piece: what is asked for may be far between.
constexpr size_t kMostBytes = 64 << 10;
constexpr int kMostLookedAt = 10'000;

std::vector<StoreInstance> Asked(std::vector<StoreInstance> instances, const RowQuery& query) {
  if (query.task) {
    std::erase_if(instances, [&](const StoreInstance& one) { return one.task != *query.task; });
  }
  return instances;
}

}  // namespace

StoreRows::StoreRows(std::vector<StoreInstance> instances, RowQuery query, int64_t limit)
    : instances_(Asked(std::move(instances), query)), query_(std::move(query)), limit_(limit) {}

// The first row says what the keys are.
Status StoreRows::Enter(const StoreInstance& instance) {
  std::string first;
  KSTREAM_RETURN_IF_ERROR(instance.rows->RangeRows(
      "", std::nullopt, [&first](std::string_view, std::string_view value, int64_t) {
        first = value;
        return false;
      }));
  keys_ = admin::RowKeys::Of(first);
  const bool all = keys_->windowed() && !query_.stored;
  from_ = all ? "" : query_.from;
  return Status::Ok();
}

Result<bool> StoreRows::Next(std::string* lines) {
  if (rows_ >= limit_ || at_ == instances_.size()) return false;
  const StoreInstance& instance = instances_[at_];
  if (!keys_) KSTREAM_RETURN_IF_ERROR(Enter(instance));
  const bool all = keys_->windowed() && !query_.stored;
  const std::optional<std::string_view> to =
      all || !query_.to ? std::nullopt : std::optional<std::string_view>(*query_.to);
  int looked_at = 0;
  bool rest = false;
  KSTREAM_RETURN_IF_ERROR(instance.rows->RangeRows(
      from_, to, [&](std::string_view key, std::string_view value, int64_t timestamp) {
        if (rows_ >= limit_) return false;
        if (looked_at++ == kMostLookedAt || lines->size() >= kMostBytes) {
          from_ = key;
          rest = true;
          return false;
        }
        InspectedRow row{query_.store, instance.task, key, value, timestamp};
        if (!query_.stored && !keys_->Read(key, query_, &row)) return true;
        (*lines += RowToJson(row)) += '\n';
        rows_++;
        return true;
      }));
  if (!rest) {
    at_++;
    keys_.reset();
  }
  return rows_ < limit_ && at_ < instances_.size();
}

}  // namespace kstream::http
