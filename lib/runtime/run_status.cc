#include "runtime/run_status.h"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

namespace kstream::runtime {
namespace {

using Json = nlohmann::ordered_json;
using metrics::FamilySamples;
using metrics::Sample;
using metrics::Snapshot;
using metrics::Type;

constexpr std::chrono::seconds kRateSpan{10}, kBetweenCounts{1};

int64_t Whole(double value) { return std::llround(value); }

// Labels of threads, tasks and partitions are numbers but for the name of a task.
Json Number(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? Json(number) : Json(text);
}

// The state of the series that are 1, by the value of `label`.
std::map<std::string, std::string> StatesBy(std::string_view label, const FamilySamples& family) {
  std::map<std::string, std::string> states;
  for (const Sample& sample : family.samples) {
    if (sample.value == 1) states[std::string(sample.Get(label))] = sample.Get("state");
  }
  return states;
}

// "0_3", of which the first number is the stage and the second that of the instance of its stores.
Json Named(const std::string& task) {
  const size_t between = task.find('_');
  return {{"name", task},
          {"stage", Number(std::string_view(task).substr(0, between))},
          {"task", Number(std::string_view(task).substr(between + 1))}};
}

Json Threads(const Snapshot& now) {
  const auto states = StatesBy("thread", now.Of<Type::kState>("kstream_thread_state"));
  Json threads = Json::array();
  for (const auto& [thread, state] : states) {
    threads.push_back({{"thread", Number(thread)}, {"state", state}});
  }
  return threads;
}

// Tells the partitions of all tasks apart.
std::string PlaceOf(const Sample& sample) {
  std::string place;
  for (const metrics::Label& label : sample.labels) (place += label.value) += '\n';
  return place;
}

// Each task once, by name, with its partitions.
Json Tasks(const Snapshot& now, bool* all_run) {
  std::map<std::string, Json> tasks;
  const auto states = StatesBy("task", now.Of<Type::kState>("kstream_task_state"));
  for (const auto& [task, state] : states) {
    tasks[task] = Named(task);
    tasks[task]["state"] = state;
    *all_run &= state == "running" || state == "standby";
  }
  const auto add = [&tasks](std::string_view member, const FamilySamples& family, double unit) {
    for (const Sample& sample : family.samples) {
      const auto task = tasks.find(std::string(sample.Get("task")));
      if (task == tasks.end()) continue;
      task->second["thread"] = Number(sample.Get("thread"));
      task->second[member] = Whole(sample.value * unit);
    }
  };
  add("stream_time", now.Of<Type::kGauge>("kstream_task_stream_time_seconds"), 1000);
  add("buffered", now.Of<Type::kGauge>("kstream_buffered_records"), 1);
  std::map<std::string, double> lags;
  for (const Sample& sample : now.Of<Type::kGauge>("kstream_partition_lag_records").samples) {
    lags[PlaceOf(sample)] = sample.value;
  }
  for (const Sample& sample : now.Of<Type::kGauge>("kstream_partition_position").samples) {
    const auto task = tasks.find(std::string(sample.Get("task")));
    if (task == tasks.end()) continue;
    Json partition = {{"topic", sample.Get("topic")},
                      {"partition", Number(sample.Get("partition"))},
                      {"position", Whole(sample.value)},
                      {"lag", nullptr}};
    if (const std::string_view cluster = sample.Get("cluster"); !cluster.empty()) {
      partition["cluster"] = cluster;
    }
    if (const auto lag = lags.find(PlaceOf(sample)); lag != lags.end()) {
      partition["lag"] = Whole(lag->second);
    }
    task->second["partitions"].push_back(std::move(partition));
  }
  Json all = Json::array();
  for (auto& [name, task] : tasks) all.push_back(std::move(task));
  return all;
}

// The instances that are here, and those that are being restored.
Json Stores(const RunState& state, const Snapshot& now, bool* all_restored) {
  Json stores = Json::array();
  for (const TopologyStore& store : state.graph().stores) {
    if (!store.kept) continue;
    for (const StoreInstance& instance : state.stores.Of(store.name())) {
      const Result<int64_t> offset = instance.rows->changelog_offset();
      if (!offset.ok()) continue;  // it has just gone
      stores.push_back({{"store", store.name()}, {"task", instance.task}, {"offset", *offset}});
    }
  }
  for (const Sample& sample : now.Of<Type::kGauge>("kstream_restore_remaining_records").samples) {
    if (sample.value == 0) continue;
    *all_restored = false;
    const std::string_view task = sample.Get("task");
    stores.push_back({{"store", sample.Get("store")},
                      {"task", Number(task.substr(task.find('_') + 1))},
                      {"remaining", Whole(sample.value)}});
  }
  return stores;
}

double OneDecimal(double value) { return std::round(value * 10) / 10; }

}  // namespace

RunStatus::RunStatus(const RunState* state)
    : state_(state), start_(state->clock->Steady()), passed_{{start_}} {}

RunStatus::Passed RunStatus::RatesAt(const Snapshot& now) {
  const double read = now.Of<Type::kCounter>("kstream_records_read_total").Total();
  const double written = now.Of<Type::kCounter>("kstream_records_written_total").Total();
  const std::lock_guard lock(mutex_);
  while (passed_.size() > 1 && passed_[1].when <= now.taken - kRateSpan) passed_.pop_front();
  const Passed since = passed_.front();
  if (now.taken - passed_.back().when >= kBetweenCounts) {
    passed_.push_back({now.taken, read, written});
  }
  const double seconds = std::chrono::duration<double>(now.taken - since.when).count();
  if (!(seconds > 0)) return {};
  return {now.taken, (read - since.read) / seconds, (written - since.written) / seconds};
}

std::string RunStatus::Line(RuntimeState life, const Snapshot& now) {
  const Passed rates = RatesAt(now);
  const Counts counts = state_->counts();
  const FamilySamples& lag = now.Of<Type::kGauge>("kstream_partition_lag_records");
  bool ready = life == RuntimeState::kRunning;
  Json tasks = Tasks(now, &ready), stores = Stores(*state_, now, &ready);
  const Json json = {
      {"state", ToString(life)},
      {"ready", ready},
      {"paused", state_->paused.load()},
      {"elapsed_ms",
       std::chrono::duration_cast<std::chrono::milliseconds>(now.taken - start_).count()},
      {"read", counts.read},
      {"written", counts.written},
      {"skipped", counts.skipped},
      {"dead_letters", counts.dead_letters},
      {"read_per_second", OneDecimal(rates.read)},
      {"written_per_second", OneDecimal(rates.written)},
      {"lag", lag.samples.empty() ? Json() : Json(Whole(lag.Total()))},
      {"threads", Threads(now)},
      {"tasks", std::move(tasks)},
      {"stores", std::move(stores)}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace kstream::runtime
