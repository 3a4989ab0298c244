#include "dsl/row_store.h"

#include <fmt/format.h>

namespace kstream::dsl {

Result<KeyValueStore*> FindKeyValueStore(ProcessorContext& context, const std::string& name) {
  KSTREAM_ASSIGN_OR_RETURN(StateStore* const found, context.Store(name));
  if (auto* const store = dynamic_cast<KeyValueStore*>(found)) return store;
  return Status::Usage(fmt::format("store '{}' is no key-value store", name));
}

}  // namespace kstream::dsl
