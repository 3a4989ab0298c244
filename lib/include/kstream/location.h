// Location: where records come from or go to: a file, stdin or stdout, a topic of a cluster, or a
// repartition topic of the topology's own.
#ifndef KSTREAM_LOCATION_H_
#define KSTREAM_LOCATION_H_

#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "kstream/export.h"
#include "kstream/status.h"

namespace kstream {

struct KSTREAM_EXPORT Location {
  // kRepartition: an internal topic between two stages, "<app>-<name>-repartition". The runtime
  // makes it; without an app it lies in this process.
  enum class Kind { kFile, kTopic, kRepartition };

  Kind kind = Kind::kFile;
  std::string cluster;  // of a topic: the name given with --cluster; empty is home
  // A path ("-" is stdin or stdout), a topic, a pattern that begins with ^, or what a repartition
  // topic is called in the topology.
  std::string name;

  // `text` as on the command line: `file:PATH` and `topic:NAME` always say which; `NAME:topic`
  // names a cluster of `clusters`; otherwise a topic when `brokers` is true, else a path. `-` is
  // always a stream of this process. kUsage when empty.
  static Result<Location> Parse(std::string_view text, bool brokers,
                                const std::set<std::string>& clusters = {});

  static Location Topic(std::string name, std::string cluster = {}) {
    return {Kind::kTopic, std::move(cluster), std::move(name)};
  }
  static Location Repartition(std::string name) {
    return {Kind::kRepartition, {}, std::move(name)};
  }

  bool is_topic() const { return kind == Kind::kTopic; }
  bool is_pattern() const { return is_topic() && !name.empty() && name[0] == '^'; }
  // As Parse would read it whatever the defaults.
  std::string ToString() const;
  bool operator==(const Location&) const = default;
};

// Whether `input` reads what is written to `output`: the same file by name, topic or repartition
// topic, or a pattern that matches. Stdin is not stdout. kUsage: the pattern is none.
KSTREAM_EXPORT Result<bool> Reads(const Location& input, const Location& output);

}  // namespace kstream

#endif  // KSTREAM_LOCATION_H_
