// StoreView: the rows of one instance of a store: those of an engine that somebody left on disk,
// beneath what its changelog says since. Either may be missing: a directory alone is as of its last
// flush, a changelog alone is everything.
//
// What the changelog says is kept in memory while it is little, and in a temporary database when it
// is not, so a store of any size can be looked into. Tested by tests/unit/admin/store_view_test.cc.
#ifndef KSTREAM_ADMIN_STORE_VIEW_H_
#define KSTREAM_ADMIN_STORE_VIEW_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "kstream/status.h"
#include "store/engine.h"

namespace kstream::admin {

// Belongs to one thread.
class StoreView {
 public:
  // Gives the directory of a temporary database; asked at most once, when memory does not do.
  using Room = std::function<Result<std::string>()>;
  static constexpr size_t kMostInMemory = size_t{64} << 20;

  // `base` may be null.
  StoreView(std::unique_ptr<store::Engine> base, Room room, size_t most = kMostInMemory);
  ~StoreView();

  const store::Engine* base() const { return base_.get(); }
  // The engine's rows do not count: it is of another changelog.
  void Forget() { base_.reset(); }
  // Lays changes over what is there, in the order of the changelog; the views end with the call.
  Status Lay(std::span<const store::Change> changes);

  // Rows with from <= key < to in order, while `visit` returns true. The views are valid during the
  // call. kState: what could not be read.
  using Visitor =
      std::function<bool(std::string_view key, std::string_view value, int64_t timestamp)>;
  Status Scan(std::string_view from, std::optional<std::string_view> to, const Visitor& visit);

  // Fills in *row. False: there is no such key.
  Result<bool> Find(std::string_view key, StoredRow* row);

  // As Scan, step by step: stands on a row after each Next that returns true. Nothing is laid
  // while it lives.
  class Cursor {
   public:
    bool Next();
    // Valid until Next.
    std::string_view key() const { return at_->key(); }
    std::string_view value() const;
    int64_t timestamp() const { return at_->timestamp(); }
    Status status() const;

   private:
    friend class StoreView;
    std::unique_ptr<store::EngineIterator> base_, over_;  // the second hides the first
    store::EngineIterator* at_ = nullptr;
  };
  Result<Cursor> Walk(std::string_view from = "", std::optional<std::string_view> to = {});

 private:
  Status Spill();

  std::unique_ptr<store::Engine> base_;
  std::unique_ptr<store::Engine> over_;  // a deletion is a row, too: the first byte of values says
  const Room room_;
  const size_t most_;
  bool in_memory_ = true;
};

}  // namespace kstream::admin

#endif  // KSTREAM_ADMIN_STORE_VIEW_H_
