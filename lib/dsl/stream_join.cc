#include "dsl/stream_join.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "dsl/event_time.h"

namespace kstream::dsl {
namespace {

constexpr int64_t kBuckets = 4;  // in which the time of what is kept is divided, about

int64_t KeptFor(const JoinWindows& windows) {
  return (windows.before + windows.after + windows.grace).count();
}

}  // namespace

StreamJoin::StreamJoin(const JoinPlan& plan)
    : sides_([&spec = plan.spec] {
        const bool all = spec.match == JoinMatch::kAll, latest = spec.match == JoinMatch::kLatest;
        const int64_t before = spec.windows.before.count();
        const int64_t after = all ? spec.windows.after.count() : -1;
        const bool left_alone = spec.type != JoinType::kInner;
        const bool right_alone = spec.type == JoinType::kOuter;
        const Side left{before, after, !latest, left_alone, left_alone || latest};
        const Side right{after, before, !latest, right_alone, right_alone};
        return std::array{left, right};
      }()),
      latest_(plan.spec.match == JoinMatch::kLatest),
      grace_(plan.spec.windows.grace.count()),
      kept_for_(KeptFor(plan.spec.windows)),
      turn_name_(plan.turn),
      store_name_(plan.spec.store),
      rows_to_(plan.spec.rows),
      late_to_(plan.spec.late),
      value_(plan.spec.value, plan.spec.joiner, plan.left, plan.right),
      route_(plan.spec.route, plan.left),
      report_(plan.totals),
      rows_(std::max<int64_t>(1, kept_for_ / kBuckets)),
      label_(plan.about) {}

bool StreamJoin::Waiting::operator>(const Waiting& other) const {
  const KeptRecord &a = *record, &b = *other.record;
  if (due != other.due) return due > other.due;
  if (a.time != b.time) return a.time > b.time;
  if (a.entry != b.entry) return a.key() > b.key();
  return std::tie(a.side, a.id) > std::tie(b.side, b.id);
}

Status StreamJoin::Init(ProcessorContext& context) {
  context_ = &context;
  KSTREAM_ASSIGN_OR_RETURN(turn_, JoinTurn::Of(context, turn_name_));
  for (RecordIds& ids : ids_) ids.Init(context);
  FollowTask();
  decided_ = stream_time_;
  return store_name_.empty() ? Status::Ok() : OpenStore(context);
}

void StreamJoin::FollowTask() {
  stream_time_ = std::max(stream_time_, context_->stream_time().value_or(kNoTime));
}

Status StreamJoin::Process(const Record& record) {
  if (!record.value) {
    report_.skips().NoValue();
    return Status::Ok();
  }
  KSTREAM_RETURN_IF_ERROR(CheckTime(record));
  KeptRecord kept{.time = record.timestamp, .headers = record.headers, .side = turn_->side};
  KSTREAM_RETURN_IF_ERROR(value_.Read(kept.side, record, &kept.value));
  if (!record.key) return WithoutKey(record, kept);
  const std::string_view key = *record.key;
  kept.id = IdOf(kept.side);
  FollowTask();
  const int64_t now = std::max(stream_time_, kept.time);
  const uint64_t hash = BytesHash::Of(key);
  // What fails in closing is no fault of the record, which has its turn all the same. Where that
  // may empty memory it is done before anything points there, else when the record is known to be
  // a good one.
  Status closed;
  const bool first = !whole_;
  if (first) closed = CloseUpTo(now);
  KSTREAM_ASSIGN_OR_RETURN(kept.entry, FindKey(key, hash));
  KSTREAM_RETURN_IF_ERROR(Meet(kept, key, now));
  report_.Record(kept.side, key);
  if (!first) closed = CloseUpTo(now);
  if (!closed.ok() && closed.code() != StatusCode::kData) return closed;
  stream_time_ = now;
  KSTREAM_RETURN_IF_ERROR(ForwardPairs(kept, key));
  KSTREAM_RETURN_IF_ERROR(Keep(record, kept, hash, now));
  Expire();
  if (rows_full()) KSTREAM_RETURN_IF_ERROR(Spill());
  return closed;
}

// It is of no pair. What comes out alone does so at once.
Status StreamJoin::WithoutKey(const Record& record, const KeptRecord& alone) {
  report_.NoKey(alone.side);
  return Of(alone.side).alone ? Alone(alone, record.key) : Status::Ok();
}

Status StreamJoin::Meet(const KeptRecord& record, std::string_view key, int64_t now) {
  pair_count_ = 0;
  const Side& side = Of(record.side);
  if (!record.entry) return Status::Ok();
  const auto meet = [&](KeptRecord* partner) {
    if (pair_count_ == pairs_.size()) pairs_.emplace_back();
    Pair& pair = pairs_[pair_count_++];
    pair.partner = partner;
    return MakePair(ResultOf(key, record, partner), record, *partner, &pair);
  };
  if (latest_) {
    const bool decided = record.side == JoinSide::kLeft && DueOf(record) < now;
    KeptRecord* const latest = decided ? LatestOf(record.entry, record.time, now) : nullptr;
    return latest ? meet(latest) : Status::Ok();
  }
  for (const auto& [time, partner] : JoinRows::Between(
           *record.entry, Other(record.side), record.time - side.back, record.time + side.ahead)) {
    const bool closed = Of(partner->side).alone && !partner->matched && DueOf(*partner) < now;
    if (partner->gone || closed || IsExpired(time, now)) continue;
    KSTREAM_RETURN_IF_ERROR(meet(partner));
  }
  return Status::Ok();
}

Status StreamJoin::MakePair(const Record& result, const KeptRecord& record,
                            const KeptRecord& partner, Pair* pair) {
  const bool is_left = record.side == JoinSide::kLeft;
  return value_.Make(result, is_left ? &record : &partner, is_left ? &partner : &record,
                     &pair->value, &pair->made);
}

Record StreamJoin::ResultOf(const Bytes& key, const KeptRecord& record,
                            const KeptRecord* partner) const {
  Record result;
  result.key = key;
  result.timestamp = partner ? std::max(record.time, partner->time) : record.time;
  result.timestamp_type = TimestampType::kCreateTime;
  result.headers = partner && record.side == JoinSide::kRight ? partner->headers : record.headers;
  return result;
}

Status StreamJoin::ForwardPairs(const KeptRecord& record, std::string_view key) {
  report_.Pairs(pair_count_);
  for (size_t i = 0; i < pair_count_; i++) {
    const Pair& pair = pairs_[i];
    if (!std::exchange(pair.partner->matched, true) && Of(pair.partner->side).alone) {
      Touch(pair.partner);
    }
    if (!pair.made) continue;
    KSTREAM_RETURN_IF_ERROR(ForwardResult(ResultOf(key, record, pair.partner), pair.value));
  }
  return Status::Ok();
}

Status StreamJoin::Keep(const Record& record, KeptRecord kept, uint64_t hash, int64_t now) {
  const Side& side = Of(kept.side);
  kept.matched = pair_count_ > 0;
  const bool open = side.waits && !kept.matched && DueOf(kept) >= now;
  if (side.alone && !kept.matched && !open) return Alone(kept, record.key);
  if (IsExpired(kept.time, now)) return kept.matched ? Status::Ok() : Late(record);
  if (latest_ && kept.side == JoinSide::kLeft && !open) return Status::Ok();
  kept.entry = rows_.Make(*record.key, hash).first;
  const auto [row, fresh] = rows_.Add(kept.entry, kept);
  // One that was there is read again, after a crash: it may have met another only now.
  if (fresh || (kept.matched && !row->matched)) Touch(row);
  row->matched = row->matched || kept.matched;
  if (open && fresh) Wait(row);
  return Status::Ok();
}

void StreamJoin::Wait(KeptRecord* record) {
  waiting_.push({DueOf(*record), record});
  last_due_ = std::max(last_due_, DueOf(*record));
}

// One that fails is done with, too.
Status StreamJoin::CloseUpTo(int64_t now) {
  Status status;
  for (;;) {
    if (timer_) KSTREAM_RETURN_IF_ERROR(FetchTimers(now));
    if (waiting_.empty() || waiting_.top().due >= now) break;
    KeptRecord* const record = waiting_.top().record;
    waiting_.pop();
    if (record->matched || record->gone) continue;
    record->gone = true;
    const Status decided = Decide(*record, record->key());
    if (status.ok()) status = decided;
    if (!decided.ok() && decided.code() != StatusCode::kData) break;
    if (!whole_ && rows_full()) KSTREAM_RETURN_IF_ERROR(Spill());
  }
  decided_ = std::max(decided_, now);
  return status;
}

Status StreamJoin::Decide(const KeptRecord& record, std::string_view key) {
  const KeptRecord* const partner =
      latest_ ? LatestOf(record.entry, record.time, DueOf(record) + 1) : nullptr;
  if (!partner) return Of(record.side).alone ? Alone(record, key) : Status::Ok();
  Pair pair{};
  KSTREAM_RETURN_IF_ERROR(MakePair(ResultOf(key, record, partner), record, *partner, &pair));
  report_.Pairs(1);
  return pair.made ? ForwardResult(ResultOf(key, record, partner), pair.value) : Status::Ok();
}

KeptRecord* StreamJoin::LatestOf(const JoinRows::Entry* entry, int64_t time, int64_t now) const {
  const Side& left = Of(JoinSide::kLeft);
  const auto rights =
      JoinRows::Between(*entry, JoinSide::kRight, time - left.back, time + left.ahead);
  return rights.empty() || IsExpired(rights.back().time, now) ? nullptr : rights.back().record;
}

Status StreamJoin::Alone(const KeptRecord& record, const Bytes& key) {
  const Record result = ResultOf(key, record, nullptr);
  const bool is_left = record.side == JoinSide::kLeft;
  bool made = false;
  KSTREAM_RETURN_IF_ERROR(value_.Make(result, is_left ? &record : nullptr,
                                      is_left ? nullptr : &record, &alone_, &made));
  return made ? ForwardResult(result, alone_) : Status::Ok();
}

Status StreamJoin::ForwardResult(Record result, const std::optional<std::string>& value) {
  if (value) result.value = *value;
  result.cache = cache_.Next(value_.is_json());
  if (!route_.trivial()) {
    const Record unrouted = result;
    KSTREAM_RETURN_IF_ERROR(route_.Apply(InputOf(unrouted), &result));
  }
  return rows_to_.empty() ? context_->Forward(result) : context_->Forward(result, rows_to_);
}

Status StreamJoin::Late(const Record& record) {
  report_.skips().Late();
  return late_to_.empty() ? Status::Ok() : context_->Forward(record, late_to_);
}

Status StreamJoin::Flush() {
  FollowTask();
  KSTREAM_RETURN_IF_ERROR(CloseUpTo(stream_time_));
  Expire();
  if (!store_) return Status::Ok();
  KSTREAM_RETURN_IF_ERROR(StoreRows());
  return DeleteExpired();
}

Status StreamJoin::EndInput() {
  if (waiting_.empty() && !timer_) return Status::Ok();
  KSTREAM_RETURN_IF_ERROR(CloseUpTo(kNever));
  context_->AdvanceStreamTime(last_due_ + 1);
  return Status::Ok();
}

void StreamJoin::Close() {
  if (context_ && context_->at_end()) report_.skips().Open(CountWaiting());
  report_.Tell(context_ ? context_->node() : "join");
  waiting_ = {};
  dirty_.clear();
  rows_.Clear();
}

}  // namespace kstream::dsl
