// Serdes of one's own (kstream/serdes.h): who they are, and how they are called.
//
// Their code is a stranger's. It gets a buffer of its own, so what was there before is safe; what
// it throws is a bad record; and the JSON that it gives is checked and made compact before anybody
// sees it, so that ToJson of every serde but json gives valid compact text. Tested by
// tests/unit/record/serde_test.cc.
#ifndef KSTREAM_RECORD_CUSTOM_SERDE_H_
#define KSTREAM_RECORD_CUSTOM_SERDE_H_

#include <memory>
#include <string>
#include <string_view>

#include "kstream/serdes.h"
#include "kstream/status.h"

namespace kstream {

struct NamedSerde {
  std::string name;
  std::shared_ptr<const CustomSerde> serde;

  // As those of Serde.
  Status ToJson(std::string_view bytes, std::string* json) const;
  Status FromJson(std::string_view json, std::string* bytes) const;
};

// What RegisterSerde made of `name`; null: nothing. Any thread.
std::shared_ptr<const NamedSerde> FindCustomSerde(std::string_view name);

}  // namespace kstream

#endif  // KSTREAM_RECORD_CUSTOM_SERDE_H_
