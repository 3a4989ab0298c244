#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <limits>
#include <sstream>

#include "metrics/snapshot.h"

namespace kstream::metrics {
namespace {

prometheus::MetricType TypeOf(const Family& family) {
  switch (family.type) {
    case Type::kCounter:
      return prometheus::MetricType::Counter;
    case Type::kHistogram:
      return prometheus::MetricType::Histogram;
    case Type::kGauge:
    case Type::kState:
      break;
  }
  return prometheus::MetricType::Gauge;
}

prometheus::ClientMetric ToPrometheus(const Family& family, const Sample& sample) {
  prometheus::ClientMetric metric;
  for (const Label& label : sample.labels) metric.label.push_back({label.name, label.value});
  metric.counter.value = metric.gauge.value = metric.histogram.sample_sum = sample.value;
  for (size_t i = 0; i < sample.buckets.size(); i++) {
    const double bound =
        i < family.buckets.size() ? family.buckets[i] : std::numeric_limits<double>::infinity();
    metric.histogram.bucket.push_back({sample.buckets[i], bound});
    metric.histogram.sample_count = sample.buckets[i];
  }
  return metric;
}

}  // namespace

std::string RenderPrometheus(const Snapshot& snapshot) {
  std::vector<prometheus::MetricFamily> families;
  for (const FamilySamples& taken : snapshot.families) {
    if (taken.samples.empty()) continue;
    prometheus::MetricFamily& family = families.emplace_back();
    family.name = taken.family->name;
    family.help = taken.family->help;
    family.type = TypeOf(*taken.family);
    for (const Sample& sample : taken.samples) {
      family.metric.push_back(ToPrometheus(*taken.family, sample));
    }
  }
  std::ostringstream text;
  prometheus::TextSerializer().Serialize(text, families);
  return std::move(text).str();
}

}  // namespace kstream::metrics
