// What the tests of stores share: both engines behind one fixture, and rows as a plain map.
#ifndef KSTREAM_TESTS_UNIT_STORE_ROCKSDB_ENGINES_H_
#define KSTREAM_TESTS_UNIT_STORE_ROCKSDB_ENGINES_H_

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "store/engine.h"
#include "store/memory/memory_engine.h"
#include "store/rocksdb/rocksdb_engine.h"
#include "unit/test_folder.h"

namespace kstream::store {

// Key to value and time.
using Rows = std::map<std::string, std::pair<std::string, int64_t>>;

inline Rows RowsOf(const Engine& engine, std::string_view from = "",
                   std::optional<std::string_view> to = std::nullopt) {
  Rows rows;
  const auto it = engine.NewIterator(from, to);
  std::string last;
  for (; it->Valid(); it->Next()) {
    EXPECT_TRUE(rows.empty() || last < it->key()) << "out of order";
    last = it->key();
    rows.emplace(last, std::pair(std::string(it->value()), it->timestamp()));
  }
  EXPECT_TRUE(it->status().ok()) << it->status().message();
  return rows;
}

enum class Kind { kMemory, kRocksDb };

inline std::string NameOf(const ::testing::TestParamInfo<Kind>& info) {
  return info.param == Kind::kMemory ? "Memory" : "RocksDb";
}

class Engines : public ::testing::TestWithParam<Kind> {
 protected:
  bool is_durable() const { return GetParam() == Kind::kRocksDb; }

  std::unique_ptr<Engine> Open() {
    if (!is_durable()) return memory::NewEngine();
    auto engine = rocksdb::Open(folder_.path() + "/store", memory_);
    EXPECT_TRUE(engine.ok()) << engine.status().message();
    return *std::move(engine);
  }

  TestFolder folder_;
  std::shared_ptr<rocksdb::Memory> memory_ = rocksdb::Memory::New(16 << 20);
};

}  // namespace kstream::store

#endif  // KSTREAM_TESTS_UNIT_STORE_ROCKSDB_ENGINES_H_
