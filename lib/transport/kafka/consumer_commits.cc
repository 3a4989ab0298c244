#include "transport/kafka/consumer_commits.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "transport/consumer.h"
#include "transport/kafka/errors.h"
#include "transport/kafka/raii.h"

namespace kstream::transport::kafka {
namespace {

using Millis = std::chrono::milliseconds;

constexpr Millis kPause{50};
constexpr Millis kTurn{5};
// Who waits for a commit holds up its own end, or its whole group; what is not committed is read
// again.
constexpr Millis kSettleLimit{5000};
constexpr Millis kOwedLimit{2000};

// The group's own refusals: it is between two generations, or has one that this member has not
// heard of.
bool Moves(rd_kafka_resp_err_t refusal) {
  return refusal == RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS ||
         refusal == RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION;
}

bool WorthAnotherTry(rd_kafka_resp_err_t error) { return IsTransient(error) || Moves(error); }

// The outcome of the commit that answers to `queue`, if it comes before `over`. Without a broker
// there is none, ever.
template <typename F>
rd_kafka_resp_err_t Answer(rd_kafka_queue_t* queue, const F& over) {
  for (;;) {
    const Event event(rd_kafka_queue_poll(queue, kTurn.count()));
    if (event != nullptr) return rd_kafka_event_error(event.get());
    if (over()) return RD_KAFKA_RESP_ERR__TIMED_OUT;
  }
}

Status NotSettled(Millis limit) {
  return {StatusCode::kFenced,
          fmt::format("committing offsets: the group has not settled within {} s, as when a member "
                      "does not poll: start again",
                      limit.count() / 1000.0)};
}

}  // namespace

Status Commits::Outcome(rd_kafka_resp_err_t error) const {
  if (error == RD_KAFKA_RESP_ERR__NO_OFFSET) return Status::Ok();  // nothing to commit
  return handle_->Explain(error, "committing offsets");
}

void Commits::Start(std::vector<PartitionOffset> offsets, std::function<void(Status)> done) {
  Supersede(offsets);
  Commit& commit = commits_.emplace_back();
  commit.refused = CheckMetadata(offsets);
  commit.commits = this;
  commit.offsets = std::move(offsets);
  commit.done = std::move(done);
  if (commit.refused.ok() && !joins_->under_way()) Send(&commit);
}

void Commits::Supersede(const std::vector<PartitionOffset>& newer) {
  for (Commit& commit : commits_) {
    std::erase_if(commit.offsets, [&](const PartitionOffset& older) {
      return std::any_of(newer.begin(), newer.end(),
                         [&](auto& offset) { return offset.partition == older.partition; });
    });
  }
}

void Commits::Send(Commit* commit) {
  if (!std::exchange(commit->tried, true)) commit->end = Clock::now() + handle_->deadline();
  commit->under_way = true;
  const rd_kafka_resp_err_t error = rd_kafka_commit_queue(
      handle_->get(), ToCommit(commit->offsets).get(), queue_, OnCommit, commit);
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) {
    commit->under_way = false;
    commit->error = error;
  }
}

void Commits::OnCommit(rd_kafka_t*, rd_kafka_resp_err_t error, rd_kafka_topic_partition_list_t*,
                       void* opaque) {
  auto* commit = static_cast<Commit*>(opaque);
  commit->under_way = false;
  commit->error = error;
  commit->again = Clock::now() + kPause;
}

void Commits::Lost() {
  for (Commit& commit : commits_) commit.lost = true;
}

void Commits::Serve() {
  if (commits_.empty()) return;
  const Clock::time_point now = Clock::now();
  std::list<Commit> decided;
  for (auto it = commits_.begin(); it != commits_.end();) {
    auto commit = it++;
    if (commit->under_way) continue;
    const bool superseded = commit->offsets.empty();
    if (superseded) commit->error = RD_KAFKA_RESP_ERR_NO_ERROR;
    const bool tried = commit->tried && (!WorthAnotherTry(commit->error) || now >= commit->end);
    if (superseded || tried || commit->lost || !commit->refused.ok()) {
      decided.splice(decided.end(), commits_, commit);
    } else if (now >= commit->again && !joins_->under_way()) {
      Send(&*commit);
    }
  }
  for (Commit& commit : decided) {
    // Whoever has lost partitions to the group is a member of it still, and has been told by Poll:
    // what it could not commit for them is read again by their next owner.
    const bool moot = commit.lost && (WorthAnotherTry(commit.error) ||
                                      commit.error == RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID);
    if (!commit.refused.ok()) {
      commit.done(commit.refused);
    } else {
      commit.done(moot ? Status::Ok() : Outcome(commit.error));
    }
  }
}

Status Commits::Wait(const std::vector<PartitionOffset>& offsets, bool owed) {
  KSTREAM_RETURN_IF_ERROR(CheckMetadata(offsets));
  Supersede(offsets);
  const Clock::time_point begin = Clock::now();
  const Millis limit = std::min(handle_->deadline(), owed ? kOwedLimit : kSettleLimit);
  bool refused = false;  // by the group, in its last answer
  const auto moves = [&] { return owed || refused || joins_->under_way(); };
  const auto over = [&] { return Clock::now() >= begin + (moves() ? limit : handle_->deadline()); };
  const PartitionList list = ToCommit(offsets);
  // An answer that comes when nobody waits any more goes with the queue.
  const Queue answers(rd_kafka_queue_new(handle_->get()));
  for (;; std::this_thread::sleep_for(kPause)) {
    for (; joins_->under_way(); std::this_thread::sleep_for(kTurn)) {
      if (over()) return NotSettled(limit);
    }
    rd_kafka_resp_err_t error =
        rd_kafka_commit_queue(handle_->get(), list.get(), answers.get(), nullptr, nullptr);
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR) error = Answer(answers.get(), over);
    unanswered_ = error == RD_KAFKA_RESP_ERR__TIMED_OUT;
    if (!WorthAnotherTry(error)) return Outcome(error);
    if (!unanswered_) refused = Moves(error);
    if (over()) return moves() ? NotSettled(limit) : Outcome(error);
  }
}

}  // namespace kstream::transport::kafka
