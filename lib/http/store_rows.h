// StoreRows: rows of a store that a running process has, as lines of JSON, a piece at a time: while
// somebody slow takes a piece, the store is free. The lines are those of kstream-inspect-state.
// Tested by tests/unit/http/server_test.cc.
#ifndef KSTREAM_HTTP_STORE_ROWS_H_
#define KSTREAM_HTTP_STORE_ROWS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "admin/row_keys.h"
#include "kstream/inspect.h"
#include "kstream/store.h"

namespace kstream::http {

// Belongs to one thread at a time.
class StoreRows {
 public:
  // Of the instances that the query asks for; at most `limit` rows.
  StoreRows(std::vector<StoreInstance> instances, RowQuery query, int64_t limit);

  // Adds some lines, perhaps none; false: there are no more. kState: an instance is not here any
  // more.
  Result<bool> Next(std::string* lines);

  int64_t rows() const { return rows_; }

 private:
  Status Enter(const StoreInstance& instance);

  const std::vector<StoreInstance> instances_;
  const RowQuery query_;
  const int64_t limit_;
  int64_t rows_ = 0;
  size_t at_ = 0;                       // the instance
  std::optional<admin::RowKeys> keys_;  // of that instance, once it is entered
  std::string from_;                    // where it goes on, in keys as stored
};

}  // namespace kstream::http

#endif  // KSTREAM_HTTP_STORE_ROWS_H_
