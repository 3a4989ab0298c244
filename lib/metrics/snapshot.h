// Snapshot: all metrics at one time, and the texts made of it. The registry's counts go on while a
// text is made, so every text is made of a snapshot and needs no lock.
#ifndef KSTREAM_METRICS_SNAPSHOT_H_
#define KSTREAM_METRICS_SNAPSHOT_H_

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/names.h"

namespace kstream::metrics {

struct Label {
  std::string name;
  std::string value;  // printable UTF-8
  bool operator==(const Label&) const = default;
};

// One series. Labels come in the order of the family's row, `app` first and `state` last; those
// without a value are left out.
struct Sample {
  std::vector<Label> labels;
  double value = 0;  // of a histogram: the sum of what was observed
  // Of a histogram: how many values fell in each bucket or a lower one, in the order of the bounds,
  // and last how many there were.
  std::vector<uint64_t> buckets;

  std::string_view Get(std::string_view label) const;  // empty when there is none
};

struct FamilySamples {
  const Family* family = nullptr;  // a row of kFamilies
  std::vector<Sample> samples;     // by their labels, numbers in them by their value
  double retired = 0;              // what counters counted that are gone

  double Total() const;  // the sum of the values and `retired`
};

struct Snapshot {
  std::chrono::steady_clock::time_point taken;
  std::vector<FamilySamples> families;  // one for each row of kFamilies, in that order

  template <Type type>
  const FamilySamples& Of(Name<type> name) const& {
    return families[name.index()];
  }
  template <Type type>
  const FamilySamples& Of(Name<type> name) && = delete;  // a loop over it would outlive it
};

// Prometheus' text exposition format 0.0.4. Families without a series are left out.
inline constexpr std::string_view kPrometheusContentType =
    "text/plain; version=0.0.4; charset=utf-8";
std::string RenderPrometheus(const Snapshot& snapshot);

// For people: a summary, then a table of the partitions and one of the stores that are restored.
// Rates are over the time since `before`, an earlier snapshot of the same registry; null: no rates.
std::string RenderText(const Snapshot& snapshot, const Snapshot* before = nullptr);

}  // namespace kstream::metrics

#endif  // KSTREAM_METRICS_SNAPSHOT_H_
