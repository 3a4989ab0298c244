// What stores cost: reads and changes through KeptStore with its epochs, over both engines; a
// restore; and the memory of many keys within a budget.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "store/kept_store.h"
#include "store/memory/memory_engine.h"
#include "store/rocksdb/rocksdb_engine.h"

namespace kstream::store {
namespace {

constexpr uint64_t kBudget = 256 << 20;
constexpr int kEpoch = 100'000;  // operations

// A folder that is gone with the benchmark, and an engine in it.
class Place {
 public:
  Place() {
    std::string pattern = std::filesystem::temp_directory_path() / "kstream-bench-XXXXXX";
    path_ = mkdtemp(pattern.data());
  }
  ~Place() { std::filesystem::remove_all(path_); }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  std::unique_ptr<Engine> Open(bool in_rocksdb) {
    if (!in_rocksdb) return memory::NewEngine();
    return *rocksdb::Open(path_, memory_);
  }
  std::shared_ptr<rocksdb::Memory> memory() { return memory_; }

 private:
  std::string path_;
  std::shared_ptr<rocksdb::Memory> memory_ = rocksdb::Memory::New(kBudget);
};

std::string KeyOf(uint64_t number) { return fmt::format("user-{:08}", number); }

std::vector<std::string> Keys(size_t count) {
  std::vector<std::string> keys;
  for (size_t i = 0; i < count; i++) keys.push_back(KeyOf(i));
  return keys;
}

struct NoSink final : ChangelogSink {
  Status Append(const Change&) override { return Status::Ok(); }
};

void Must(const Status& status) {
  if (!status.ok()) abort();
}

double ResidentMb() {
  std::ifstream file("/proc/self/statm");
  uint64_t size = 0, resident = 0;
  file >> size >> resident;
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE)) / (1 << 20);
}

void EndEpoch(KeptStore& store, int64_t& offset) {
  NoSink sink;
  Must(store.Seal(&sink));
  offset += kEpoch;
  Must(store.Commit("bench", offset, offset));
}

// A count by key: Find and Put for each record, with an epoch's end after each kEpoch of them.
void Count(benchmark::State& state, bool in_rocksdb) {
  Place place;
  KeptStore store("counts", place.Open(in_rocksdb), in_rocksdb ? place.memory()->rows() : nullptr);
  const auto keys = Keys(static_cast<size_t>(state.range(0)));
  std::mt19937_64 random(1);
  StoredRow row;
  int64_t offset = 0;
  int in_epoch = 0;
  for (auto _ : state) {
    const std::string& key = keys[random() % keys.size()];
    if (!*store.Find(key, &row)) row.value = "1000000";
    row.value.back() = static_cast<char>('0' + (row.value.back() - '0' + 1) % 10);
    Must(store.Put(key, row.value, 0));
    if (++in_epoch == kEpoch) {
      EndEpoch(store, offset);
      in_epoch = 0;
    }
  }
  state.SetItemsProcessed(state.iterations());
  state.counters["from_engine"] =
      static_cast<double>(store.meter().gets_from_engine) / static_cast<double>(store.meter().gets);
}
BENCHMARK_CAPTURE(Count, memory, false)->Arg(10'000)->Arg(1'000'000);
BENCHMARK_CAPTURE(Count, rocksdb, true)->Arg(10'000)->Arg(1'000'000);

void Fill(Engine& engine, size_t keys) {
  std::vector<std::string> names(10'000);
  std::vector<Change> changes(names.size());
  for (size_t first = 0; first < keys; first += names.size()) {
    for (size_t i = 0; i < names.size(); i++) {
      names[i] = KeyOf((first + i) * 7'368'787 % keys);  // a prime: each key once, in no order
      changes[i] = {names[i], "{\"count\":1234567}", 0};
    }
    const auto offset = static_cast<int64_t>(first + names.size());
    Must(engine.Load(changes, {.incarnation = "bench", .offset = offset, .written = offset}));
  }
}

// The engine alone, of a million keys.
void EngineFind(benchmark::State& state, bool in_rocksdb) {
  Place place;
  const auto engine = place.Open(in_rocksdb);
  Fill(*engine, 1'000'000);
  Must(engine->Flush());
  const auto keys = Keys(1'000'000);
  std::mt19937_64 random(1);
  StoredRow row;
  for (auto _ : state) {
    if (!*engine->Find(keys[random() % keys.size()], &row)) abort();
  }
}
BENCHMARK_CAPTURE(EngineFind, memory, false);
BENCHMARK_CAPTURE(EngineFind, rocksdb, true);

// Ten rows from anywhere, with a few changes laid over the engine's.
void Range10(benchmark::State& state, bool in_rocksdb) {
  Place place;
  KeptStore store("counts", place.Open(in_rocksdb), place.memory()->rows());
  Fill(*store.engine(), 1'000'000);
  Must(store.engine()->Flush());
  std::mt19937_64 random(1);
  for (int i = 0; i < 10'000; i++) Must(store.Put(KeyOf(random() % 1'000'000), "changed", 0));
  for (auto _ : state) {
    int rows = 0;
    Must(store.Range(KeyOf(random() % 900'000), std::nullopt,
                     [&](std::string_view, std::string_view) { return ++rows < 10; }));
  }
}
BENCHMARK_CAPTURE(Range10, memory, false);
BENCHMARK_CAPTURE(Range10, rocksdb, true);

void Restore2000000(benchmark::State& state, bool in_rocksdb) {
  for (auto _ : state) {
    Place place;
    const auto engine = place.Open(in_rocksdb);
    Fill(*engine, 2'000'000);
    Must(engine->Close());
  }
  state.SetItemsProcessed(state.iterations() * 2'000'000);
}
BENCHMARK_CAPTURE(Restore2000000, memory, false)->Unit(benchmark::kMillisecond)->Iterations(1);
BENCHMARK_CAPTURE(Restore2000000, rocksdb, true)->Unit(benchmark::kMillisecond)->Iterations(1);

// Ten million keys put through epochs, then read at random: the memory that the process takes.
void TenMillionKeys(benchmark::State& state) {
  constexpr uint64_t kKeys = 10'000'000;
  Place place;
  double most = 0;
  for (auto _ : state) {
    KeptStore store("counts", place.Open(true), place.memory()->rows());
    std::mt19937_64 random(1);
    StoredRow row;
    int64_t offset = 0;
    for (uint64_t i = 0; i < kKeys; i++) {
      const std::string key = KeyOf(i * 7'368'787 % kKeys);
      if (*store.Find(key, &row)) abort();
      Must(store.Put(key, "{\"count\":1234567}", 0));
      if ((i + 1) % kEpoch == 0) {
        EndEpoch(store, offset);
        most = std::max(most, ResidentMb());
      }
    }
    for (int i = 0; i < 1'000'000; i++) {
      if (!*store.Find(KeyOf(random() % kKeys), &row)) abort();
      if (i % kEpoch == 0) most = std::max(most, ResidentMb());
    }
  }
  state.counters["rss_mb"] = most;
}
BENCHMARK(TenMillionKeys)->Unit(benchmark::kMillisecond)->Iterations(1);

}  // namespace
}  // namespace kstream::store
