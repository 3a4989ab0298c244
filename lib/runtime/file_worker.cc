#include "runtime/file_worker.h"

#include <utility>

#include "base/log.h"

namespace kstream::runtime {

Status FileWorker::Open() {
  KSTREAM_RETURN_IF_ERROR(outputs_.Open());
  bad_records_ =
      std::make_unique<task::BadRecords>(state_->policy(), &state_->bad, outputs_.dead_letters());
  task_ = std::make_unique<task::Task>(
      state_->topology, "0_0", [this](const TopologyNode& node) { return outputs_.SinkOf(node); });
  return task_->Init();
}

Status FileWorker::Process(std::string_view line, int64_t number, LineSource* lines,
                           LineMemory* memory) {
  read_++;
  Status status = lines->Decode(line, number, memory, &record_);
  if (status.ok()) status = task_->Process(0, record_);
  if (status.ok() || status.code() != StatusCode::kData) return status;
  return Bad({lines->path(), number}, lines->Raw(line, number, memory), status);
}

Status FileWorker::Bad(const LinePlace& place, const Record& raw, const Status& why) {
  std::string message;
  KSTREAM_RETURN_IF_ERROR(bad_records_->Handle(raw, place.ToString(), why, &message));
  if (!message.empty()) messages_.push_back(std::move(message));
  return Status::Ok();
}

void FileWorker::Report() {
  state_->read.fetch_add(std::exchange(read_, 0), std::memory_order_relaxed);
  for (const std::string& message : messages_) Log(LogLevel::kWarning, message);
  messages_.clear();
}

}  // namespace kstream::runtime
