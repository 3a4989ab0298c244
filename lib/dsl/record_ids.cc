#include "dsl/record_ids.h"

#include <fmt/format.h>

#include "topology/graph.h"

namespace kstream::dsl {

// A record that no source has read is made by a processor, which is not asked to make it again.
RecordId RecordIds::Next(const ProcessorContext& context) {
  const Record* const source = context.source_record();
  if (!source || source->offset < 0) return {.offset = ++made_};
  if (source->partition != partition_ || source->topic != topic_) {
    topic_ = source->topic;
    partition_ = source->partition;
    last_ = {.offset = -1, .origin = Fnv1a(fmt::format("{}[{}]", topic_, partition_))};
  }
  const bool same = last_.offset == source->offset;
  last_.ordinal = same ? last_.ordinal + 1 : 0;
  last_.offset = source->offset;
  return last_;
}

}  // namespace kstream::dsl
