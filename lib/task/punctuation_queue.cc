#include "task/punctuation_queue.h"

#include <algorithm>
#include <utility>

namespace kstream::task {
namespace {

// Times come from data: a sum past the last one is never due.
int64_t After(int64_t time, int64_t period) {
  int64_t sum;
  return __builtin_add_overflow(time, period, &sum) ? PunctuationQueue::kNever : sum;
}

}  // namespace

Timer PunctuationQueue::Add(size_t node, std::string_view name, std::chrono::milliseconds period,
                            std::optional<int64_t> start) {
  auto state = std::make_shared<Timer::State>();
  state->node = name;
  state->type = type_;
  state->period = period.count();
  Timer timer(state);
  Entry entry{0, added_++, node, std::move(state)};
  if (start) {
    if (heap_.size() >= sweep_at_) Sweep();
    entry.due = After(*start, period.count());
    Push(std::move(entry));
  } else {
    waiting_.push_back(std::move(entry));
  }
  return timer;
}

void PunctuationQueue::Start(int64_t now) {
  for (Entry& entry : waiting_) {
    entry.due = After(now, entry.state->period);
    Push(std::move(entry));
  }
  waiting_.clear();
}

std::optional<PunctuationQueue::Due> PunctuationQueue::Take(int64_t now) {
  while (!heap_.empty() && heap_.front().due <= now && heap_.front().due != kNever) {
    Entry entry = Pop();
    if (entry.state->cancelled) continue;
    Due due{entry.node, Timer(entry.state)};
    const int64_t in_phase = After(entry.due, entry.state->period);
    entry.due = in_phase > now ? in_phase : After(now, entry.state->period);
    Push(std::move(entry));
    return due;
  }
  return std::nullopt;
}

int64_t PunctuationQueue::next() {
  if (!waiting_.empty()) return INT64_MIN;
  while (!heap_.empty() && heap_.front().state->cancelled) Pop();
  return heap_.empty() ? kNever : heap_.front().due;
}

void PunctuationQueue::Close(size_t node) {
  const auto close = [node](const Entry& entry) {
    if (entry.node == node) entry.state->closed = true;
    return entry.node == node;
  };
  std::erase_if(waiting_, close);
  std::erase_if(heap_, close);
  std::make_heap(heap_.begin(), heap_.end(), Later);
}

void PunctuationQueue::Push(Entry entry) {
  entry.state->next = entry.due;
  heap_.push_back(std::move(entry));
  std::push_heap(heap_.begin(), heap_.end(), Later);
}

PunctuationQueue::Entry PunctuationQueue::Pop() {
  std::pop_heap(heap_.begin(), heap_.end(), Later);
  Entry entry = std::move(heap_.back());
  heap_.pop_back();
  return entry;
}

// Whoever makes a schedule for each record and cancels it would fill the memory otherwise.
void PunctuationQueue::Sweep() {
  std::erase_if(heap_, [](const Entry& entry) { return entry.state->cancelled; });
  std::make_heap(heap_.begin(), heap_.end(), Later);
  sweep_at_ = std::max<size_t>(64, 2 * heap_.size());
}

}  // namespace kstream::task
