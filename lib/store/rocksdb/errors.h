// RocksDB's failures told as ours: one line, with the directory, and what to do. Tested by
// tests/unit/store/rocksdb/damage_test.cc.
#ifndef KSTREAM_STORE_ROCKSDB_ERRORS_H_
#define KSTREAM_STORE_ROCKSDB_ERRORS_H_

#include <string_view>

#include "kstream/status.h"

namespace rocksdb {
class Status;
}

namespace kstream::store::rocksdb {

// `doing`: "open", "read" or "write". Ok stays ok; everything else is kState.
Status Told(const ::rocksdb::Status& status, std::string_view doing, std::string_view directory);
// What is in the directory makes no sense: `how`.
Status Damaged(std::string_view directory, std::string_view how);

}  // namespace kstream::store::rocksdb

#endif  // KSTREAM_STORE_ROCKSDB_ERRORS_H_
