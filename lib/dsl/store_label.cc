#include "dsl/store_label.h"

#include <fmt/format.h>

#include "dsl/window_key.h"

namespace kstream::dsl {

Status OtherState(std::string_view store, std::string_view why) {
  return Status(
      StatusCode::kState,
      fmt::format("store '{}': {}: name another store, or reset the application", store, why));
}

Status StoreLabel::Check(const KeyValueStore& store, std::string_view name) {
  StoredRow row;
  KSTREAM_ASSIGN_OR_RETURN(said_, store.Find(kWindowsKey, &row));
  if (!said_ || row.value == text_) return Status::Ok();
  return OtherState(name, fmt::format("its rows are those of {}, not of {}", row.value, text_));
}

Status StoreLabel::Say(KeyValueStore* store) {
  if (std::exchange(said_, true)) return Status::Ok();
  return store->Put(kWindowsKey, text_, 0);
}

}  // namespace kstream::dsl
