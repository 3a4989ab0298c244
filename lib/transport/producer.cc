#include "transport/producer.h"

namespace kstream::transport {
namespace {

Status None() { return Status::Usage("a producer without a transactional id has no transactions"); }

}  // namespace

Status Producer::InitTransactions() { return None(); }
Status Producer::Begin() { return None(); }
Status Producer::Seal(std::vector<PartitionOffset>, Consumer*) { return None(); }
Result<bool> Producer::Commit(std::chrono::milliseconds) { return None(); }
Status Producer::Abort() { return None(); }

}  // namespace kstream::transport
