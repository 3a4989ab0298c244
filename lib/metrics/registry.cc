#include "metrics/registry.h"

#include <fmt/format.h>
#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <type_traits>
#include <unordered_map>
#include <variant>

#include "base/printable.h"

namespace kstream::metrics {
namespace {

constexpr double kUnset = std::numeric_limits<double>::quiet_NaN();

template <Type type>
using Metric = std::conditional_t<
    type == Type::kCounter, prometheus::Counter,
    std::conditional_t<type == Type::kHistogram, prometheus::Histogram, prometheus::Gauge>>;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// The digits at the front of *text, without leading zeros; moves *text behind them.
std::string_view TakeNumber(std::string_view* text) {
  size_t end = 0;
  while (end < text->size() && IsDigit((*text)[end])) end++;
  std::string_view number = text->substr(0, end);
  text->remove_prefix(end);
  number.remove_prefix(std::min(number.find_first_not_of('0'), number.size()));
  return number;
}

// Numbers in the texts by their value, so that 0_9 comes before 0_10.
int NaturalCompare(std::string_view a, std::string_view b) {
  while (!a.empty() && !b.empty()) {
    if (IsDigit(a[0]) && IsDigit(b[0])) {
      const std::string_view x = TakeNumber(&a), y = TakeNumber(&b);
      if (x.size() != y.size()) return x.size() < y.size() ? -1 : 1;
      if (const int order = x.compare(y)) return order;
    } else {
      if (a[0] != b[0]) return a[0] < b[0] ? -1 : 1;
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
  }
  return static_cast<int>(!a.empty()) - static_cast<int>(!b.empty());
}

bool LabelsBefore(const Sample& a, const Sample& b) {
  for (size_t i = 0; i < a.labels.size(); i++) {
    if (const int order = NaturalCompare(a.labels[i].value, b.labels[i].value)) return order < 0;
  }
  return false;
}

}  // namespace

template <Type type>
struct Child {
  size_t family;  // in kFamilies
  Metric<type>* metric;
  int handles = 0;
};

namespace {

template <Type type>
struct Home {
  Home(const Family& family, const std::string& app)
      : series(std::string(family.name), std::string(family.help),
               app.empty() ? prometheus::Labels() : prometheus::Labels{{"app", app}}) {}

  Metric<type>& Add(const Family& family, const prometheus::Labels& labels) {
    if constexpr (type == Type::kHistogram) {
      return series.Add(labels, prometheus::Histogram::BucketBoundaries(family.buckets.begin(),
                                                                        family.buckets.end()));
    } else if constexpr (type == Type::kCounter) {
      return series.Add(labels);
    } else {
      return series.Add(labels, kUnset);
    }
  }

  prometheus::Family<Metric<type>> series;
  std::unordered_map<Metric<type>*, Child<type>> children;  // by their metric
  double retired = 0;
};

template <Type type>
using HomePtr = std::unique_ptr<Home<type>>;

// The series of a family with their labels in the order of its row.
template <Type type>
std::vector<Sample> Samples(const Family& family, const Home<type>& home) {
  std::vector<Sample> samples;
  for (const prometheus::MetricFamily& collected : home.series.Collect()) {
    samples.reserve(collected.metric.size());
    for (const prometheus::ClientMetric& metric : collected.metric) {
      Sample sample;
      if constexpr (type == Type::kCounter) {
        sample.value = metric.counter.value;
      } else if constexpr (type == Type::kHistogram) {
        sample.value = metric.histogram.sample_sum;
        for (const auto& bucket : metric.histogram.bucket) {
          sample.buckets.push_back(bucket.cumulative_count);
        }
      } else {
        sample.value = metric.gauge.value;
        if (std::isnan(sample.value)) continue;
      }
      const auto add = [&](std::string_view name) {
        const auto found = std::find_if(metric.label.begin(), metric.label.end(),
                                        [&](const auto& label) { return label.name == name; });
        sample.labels.push_back(
            {std::string(name), found == metric.label.end() ? "" : found->value});
      };
      add("app");
      ForEachWord(family.labels, add);
      if constexpr (type == Type::kState) add("state");
      samples.push_back(std::move(sample));
    }
  }
  std::sort(samples.begin(), samples.end(), LabelsBefore);
  for (Sample& sample : samples) {
    std::erase_if(sample.labels, [](const Label& label) { return label.value.empty(); });
  }
  return samples;
}

}  // namespace

// What a registry and its handles share. The library locks each family for itself; `mutex` makes
// one step of "the last handle went" and "what it counted is in the total".
struct Families {
  using AnyHome = std::variant<HomePtr<Type::kCounter>, HomePtr<Type::kGauge>,
                               HomePtr<Type::kHistogram>, HomePtr<Type::kState>>;

  explicit Families(const std::string& app) {
    for (const Family& family : kFamilies) homes.push_back(NewHome(family, app));
  }

  static AnyHome NewHome(const Family& family, const std::string& app) {
    switch (family.type) {
      case Type::kCounter:
        return std::make_unique<Home<Type::kCounter>>(family, app);
      case Type::kGauge:
        return std::make_unique<Home<Type::kGauge>>(family, app);
      case Type::kHistogram:
        return std::make_unique<Home<Type::kHistogram>>(family, app);
      case Type::kState:
        break;
    }
    return std::make_unique<Home<Type::kState>>(family, app);
  }

  template <Type type>
  Home<type>& HomeOf(size_t family) {
    return *std::get<HomePtr<type>>(homes[family]);
  }

  template <Type type>
  Child<type>* Add(Name<type> name, const Labels& labels, std::string_view state = "") {
    const Family& family = kFamilies[name.index()];
    prometheus::Labels given;
    ForEachWord(family.labels, [&](std::string_view label) {
      if (std::string value = labels.Get(label); !value.empty()) {
        given.emplace(label, std::move(value));
      }
    });
    if (!state.empty()) given.emplace("state", state);
    const std::lock_guard lock(mutex);
    Home<type>& home = HomeOf<type>(name.index());
    Metric<type>* const metric = &home.Add(family, given);
    Child<type>& child =
        home.children.try_emplace(metric, Child<type>{name.index(), metric}).first->second;
    child.handles++;
    return &child;
  }

  template <Type type>
  void Release(Child<type>* child) {
    const std::lock_guard lock(mutex);
    if (--child->handles > 0) return;
    Home<type>& home = HomeOf<type>(child->family);
    if constexpr (type == Type::kCounter) home.retired += child->metric->Value();
    Metric<type>* const metric = child->metric;
    home.children.erase(metric);
    home.series.Remove(metric);
  }

  std::mutex mutex;
  std::vector<AnyHome> homes;  // of the rows of kFamilies; all below is guarded by `mutex`
};

std::string Labels::Get(std::string_view label) const {
  if (label == "thread") return thread < 0 ? "" : fmt::to_string(thread);
  if (label == "partition") return partition < 0 ? "" : fmt::to_string(partition);
  return Printable(label == "task"      ? task
                   : label == "cluster" ? cluster
                   : label == "topic"   ? topic
                   : label == "node"    ? node
                                        : store);
}

template <Type type>
Handle<type>::Handle() = default;

template <Type type>
Handle<type>::Handle(std::shared_ptr<Families> families, Child<type>* child)
    : families_(std::move(families)), child_(child) {}

template <Type type>
Handle<type>::Handle(Handle&& other) noexcept
    : families_(std::move(other.families_)), child_(std::exchange(other.child_, nullptr)) {}

template <Type type>
Handle<type>& Handle<type>::operator=(Handle&& other) noexcept {
  Handle taken(std::move(other));
  std::swap(families_, taken.families_);
  std::swap(child_, taken.child_);
  return *this;
}

template <Type type>
Handle<type>::~Handle() {
  if (child_) families_->Release(child_);
}

template class Handle<Type::kCounter>;
template class Handle<Type::kGauge>;
template class Handle<Type::kHistogram>;
template class Handle<Type::kState>;

void Counter::Add(int64_t n) {
  if (child_ && n > 0) child_->metric->Increment(static_cast<double>(n));
}

void Gauge::Set(double value) {
  if (child_) child_->metric->Set(value);
}

void Histogram::Observe(double value) {
  if (child_ && !std::isnan(value)) child_->metric->Observe(value);
}

void State::One::Set(bool is) {
  if (child_) child_->metric->Set(is ? 1 : 0);
}

void State::Set(std::string_view state) {
  for (auto& [name, one] : states_) one.Set(name == state);
}

Registry::Registry(std::string_view app) : families_(std::make_shared<Families>(Printable(app))) {}
Registry::~Registry() = default;

Counter Registry::NewCounter(Name<Type::kCounter> name, const Labels& labels) {
  return {families_, families_->Add(name, labels)};
}

Gauge Registry::NewGauge(Name<Type::kGauge> name, const Labels& labels) {
  return {families_, families_->Add(name, labels)};
}

Histogram Registry::NewHistogram(Name<Type::kHistogram> name, const Labels& labels) {
  return {families_, families_->Add(name, labels)};
}

State Registry::NewState(Name<Type::kState> name, const Labels& labels) {
  State made;
  ForEachWord(kFamilies[name.index()].states, [&](std::string_view state) {
    made.states_.emplace_back(state, State::One{families_, families_->Add(name, labels, state)});
  });
  return made;
}

int64_t Registry::Total(Name<Type::kCounter> name) const {
  const std::lock_guard lock(families_->mutex);
  const auto& home = families_->HomeOf<Type::kCounter>(name.index());
  double total = home.retired;
  for (const auto& [metric, child] : home.children) total += metric->Value();
  return static_cast<int64_t>(total);
}

Snapshot Registry::Take(std::chrono::steady_clock::time_point now) const {
  Snapshot snapshot{now, {}};
  const std::lock_guard lock(families_->mutex);
  for (size_t i = 0; i < std::size(kFamilies); i++) {
    std::visit(
        [&](const auto& home) {
          snapshot.families.push_back({&kFamilies[i], Samples(kFamilies[i], *home), home->retired});
        },
        families_->homes[i]);
  }
  return snapshot;
}

}  // namespace kstream::metrics
