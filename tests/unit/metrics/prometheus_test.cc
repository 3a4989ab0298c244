// The exposition, byte for byte where it matters, and as a whole against the rules of the format.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <charconv>
#include <locale>
#include <map>
#include <optional>
#include <set>
#include <sstream>

#include "metrics/registry.h"

namespace kstream::metrics {
namespace {

using testing::HasSubstr;

std::string Render(const Registry& registry) { return RenderPrometheus(registry.Take({})); }

TEST(Prometheus, IsEmptyWithoutSeries) { EXPECT_EQ(Render(Registry("shop")), ""); }

TEST(Prometheus, WritesCountersAndGauges) {
  Registry registry("shop");
  Counter reads = registry.NewCounter("kstream_records_read_total", {.thread = 0});
  reads.Add(123456789012345);
  Gauge time = registry.NewGauge("kstream_task_stream_time_seconds", {.thread = 0, .task = "0_1"});
  time.Set(1700000000.123);
  EXPECT_EQ(Render(registry),
            "# HELP kstream_records_read_total Records taken from inputs.\n"
            "# TYPE kstream_records_read_total counter\n"
            "kstream_records_read_total{app=\"shop\",thread=\"0\"} 123456789012345\n"
            "# HELP kstream_task_stream_time_seconds The largest timestamp that the task has "
            "processed, in seconds since 1970.\n"
            "# TYPE kstream_task_stream_time_seconds gauge\n"
            "kstream_task_stream_time_seconds{app=\"shop\",thread=\"0\",task=\"0_1\"} "
            "1700000000.123\n");
}

TEST(Prometheus, WritesASeriesWithoutLabels) {
  Registry registry;
  Counter reads = registry.NewCounter("kstream_records_read_total", {});
  EXPECT_THAT(Render(registry), HasSubstr("\nkstream_records_read_total 0\n"));
}

TEST(Prometheus, WritesHistograms) {
  Registry registry;
  Histogram polled = registry.NewHistogram("kstream_poll_records", {.thread = 3});
  polled.Observe(7);
  polled.Observe(2e5);
  const std::string text = Render(registry);
  EXPECT_THAT(text, HasSubstr("# TYPE kstream_poll_records histogram\n"));
  EXPECT_THAT(text, HasSubstr("kstream_poll_records_count{thread=\"3\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("kstream_poll_records_sum{thread=\"3\"} 200007\n"));
  EXPECT_THAT(text, HasSubstr("kstream_poll_records_bucket{thread=\"3\",le=\"1\"} 0\n"
                              "kstream_poll_records_bucket{thread=\"3\",le=\"10\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("kstream_poll_records_bucket{thread=\"3\",le=\"+Inf\"} 2\n"));
}

TEST(Prometheus, WritesOneSeriesForEachState) {
  Registry registry;
  State state = registry.NewState("kstream_thread_state", {.thread = 0});
  state.Set("running");
  const std::string text = Render(registry);
  EXPECT_THAT(text, HasSubstr("# TYPE kstream_thread_state gauge\n"));
  EXPECT_THAT(text, HasSubstr("kstream_thread_state{thread=\"0\",state=\"failed\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("kstream_thread_state{thread=\"0\",state=\"running\"} 1\n"));
}

TEST(Prometheus, EscapesLabelValues) {
  Registry registry;
  Gauge lag = registry.NewGauge("kstream_partition_lag_records",
                                {.topic = "a\"b\\c\nd\re\xff", .partition = 0});
  lag.Set(1);
  EXPECT_THAT(Render(registry),
              HasSubstr("{topic=\"a\\\"b\\\\c\\\\u000ad\\\\u000de\uFFFD\",partition=\"0\"} 1\n"));
}

// A locale as some programs set it: a comma in numbers, points between thousands.
class Comma : public std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

TEST(Prometheus, HasNoUseForTheLocale) {
  Registry registry;
  Gauge time = registry.NewGauge("kstream_task_stream_time_seconds", {});
  time.Set(1700000000.5);
  Histogram polled = registry.NewHistogram("kstream_poll_records", {.thread = 1234});
  polled.Observe(20000);
  Gauge lag = registry.NewGauge("kstream_partition_position", {.topic = "a", .partition = 1000});
  lag.Set(1000000);
  const std::string text = Render(registry);
  const std::string table = RenderText(registry.Take({}));
  EXPECT_THAT(text, HasSubstr(" 1700000000.5\n"));
  const std::locale before = std::locale::global(std::locale(std::locale::classic(), new Comma));
  const std::string then_text = Render(registry);
  const std::string then_table = RenderText(registry.Take({}));
  std::locale::global(before);
  EXPECT_EQ(then_text, text);
  EXPECT_EQ(then_table, table);
}

// One of everything, with values that are hard to write.
struct Everything {
  Everything() {
    const Labels where{
        .thread = 1, .task = "0_0", .cluster = "e\"ast", .topic = "o\\", .partition = 2};
    for (const char* text : {"one", "two"}) {
      Labels here = where;
      here.store = text;
      counters.push_back(registry.NewCounter("kstream_restore_records_total", here));
      counters.back().Add(1'000'000'007);
      gauges.push_back(registry.NewGauge("kstream_restore_remaining_records", here));
      gauges.back().Set(-1);
    }
    counters.push_back(registry.NewCounter("kstream_commits_total", where));
    gauges.push_back(registry.NewGauge("kstream_partition_lag_records", where));
    gauges.back().Set(1e18);
    gauges.push_back(registry.NewGauge("kstream_task_stream_time_seconds", where));
    gauges.back().Set(-1e-7);
    histograms.push_back(registry.NewHistogram("kstream_process_latency_seconds", where));
    histograms.back().Observe(3e-5);
    histograms.back().Observe(100);
    histograms.push_back(registry.NewHistogram("kstream_poll_records", where));
    states.push_back(registry.NewState("kstream_runtime_state", where));
    states.push_back(registry.NewState("kstream_task_state", where));
    for (State& state : states) state.Set("running");
  }

  Registry registry{"shop"};
  std::vector<Counter> counters;
  std::vector<Gauge> gauges;
  std::vector<Histogram> histograms;
  std::vector<State> states;
};

// A line of samples, read by the grammar of the format: `name{label="value",...} number`.
struct ParsedSample {
  std::string name;
  std::map<std::string, std::string> labels;
  double value = 0;
};

class LineParser {
 public:
  explicit LineParser(std::string_view line) : rest_(line) {}

  std::optional<ParsedSample> Parse() {
    ParsedSample sample;
    sample.name = TakeName();
    if (sample.name.empty()) return std::nullopt;
    if (Take('{')) {
      do {
        const std::string label = TakeName();
        std::string value;
        if (label.empty() || !Take('=') || !TakeQuoted(&value)) return std::nullopt;
        if (!sample.labels.emplace(label, value).second) return std::nullopt;
      } while (Take(','));
      if (!Take('}')) return std::nullopt;
    }
    if (!Take(' ')) return std::nullopt;
    if (rest_ == "+Inf" || rest_ == "-Inf" || rest_ == "NaN") return sample;
    if (rest_.find_first_not_of("0123456789+-.e") != std::string_view::npos) return std::nullopt;
    const auto [end, error] =
        std::from_chars(rest_.data(), rest_.data() + rest_.size(), sample.value);
    if (error != std::errc() || end != rest_.data() + rest_.size()) return std::nullopt;
    return sample;
  }

 private:
  bool Take(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  std::string TakeName() {
    size_t end = 0;
    while (end < rest_.size() && (rest_[end] == '_' || std::isalpha(rest_[end]) ||
                                  (end > 0 && std::isdigit(rest_[end])))) {
      end++;
    }
    std::string name(rest_.substr(0, end));
    rest_.remove_prefix(end);
    return name;
  }

  bool TakeQuoted(std::string* value) {
    if (!Take('"')) return false;
    while (!Take('"')) {
      if (rest_.empty()) return false;
      if (Take('\\')) {
        if (rest_.empty() || std::string_view("\\\"n").find(rest_[0]) == std::string_view::npos) {
          return false;
        }
        *value += rest_[0] == 'n' ? '\n' : rest_[0];
      } else {
        *value += rest_[0];
      }
      rest_.remove_prefix(1);
    }
    return true;
  }

  std::string_view rest_;
};

TEST(Prometheus, TheTestKnowsABadLine) {
  for (const char* bad : {"", "a", "a{} 1", "a{b=\"c} 1", "a{b=\"\\t\"} 1", "a{b=\"c\",b=\"d\"} 1",
                          "a{1b=\"c\"} 1", "a 1,5", "a  1", "a 1 ", "a Nan", "{b=\"c\"} 1"}) {
    EXPECT_FALSE(LineParser(bad).Parse()) << bad;
  }
  const auto good = LineParser("a{b=\"\\\"\\\\\\n\",c=\"\"} 1e-05").Parse();
  ASSERT_TRUE(good);
  EXPECT_EQ(good->labels.at("b"), "\"\\\n");
  EXPECT_EQ(good->value, 1e-05);
}

// The lines of each family stand together behind one HELP and one TYPE; every line is a comment or
// a sample of the grammar; no series comes twice; buckets rise to +Inf, which is the count.
TEST(Prometheus, KeepsTheRulesOfTheFormat) {
  Everything everything;
  std::istringstream lines(Render(everything.registry));
  std::string line, family, kind;
  std::set<std::string> families, series;
  std::map<std::string, double> last_bucket, counts;
  size_t samples = 0;
  while (std::getline(lines, line)) {
    if (line.starts_with("# HELP ")) {
      family = line.substr(7, line.find(' ', 7) - 7);
      ASSERT_TRUE(families.insert(family).second) << line;
      ASSERT_TRUE(std::getline(lines, line));
      ASSERT_TRUE(line.starts_with("# TYPE " + family + " ")) << line;
      kind = line.substr(line.rfind(' ') + 1);
      ASSERT_TRUE(kind == "counter" || kind == "gauge" || kind == "histogram") << line;
      continue;
    }
    const auto sample = LineParser(line).Parse();
    ASSERT_TRUE(sample) << line;
    samples++;
    ASSERT_TRUE(series.insert(line.substr(0, line.rfind(' '))).second) << line;
    if (kind != "histogram") {
      EXPECT_EQ(sample->name, family) << line;
    } else if (sample->name == family + "_count") {
      counts[family] = sample->value;
    } else if (sample->name == family + "_bucket") {
      EXPECT_GE(sample->value, last_bucket[family]) << line;
      last_bucket[family] = sample->value;
      if (sample->labels.at("le") == "+Inf") {
        EXPECT_EQ(sample->value, counts.at(family)) << line;
      }
    } else {
      EXPECT_EQ(sample->name, family + "_sum") << line;
    }
  }
  EXPECT_EQ(families.size(), 9U);
  EXPECT_EQ(last_bucket.size(), 2U);
  // What is not in a histogram, and two histograms with their sums, counts and +Inf.
  const size_t single = 2 + 2 + 1 + 1 + 1 + 7 + 5;
  EXPECT_EQ(samples, single + std::size(kSecondsBuckets) + std::size(kRecordsBuckets) + 2 * 3);
}

}  // namespace
}  // namespace kstream::metrics
