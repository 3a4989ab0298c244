// An application on a cluster in memory, with a store of two tasks: what its changelog says, and
// what its directory has.
#ifndef KSTREAM_TESTS_UNIT_ADMIN_INSPECTED_APP_H_
#define KSTREAM_TESTS_UNIT_ADMIN_INSPECTED_APP_H_

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "admin/app_inspector.h"
#include "runtime/changelogs.h"
#include "store/changelog_hash.h"
#include "store/rocksdb/rocksdb_engine.h"
#include "transport/memory/memory_cluster.h"
#include "unit/test_folder.h"

namespace kstream::admin {

inline const SystemClock kTime;
inline const std::string kLog = "app-cnt-changelog";

class InspectedApp : public testing::Test {
 protected:
  InspectedApp() {
    options_.state_dir = folder_.path();
    options_.app = "app";
  }

  // The application has run on the cluster with two tasks.
  void Ran() {
    runtime::Manifest manifest;
    manifest.incarnation = incarnation_;
    manifest.topics = {{kLog, 2, runtime::InternalTopic::Kind::kChangelog, 2}};
    manifest.stores = {"cnt", "unjournaled"};
    ASSERT_TRUE(runtime::ManifestLog(&cluster_, "app", &kTime).Establish(manifest).ok());
    cluster_.CreateTopic(kLog, 2);
  }
  int64_t Journal(const std::string& key, const std::optional<std::string>& value, int64_t time,
                  int32_t task = 0) {
    return cluster_.Produce(
        kLog, task,
        {.key = key,
         .value = value,
         .headers = {{std::string(runtime::kRowTimeHeader), std::to_string(time)}},
         .timestamp = 999});
  }
  void Keep(int32_t task, const std::vector<store::Change>& rows, store::Checkpoint at,
            const std::string& store = "cnt") {
    at.written = kTime.WallMs();
    const std::string path = options_.state_dir + "/app/" + store + "/" + std::to_string(task);
    auto engine = *store::rocksdb::Open(path, store::rocksdb::Memory::New(8 << 20));
    ASSERT_TRUE(engine->Write(rows, at).ok());
    ASSERT_TRUE(engine->Close().ok());
  }
  // Contains the changelog of one record up to `offset`.
  store::Checkpoint After(int64_t offset, std::string_view key, std::string_view value) const {
    return {incarnation_, offset + 1, offset, store::ChangelogHash(key, value), 0};
  }

  std::unique_ptr<transport::memory::MemoryCluster> Cluster() const {
    return std::make_unique<transport::memory::MemoryCluster>(cluster_);
  }
  std::unique_ptr<AppInspector> Open(bool cluster, bool from_changelog = false) {
    options_.from_changelog = from_changelog;
    return std::make_unique<AppInspector>(options_, cluster ? Cluster() : nullptr, &kTime);
  }
  // "TASK KEY=VALUE@TIME".
  static std::vector<std::string> Rows(AppInspector* inspector, const RowQuery& query = {}) {
    std::vector<std::string> rows;
    const Status status = inspector->Scan(query, [&](const InspectedRow& row) {
      rows.push_back(std::to_string(row.task) + " " + std::string(row.key) + "=" +
                     std::string(row.value) + "@" + std::to_string(row.timestamp));
      return true;
    });
    EXPECT_TRUE(status.ok()) << status.message();
    return rows;
  }

  const std::string incarnation_ = std::string(32, 'a');
  transport::memory::MemoryCluster cluster_;
  TestFolder folder_;
  InspectOptions options_;
};

}  // namespace kstream::admin

#endif  // KSTREAM_TESTS_UNIT_ADMIN_INSPECTED_APP_H_
