// Inspector: a look into the stores of an application from outside: what its state directory on
// this host holds, what its changelogs hold, or the one with the tail of the other laid over it.
//
// Nothing is changed and nobody is kept waiting: a store is read while its owner runs. What is seen
// has a name, the offset of the changelog up to which it is true (As-of).
// share/doc/kstream/inspect.md is the page for users.
#ifndef KSTREAM_INSPECT_H_
#define KSTREAM_INSPECT_H_

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

struct InspectOptions {
  std::string app = {};        // a name; never empty
  std::string state_dir = {};  // RuntimeOptions::StateDir
  // Without brokers the directory alone is read: as of its owner's last flush. With brokers the
  // tail of the changelogs, as committed, is laid over it.
  ClusterOptions home = {};
  // Nothing of the directory is used but room for a temporary store: all rows are read from the
  // changelogs. Needs brokers.
  bool from_changelog = false;
};

// The instance of a store in one task, as a directory has it.
struct InspectedStore {
  std::string store;
  int32_t task = 0;
  std::string path;
  std::string engine;       // "rocksdb"
  int format = 0;           // of the files
  uint64_t rows = 0;        // an estimate
  uint64_t bytes = 0;       // on disk
  int64_t offset = 0;       // of the first changelog record that is not in it; 0 if it has none
  std::string incarnation;  // of the application that wrote it; empty: of a run on files
  int64_t written = 0;      // wall clock when rows changed last, ms since the epoch
};

// One application of a state directory.
struct AppInstance {
  std::string app;
  size_t instances = 0;               // of stores
  std::optional<std::string> holder;  // "process 12": a live owner
};

// A row, valid during the call that hands it over.
struct InspectedRow {
  std::string_view store;
  int32_t task = 0;
  std::string_view key, value;
  int64_t timestamp = 0;  // event time, ms since the epoch
  // Of a store of windows, whose `key` is the group's; ms since the epoch.
  std::optional<int64_t> window_start = {}, window_end = {};
};

// As one line of JSON, without a line end:
//   {"store":"agg","task":0,"key":"u1","value":{"count":3},"timestamp":1700000000000}
// with `key_b64` for a key that is not UTF-8, and `payload` or `payload_b64` for a value that is
// not one line of JSON, as in the envelope. Of a store of windows, "window_start" and "window_end"
// come before the timestamp.
KSTREAM_EXPORT std::string RowToJson(const InspectedRow& row);
// For people: on one line, in columns with two blanks between; safe for a terminal.
KSTREAM_EXPORT std::string RowToText(const InspectedRow& row);

// Which rows.
struct KSTREAM_EXPORT RowQuery {
  std::string store = {};                 // empty: the only one there is
  std::optional<int32_t> task = {};       // nullopt: all
  std::optional<int64_t> at_window = {};  // only rows of windows that hold this time, ms
  std::string from = {};                  // the smallest key, in order of unsigned bytes
  std::optional<std::string> to = {};     // the first key that is too large
  // from and to become the bounds of the keys that begin so, or of this key alone.
  void Prefix(std::string_view prefix);
  void Only(std::string_view key);
  // ms since the epoch, or RFC 3339. kUsage.
  Status AtWindow(std::string_view time);
};

// What walking over all rows of an instance tells.
struct StoreTotals {
  std::string store;
  int32_t task = 0;
  uint64_t rows = 0, key_bytes = 0, value_bytes = 0;
  std::optional<int64_t> oldest = {}, newest = {};  // event times; nullopt: no rows
  uint64_t largest_value = 0;                       // bytes
};

// Belongs to one thread. Failures: kState (nothing there, damaged, of a newer kstream), kCluster.
class KSTREAM_EXPORT Inspector {
 public:
  // kUsage: a name that is none, from_changelog without brokers.
  static Result<std::unique_ptr<Inspector>> Open(InspectOptions options);
  virtual ~Inspector();

  // What the directory has, by store and task.
  virtual Result<std::vector<InspectedStore>> List() = 0;
  // Who uses the directory now.
  virtual Result<std::optional<std::string>> Holder() = 0;

  // Rows by task and key (of a store of windows: by task, window and key), while `visit` returns
  // true. Each instance is announced to the log first:
  // "% agg[0]: as of changelog offset 17".
  using Visitor = std::function<bool(const InspectedRow& row)>;
  virtual Status Scan(const RowQuery& query, const Visitor& visit) = 0;
  // Of the instances of a store, or of all stores where query.store is empty.
  virtual Result<std::vector<StoreTotals>> Totals(const RowQuery& query) = 0;
};

// The applications that a state directory has, by name. kState: it cannot be read.
KSTREAM_EXPORT Result<std::vector<AppInstance>> ListApps(const std::string& state_dir);

}  // namespace kstream

#endif  // KSTREAM_INSPECT_H_
