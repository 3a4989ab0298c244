#include "dsl/key_json.h"

namespace kstream::dsl {

Status KeyJson::Append(std::string_view key, std::string* json) {
  const size_t begin = json->size();
  Status status = serde_.ToJson(key, json);
  if (status.ok() && serde_.kind() == Serde::Kind::kJson) {
    json::Document document;
    status = reader_.Parse(key, &document);
    json->resize(begin);
    if (status.ok()) json::AppendCompact(document, document.root(), json);
  }
  return status.At("the group's key");
}

}  // namespace kstream::dsl
