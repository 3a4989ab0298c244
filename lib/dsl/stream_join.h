// StreamJoin: the processor behind joins of two streams by key and window.
//
// It keeps the records of both sides (join_rows.h). One that comes is held against those of the
// other side that have its key and lie within the window; all that they make is computed before any
// of it is forwarded, so that a bad record leaves nothing half done. Then it is kept itself, until
// no record that is in time can be near enough to it any more: `before + after + grace` of stream
// time later.
//
// Records that may come out alone wait in a queue by the stream time that closes their window and
// grace. One that is still without a partner then comes out and is gone: it meets nothing that
// comes later, so it is never both alone and part of a pair. With kLatest left records wait in the
// same way, for the choice among the right ones.
//
// As long as memory holds all records, nothing is looked up in the store: it is written at commit
// points, for whoever begins there (join_store.cc). When it does not, all is written, with a timer
// for each record that waits, and memory is emptied; from then on a key is read when a record or a
// timer names it. Rows of the store are deleted when the stream time that has outlived them is
// committed; a crash before that reads again what needs them.
//
// Tested by tests/unit/dsl/stream_join_test.cc and join_state_test.cc, and case by case by
// share/doc/kstream/joins.md.
#ifndef KSTREAM_DSL_STREAM_JOIN_H_
#define KSTREAM_DSL_STREAM_JOIN_H_

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "dsl/join_report.h"
#include "dsl/join_rows.h"
#include "dsl/join_turn.h"
#include "dsl/join_value.h"
#include "dsl/kept_value.h"
#include "dsl/operator.h"
#include "dsl/route.h"
#include "dsl/span_key.h"
#include "dsl/store_label.h"
#include "kstream/joins.h"
#include "kstream/processor.h"
#include "kstream/store.h"

namespace kstream::dsl {

// What the processors of all tasks have in common.
struct JoinPlan {
  StreamJoinSpec spec;
  std::string about;  // the join, as the store tells it
  std::string turn;
  Serdes left, right;
  std::shared_ptr<JoinTotals> totals;
};

class StreamJoin final : public Processor {
 public:
  explicit StreamJoin(const JoinPlan& plan);

  Status Init(ProcessorContext& context) override;
  Status Process(const Record& record) override;
  Status Flush() override;
  Status EndInput() override;
  void Close() override;

 private:
  static constexpr int64_t kNoTime = INT64_MIN / 2, kNever = INT64_MAX;

  // What holds for the records of one side.
  struct Side {
    int64_t back = 0, ahead = 0;  // where its partners lie, from its own time
    bool meets = true;            // is paired when it comes
    bool alone = false;           // may come out without a partner
    bool waits = false;           // until its window has closed
  };
  // A record whose window closes behind stream time `due`.
  struct Waiting {
    int64_t due;
    KeptRecord* record;
    bool operator>(const Waiting& other) const;
  };
  struct Pair {
    KeptRecord* partner;
    std::optional<std::string> value;
    bool made;
  };

  const Side& Of(JoinSide side) const { return sides_[static_cast<size_t>(side)]; }
  int64_t DueOf(const KeptRecord& record) const {
    return record.time + Of(record.side).ahead + grace_;
  }
  bool IsExpired(int64_t time, int64_t now) const { return time + kept_for_ < now; }
  void FollowTask();

  RecordId IdOf(JoinSide side) { return ids_[static_cast<size_t>(side)].Next(*context_); }
  Status WithoutKey(const Record& record, const KeptRecord& alone);
  // Finds the partners of a record at stream time `now`, and makes what comes of them.
  Status Meet(const KeptRecord& record, std::string_view key, int64_t now);
  // Forwards it.
  Status ForwardPairs(const KeptRecord& record, std::string_view key);
  // What becomes of the record itself.
  Status Keep(const Record& record, KeptRecord kept, uint64_t hash, int64_t now);
  void Wait(KeptRecord* record);

  // Decides about all that wait for stream time to pass `due` < `now`.
  Status CloseUpTo(int64_t now);
  Status Decide(const KeptRecord& record, std::string_view key);
  Status Alone(const KeptRecord& record, const Bytes& key);
  // The one that kLatest pairs a left record with at stream time `now`; null: none.
  KeptRecord* LatestOf(const JoinRows::Entry* entry, int64_t time, int64_t now) const;
  Status MakePair(const Record& result, const KeptRecord& record, const KeptRecord& partner,
                  Pair* pair);
  Record ResultOf(const Bytes& key, const KeptRecord& record, const KeptRecord* partner) const;
  Status ForwardResult(Record result, const std::optional<std::string>& value);
  Status Late(const Record& record);

  // Of the store: join_store.cc.
  Status OtherState(std::string_view why) const { return dsl::OtherState(store_name_, why); }
  Status OpenStore(ProcessorContext& context);
  Status LoadAll();
  // *waits: the row, if it is one that waits; else it stays as it is.
  Status LoadRow(std::string_view stored, std::string_view value, KeptRecord** waits);
  // The records of a key, from the store if they may be there alone; null: there are none.
  Result<JoinRows::Entry*> FindKey(std::string_view key, uint64_t hash);
  // It is to be written.
  void Touch(KeptRecord* record);
  void Expire();
  Status StoreRows();
  Status DeleteExpired();
  bool rows_full() const {
    return store_ && static_cast<int64_t>(rows_.bytes()) > store_->memory_share();
  }
  Status Spill();
  Status LeaveToStore();
  Status FindTimer(std::string from);
  Status FetchTimers(int64_t now);
  // How many records wait.
  size_t CountWaiting() const;

  const std::array<Side, kJoinSides> sides_;
  const bool latest_;
  const int64_t grace_, kept_for_;  // past a record's time, ms
  const std::string turn_name_, store_name_, rows_to_, late_to_;
  JoinValue value_;
  Route route_;
  JoinReport report_;

  ProcessorContext* context_ = nullptr;
  JoinTurn* turn_ = nullptr;
  int64_t stream_time_ = kNoTime;
  JoinRows rows_;
  std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> waiting_;
  int64_t last_due_ = kNoTime;
  int64_t decided_ = kNoTime;  // all that waited for stream time to pass less have come out

  KeyValueStore* store_ = nullptr;  // null: none
  bool whole_ = true;               // no record is in the store alone
  StoreLabel label_;
  std::vector<KeptRecord*> dirty_;
  std::set<int64_t> stored_buckets_;
  std::optional<TimerKey> timer_;  // the first of those in the store
  KeptValue values_;

  std::vector<Pair> pairs_;  // of the record at hand: the first pair_count_
  size_t pair_count_ = 0;
  std::optional<std::string> alone_;
  FreshCache cache_;

  std::array<RecordIds, kJoinSides> ids_;
};

}  // namespace kstream::dsl

#endif  // KSTREAM_DSL_STREAM_JOIN_H_
