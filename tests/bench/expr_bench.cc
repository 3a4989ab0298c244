// What an expression costs per record, beside the parsing of its value (BM_ParseOnly).
#include <benchmark/benchmark.h>

#include <random>
#include <string>
#include <vector>

#include "expr/program.h"
#include "fmt/format.h"
#include "record/json_document.h"

namespace kstream::expr {
namespace {

const std::vector<std::string>& Orders() {
  static const std::vector<std::string> orders = [] {
    std::vector<std::string> made;
    std::mt19937 random(1);
    for (int i = 0; i < 8192; ++i) {
      made.push_back(fmt::format(
          R"({{"id":{},"user":"u{}","amount":{}.{:02},"status":"{}","country":"{}","ts":{}}})",
          random() % 1'000'000, random() % 1000, random() % 1000, random() % 100,
          random() % 2 ? "paid" : "open", random() % 2 ? "DE" : "FR",
          1'700'000'000'000 + random() % 1'000'000));
    }
    return made;
  }();
  return orders;
}

// Calls `on_record` for each order.
template <typename F>
void ForRecords(benchmark::State& state, F on_record) {
  json::Reader reader;
  json::ValueCache cache;
  cache.reader = &reader;
  Record record;
  Input input;
  input.record = &record;
  size_t i = 0;
  for (auto _ : state) {
    record.value = Orders()[i];
    cache.parsed = false;
    record.cache = &cache;
    on_record(input);
    i = (i + 1) % Orders().size();
  }
  state.SetItemsProcessed(state.iterations());
}

void BM_ParseOnly(benchmark::State& state) {
  ForRecords(state, [](const Input& input) {
    json::ValueCache& cache = *input.record->cache;
    if (!cache.reader->Parse(*input.record->value, &cache.document).ok()) std::abort();
    benchmark::DoNotOptimize(cache.document);
  });
}
BENCHMARK(BM_ParseOnly);

void Test(benchmark::State& state, const char* text, bool force_libjq) {
  CompileOptions options;
  options.force_libjq = force_libjq;
  Evaluator evaluator(*Program::Compile(text, options));
  ForRecords(state, [&](const Input& input) {
    bool keep = false;
    if (!evaluator.Test(input, &keep).ok()) std::abort();
    benchmark::DoNotOptimize(keep);
  });
}

void Map(benchmark::State& state, const char* text, bool force_libjq) {
  CompileOptions options;
  options.force_libjq = force_libjq;
  Evaluator evaluator(*Program::Compile(text, options));
  ForRecords(state, [&](const Input& input) {
    const auto use = [](std::string_view json) {
      benchmark::DoNotOptimize(json.data());
      return Status::Ok();
    };
    if (!evaluator.ForEach(input, use).ok()) std::abort();
  });
}

BENCHMARK_CAPTURE(Test, amount, ".amount > 500", false);
BENCHMARK_CAPTURE(Test, status_and_amount, R"(.status == "paid" and .amount > 1.5)", false);
BENCHMARK_CAPTURE(Test, no_value, "$offset >= 0", false);
BENCHMARK_CAPTURE(Map, project, "{user, amount}", false);
BENCHMARK_CAPTURE(Map, assign, ".amount *= 2", false);
BENCHMARK_CAPTURE(Test, amount_libjq, ".amount > 500", true);
BENCHMARK_CAPTURE(Map, project_libjq, "{user, amount}", true);
BENCHMARK_CAPTURE(Map, reduce_libjq, "reduce (.amount, .id) as $x (0; . + $x)", false);

}  // namespace
}  // namespace kstream::expr
