// InternalTopics: what a run makes for itself, beside its inputs and outputs: topics, and whether
// it needs a directory.
#ifndef KSTREAM_INTERNAL_TOPICS_H_
#define KSTREAM_INTERNAL_TOPICS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kstream/export.h"
#include "kstream/runtime.h"
#include "kstream/topology.h"

namespace kstream {

struct InternalTopicNeed {
  enum class Kind : uint8_t {
    kManifest,  // <app>.kstream: leads, layout and the names of the others, kept for good
    kTasks,     // <app>.tasks: empty, a partition for each task, where no input can stand for them
    kRepartition,  // <app>-<name>-repartition: between two stages
    kChangelog,    // <app>-<store>-changelog: the journal of a store, a partition for each task
  };
  Kind kind = Kind::kManifest;
  std::string topic;
  // Of kTasks: false where it depends on numbers of partitions that only brokers know.
  bool certain = true;
};
KSTREAM_EXPORT std::string_view ToString(InternalTopicNeed::Kind kind);

// What a run of `topology` under options.app needs at home, as far as it is known without brokers,
// in the order in which it is made. Nothing without an app, on files alone, or when one plain input
// at home is all that there is.
KSTREAM_EXPORT std::vector<InternalTopicNeed> InternalTopics(const Topology& topology,
                                                             const RuntimeOptions& options);

// Whether the run keeps something in <state dir>/<app>, which it locks: stores, or the identity of
// this member of a group. Not without an app, nor in a dry run.
KSTREAM_EXPORT bool NeedsStateDirectory(const Topology& topology, const RuntimeOptions& options);

}  // namespace kstream

#endif  // KSTREAM_INTERNAL_TOPICS_H_
