// KeyJson: the key of a group as results show it: JSON, compact, by the serde of keys. Tested by
// tests/unit/dsl/aggregate_test.cc and window_aggregate_test.cc.
#ifndef KSTREAM_DSL_KEY_JSON_H_
#define KSTREAM_DSL_KEY_JSON_H_

#include <string>
#include <string_view>

#include "kstream/status.h"
#include "record/json_document.h"
#include "record/serde.h"

namespace kstream::dsl {

// Belongs to one thread.
class KeyJson {
 public:
  explicit KeyJson(const Serde& serde) : serde_(serde) {}

  // kData: `key` is not of the serde.
  Status Append(std::string_view key, std::string* json);

 private:
  const Serde serde_;
  json::Reader reader_;
};

}  // namespace kstream::dsl

#endif  // KSTREAM_DSL_KEY_JSON_H_
