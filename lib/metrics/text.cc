#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>

#include "metrics/snapshot.h"

namespace kstream::metrics {

std::string_view Sample::Get(std::string_view label) const {
  for (const Label& each : labels) {
    if (each.name == label) return each.value;
  }
  return {};
}

double FamilySamples::Total() const {
  double total = retired;
  for (const Sample& sample : samples) total += sample.value;
  return total;
}

namespace {

// Columns a text apart by two spaces, each as wide as its widest cell; numbers to the right.
class Table {
 public:
  struct Column {
    std::string_view title;
    bool number;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {
    std::vector<std::string> titles;
    for (const Column& column : columns_) titles.emplace_back(column.title);
    Add(std::move(titles));
  }

  void Add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

  // An empty line and the table; nothing if it has no rows.
  void Append(std::string* out) const {
    if (rows_.size() == 1) return;
    std::vector<size_t> widths(columns_.size(), 0);
    for (const auto& row : rows_) {
      for (size_t i = 0; i < row.size(); i++) widths[i] = std::max(widths[i], Width(row[i]));
    }
    *out += '\n';
    for (const auto& row : rows_) {
      std::string line;
      for (size_t i = 0; i < row.size(); i++) {
        const std::string pad(widths[i] - Width(row[i]), ' ');
        if (i > 0) line += "  ";
        line += columns_[i].number ? pad + row[i] : row[i] + pad;
      }
      line.erase(line.find_last_not_of(' ') + 1);
      *out += line + '\n';
    }
  }

 private:
  static size_t Width(std::string_view text) {  // in code points
    return static_cast<size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
  }

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// The values of a family by the labels of the series.
using Index = std::map<std::string, double>;

std::string KeyOf(const Sample& sample) {
  std::string key;
  for (const Label& label : sample.labels) key += label.name + '\n' + label.value + '\n';
  return key;
}

Index IndexOf(const FamilySamples& family) {
  Index index;
  for (const Sample& sample : family.samples) index.emplace(KeyOf(sample), sample.value);
  return index;
}

std::optional<double> Find(const Index& index, const Sample& sample) {
  const auto found = index.find(KeyOf(sample));
  return found == index.end() ? std::nullopt : std::optional(found->second);
}

std::string Whole(std::optional<double> value) {
  return value ? fmt::format("{:.0f}", *value) : "-";
}

std::string Word(std::string_view text) { return text.empty() ? "-" : std::string(text); }

class TextWriter {
 public:
  TextWriter(const Snapshot& now, const Snapshot* before) : now_(now), before_(before) {
    if (before_) seconds_ = std::chrono::duration<double>(now_.taken - before_->taken).count();
  }

  std::string Write() {
    States("state", "kstream_runtime_state", false);
    States("threads", "kstream_thread_state", true);
    States("tasks", "kstream_task_state", true);
    Line(
        "records",
        fmt::format("{} read{}, {} written{}, {} skipped, {} dead letters",
                    Count("kstream_records_read_total"), RateOf("kstream_records_read_total"),
                    Count("kstream_records_written_total"), RateOf("kstream_records_written_total"),
                    Count("kstream_records_skipped_total"), Count("kstream_dead_letters_total")));
    Lag();
    Line("commits", fmt::format("{}, {} failed{}", Count("kstream_commits_total"),
                                Count("kstream_commit_failures_total"),
                                Mean("kstream_commit_latency_seconds")));
    Line("moves",
         fmt::format("{} rebalances: {} tasks assigned, {} revoked, {} lost",
                     Count("kstream_rebalances_total"), Count("kstream_tasks_assigned_total"),
                     Count("kstream_tasks_revoked_total"), Count("kstream_tasks_lost_total")));
    Partitions();
    Restores();
    return std::move(out_);
  }

 private:
  void Line(std::string_view title, std::string_view text) {
    fmt::format_to(std::back_inserter(out_), "{:<9}{}\n", title, text);
  }

  // "2 running, 1 failed", in the order of the table, or without numbers.
  void States(std::string_view title, Name<Type::kState> name, bool numbers) {
    const FamilySamples& family = now_.Of(name);
    std::string text;
    ForEachWord(family.family->states, [&](std::string_view state) {
      double in_it = 0;
      for (const Sample& sample : family.samples) {
        if (sample.Get("state") == state) in_it += sample.value;
      }
      if (in_it == 0) return;
      if (!text.empty()) text += ", ";
      if (numbers) text += Whole(in_it) + ' ';
      text += state;
    });
    if (!text.empty()) Line(title, text);
  }

  std::string Count(Name<Type::kCounter> name) const { return Whole(now_.Of(name).Total()); }

  std::string RateOf(Name<Type::kCounter> name) const {
    if (!(seconds_ > 0)) return "";
    return fmt::format(" ({:.1f}/s)",
                       (now_.Of(name).Total() - before_->Of(name).Total()) / seconds_);
  }

  std::string Mean(Name<Type::kHistogram> name) const {
    double sum = 0, count = 0;
    for (const Sample& sample : now_.Of(name).samples) {
      sum += sample.value;
      count += static_cast<double>(sample.buckets.back());
    }
    return count > 0 ? fmt::format(", {:.1f} ms on average", sum / count * 1000) : "";
  }

  void Lag() {
    const FamilySamples& lag = now_.Of<Type::kGauge>("kstream_partition_lag_records");
    const size_t known = lag.samples.size();
    const size_t all = now_.Of<Type::kGauge>("kstream_partition_position").samples.size();
    if (all == 0) return;
    Line("lag", fmt::format("{} records in {} partitions{}", Whole(lag.Total()), known,
                            known < all ? fmt::format(", unknown in {}", all - known) : ""));
  }

  void Partitions() {
    const FamilySamples& positions = now_.Of<Type::kGauge>("kstream_partition_position");
    const Index lags = IndexOf(now_.Of<Type::kGauge>("kstream_partition_lag_records"));
    const Index earlier =
        seconds_ > 0 ? IndexOf(before_->Of<Type::kGauge>("kstream_partition_position")) : Index();
    Table table({{"thread", false},
                 {"task", false},
                 {"partition", false},
                 {"position", true},
                 {"lag", true},
                 {"offsets/s", true}});
    for (const Sample& sample : positions.samples) {
      const std::string_view cluster = sample.Get("cluster");
      const auto was = Find(earlier, sample);
      // A position that went back was put back, and tells no speed.
      const bool moved_on = was && *was <= sample.value;
      table.Add({Word(sample.Get("thread")), Word(sample.Get("task")),
                 fmt::format("{}{}{}[{}]", cluster, cluster.empty() ? "" : ":", sample.Get("topic"),
                             sample.Get("partition")),
                 Whole(sample.value), Whole(Find(lags, sample)),
                 moved_on ? fmt::format("{:.1f}", (sample.value - *was) / seconds_) : "-"});
    }
    table.Append(&out_);
  }

  void Restores() {
    const Index restored = IndexOf(now_.Of<Type::kCounter>("kstream_restore_records_total"));
    Table table({{"thread", false},
                 {"task", false},
                 {"store", false},
                 {"restored", true},
                 {"remaining", true}});
    for (const Sample& sample :
         now_.Of<Type::kGauge>("kstream_restore_remaining_records").samples) {
      if (sample.value == 0) continue;
      table.Add({Word(sample.Get("thread")), Word(sample.Get("task")), Word(sample.Get("store")),
                 Whole(Find(restored, sample)), Whole(sample.value)});
    }
    table.Append(&out_);
  }

  const Snapshot& now_;
  const Snapshot* const before_;
  double seconds_ = 0;  // since `before_`; 0 without
  std::string out_;
};

}  // namespace

std::string RenderText(const Snapshot& snapshot, const Snapshot* before) {
  return TextWriter(snapshot, before).Write();
}

}  // namespace kstream::metrics
