// Load: puts rows into a store of an application that is stopped, so that store and changelog
// agree.
//
// On a cluster the changelog is the store: rows are written there, in one transaction, as the
// application itself would write them, and nothing else is touched. Directories of stores, here and
// on other hosts, are older then, which they may be at any time, and take the rows over when the
// application starts. A store that has no changelog, of a run on files, is written itself.
//
// The plan comes first. What would make a wrong store is refused: a member that is alive or comes
// meanwhile, rows of another store or of tasks that are not there, a dump of a store with another
// number of tasks, keys that are no keys of the store's windows, a store that has seen more than
// its changelog has. share/doc/kstream/inspect.md is the page for users.
#ifndef KSTREAM_LOAD_H_
#define KSTREAM_LOAD_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kstream/export.h"
#include "kstream/properties.h"
#include "kstream/status.h"

namespace kstream {

struct LoadOptions {
  std::string app = {};
  std::string state_dir = {};  // RuntimeOptions::StateDir
  ClusterOptions home = {};    // without brokers: of a run on files
  std::string store = {};      // empty: that of the first row
  std::string input = {};      // a file of rows as they are stored; "-": stdin
  bool replace = false;        // rows that the input does not have are deleted
};

// What is done to the instance of one task.
struct LoadStep {
  std::string store;
  int32_t task = 0;
  std::string target;    // the changelog, or the directory of a store without one
  uint64_t puts = 0;     // rows that are new, or other than before
  uint64_t deletes = 0;  // of rows that were there
  uint64_t same = 0;     // rows that are as the input has them, and are not written again
};

// Belongs to one thread. The input is read once, by the first call.
class KSTREAM_EXPORT Load {
 public:
  // kUsage: a name that is none.
  static Result<std::unique_ptr<Load>> Open(LoadOptions options);
  virtual ~Load();

  // By task; changes nothing. kData: a line of the input is no row. kRefused: see above. kState:
  // there is no such store; the directory is in use. kCluster.
  virtual Result<std::vector<LoadStep>> Plan() = 0;
  // Makes the plan anew and does it, all of it or, on a cluster, nothing; gives what was done.
  virtual Result<std::vector<LoadStep>> Execute() = 0;
};

}  // namespace kstream

#endif  // KSTREAM_LOAD_H_
