// KeptValue: what the store has of a record that a join keeps: value and headers, as an envelope
// (record/envelope.h) without a key, which is in the row's own. One that has met another begins
// with the member "matched". Tested by tests/unit/dsl/join_state_test.cc.
#ifndef KSTREAM_DSL_KEPT_VALUE_H_
#define KSTREAM_DSL_KEPT_VALUE_H_

#include <string>
#include <string_view>

#include "dsl/join_rows.h"
#include "record/envelope.h"
#include "record/json_document.h"

namespace kstream::dsl {

// Belongs to one task.
class KeptValue {
 public:
  static bool IsMatched(std::string_view text);
  // Until the next call.
  std::string_view Write(const KeptRecord& record);
  // Fills in value, headers and `matched`, which live until the next call. kData: it is none.
  Status Read(std::string_view text, KeptRecord* record);

 private:
  json::Reader judge_;
  EnvelopeReader reader_;
  std::string text_;
};

}  // namespace kstream::dsl

#endif  // KSTREAM_DSL_KEPT_VALUE_H_
