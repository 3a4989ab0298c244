// LoadInput: the rows that a store is to get, by task, and what they come to beside those that it
// has. Only what changes is written: rows that are there already, with value and time, are not.
// What the rows of a window's store are called is checked here, since a row that its aggregate does
// not find, or takes for another's, is worse than none. Tested by tests/unit/admin/load_test.cc.
#ifndef KSTREAM_ADMIN_LOAD_INPUT_H_
#define KSTREAM_ADMIN_LOAD_INPUT_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "admin/dump_file.h"
#include "admin/row_keys.h"
#include "admin/store_view.h"
#include "kstream/load.h"
#include "store/engine.h"

namespace kstream::admin {

// Belongs to one thread.
class LoadInput {
 public:
  // `store` empty: that of the first row. `replace`: rows that are not in it are deleted.
  LoadInput(std::string store, bool replace, StoreView::Room room);

  // kData: a line is no row; kRefused: it is of another store.
  Status Read(const std::string& path);

  // Empty: there was none to tell.
  const std::string& store() const { return store_; }
  bool replace() const { return replace_; }
  // One more than the largest task of a row.
  int32_t least_tasks() const { return parts_.empty() ? 0 : parts_.rbegin()->first + 1; }
  bool Has(int32_t task) const { return parts_.contains(task); }
  // kRefused: the dump is of a store with another number of tasks.
  Status CheckTasks(int32_t tasks) const;

  // Calls `write` for each change that makes `current`, the rows of a task, what it is to be; fills
  // in the counts of *step. kRefused: a row that cannot be one of that store.
  using Sink = std::function<Status(const store::Change& change)>;
  Status Apply(int32_t task, StoreView* current, const Sink& write, LoadStep* step);

 private:
  struct Part {
    std::unique_ptr<StoreView> puts;     // rows
    std::unique_ptr<StoreView> deletes;  // a row for each key that is to go
  };

  Part& PartOf(int32_t task);
  // What the keys must be.
  Result<RowKeys> CheckKeys(StoreView* puts, StoreView* current) const;
  Status Put(StoreView* puts, StoreView* current, const RowKeys& keys, const Sink& write,
             LoadStep* step) const;
  Status Delete(Part* part, StoreView* current, const Sink& write, LoadStep* step) const;
  Status DeleteOthers(Part* part, StoreView* current, const Sink& write, LoadStep* step) const;

  std::string store_;
  const bool replace_;
  const StoreView::Room room_;
  std::optional<int32_t> tasks_;
  std::map<int32_t, Part> parts_;
};

}  // namespace kstream::admin

#endif  // KSTREAM_ADMIN_LOAD_INPUT_H_
