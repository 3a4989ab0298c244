// Location: where records come from or go to: a file, stdin or stdout, or a topic of a cluster.
#ifndef KSTREAM_LOCATION_H_
#define KSTREAM_LOCATION_H_

#include <set>
#include <string>
#include <string_view>

#include "kstream/export.h"
#include "kstream/status.h"

namespace kstream {

struct KSTREAM_EXPORT Location {
  enum class Kind { kFile, kTopic };

  Kind kind = Kind::kFile;
  std::string cluster;  // of a topic: the name given with --cluster; empty is home
  std::string name;     // path ("-" is stdin or stdout), topic, or a pattern that begins with ^

  // `text` as on the command line: `file:PATH` and `topic:NAME` always say which; `NAME:topic`
  // names a cluster of `clusters`; otherwise a topic when `brokers` is true, else a path. `-` is
  // always a stream of this process. kUsage when empty.
  static Result<Location> Parse(std::string_view text, bool brokers,
                                const std::set<std::string>& clusters = {});

  bool is_topic() const { return kind == Kind::kTopic; }
  bool is_pattern() const { return is_topic() && !name.empty() && name[0] == '^'; }
  // As Parse would read it whatever the defaults.
  std::string ToString() const;
  bool operator==(const Location&) const = default;
};

}  // namespace kstream

#endif  // KSTREAM_LOCATION_H_
