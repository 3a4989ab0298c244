// Reset: puts an application back to a beginning: where it reads on from, and nothing remembered.
//
// What belongs to an application is what its manifest lists, never what is called alike. The plan
// comes first, and is what will be done, in this order:
//
//   1. changelogs are copied, if a backup is asked for
//   2. changelogs are deleted: from here on a start ends with "changelog gone, reset"
//   3. the group's offsets of inputs are set, those of internal topics forgotten
//   4. the other internal topics are deleted
//   5. the stores in the directory of this host are removed
//   6. a manifest with a new incarnation and nothing else is written: a start is a first start, and
//      stores on other hosts are void
//
// So whatever ends a reset before its end, no member can run between what was and what will be, and
// a reset that is begun again does the rest. The group must have no members; brokers refuse step 3
// when one has come meanwhile. share/doc/kstream/reset.md is the page for users.
#ifndef KSTREAM_RESET_H_
#define KSTREAM_RESET_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kstream/export.h"
#include "kstream/properties.h"
#include "kstream/status.h"

namespace kstream {

// Where inputs are read from afterwards, in Kafka's words.
struct KSTREAM_EXPORT ResetTarget {
  enum class Kind : uint8_t { kEarliest, kLatest, kTime, kOffset, kShift, kFile };
  Kind kind = Kind::kEarliest;
  int64_t number = 0;  // kTime: ms since the epoch; kOffset: the offset; kShift: by how many
  std::string file;    // kFile: lines of topic,partition,offset

  // `word` is one of to-earliest, to-latest, to-datetime (ms since the epoch, RFC 3339, or a
  // duration ago), to-offset, by-duration (ago), shift-by, from-file. kUsage: what `value` is not.
  static Result<ResetTarget> Parse(std::string_view word, std::string_view value);
};

struct ResetOptions {
  std::string app = {};
  std::string state_dir = {};  // RuntimeOptions::StateDir
  ClusterOptions home = {};
  ResetTarget target = {};
  std::string backup = {};  // a directory; empty: no copies
  // Internal topics that no manifest lists, and that are this application's all the same.
  std::vector<std::string> adopt = {};
};

// One thing that a reset does.
struct ResetStep {
  enum class Kind : uint8_t {
    kBackup,          // `topic` is copied to the file `path`
    kDeleteTopic,     // `topic`
    kSetOffset,       // of topic[partition]: from `before` to `after`
    kForgetOffset,    // of topic[partition]
    kRemoveStore,     // the directory `path`
    kNewIncarnation,  // in the manifest `topic`
  };
  Kind kind = Kind::kBackup;
  std::string topic = {};
  int32_t partition = -1;
  std::optional<int64_t> before = {}, after = {};
  std::string path = {};
  bool operator==(const ResetStep&) const = default;
};
// "delete-topic".
KSTREAM_EXPORT std::string_view ToString(ResetStep::Kind kind);

// Belongs to one thread.
class KSTREAM_EXPORT Reset {
 public:
  // kUsage: no brokers, a name that is none.
  static Result<std::unique_ptr<Reset>> Open(ResetOptions options);
  virtual ~Reset();

  // Changes nothing. kCluster: there is no such application. kRefused: it has members, which are
  // listed; or internal topics that no manifest lists. kUsage: the target says nothing for an
  // input. kState: the directory is in use.
  virtual Result<std::vector<ResetStep>> Plan() = 0;
  // Makes the plan anew and does it; `done` is called after each step, and its failure ends it: the
  // rest is done by another call.
  virtual Status Execute(const std::function<Status(const ResetStep&)>& done) = 0;
};

}  // namespace kstream

#endif  // KSTREAM_RESET_H_
