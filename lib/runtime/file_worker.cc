#include "runtime/file_worker.h"

#include <utility>

#include "base/log.h"

namespace kstream::runtime {

Status FileWorker::Open() {
  const SourceSpec& source = *state_->Sources().front();
  KSTREAM_ASSIGN_OR_RETURN(const Serdes serdes, state_->SerdesOf(source));
  KSTREAM_ASSIGN_OR_RETURN(lines_, LineSource::Create(source, serdes, state_->options.partitions,
                                                      state_->clock.get(), path_));
  KSTREAM_RETURN_IF_ERROR(outputs_.Open());
  bad_records_ =
      std::make_unique<task::BadRecords>(state_->policy(), &state_->bad, outputs_.dead_letters());
  task::TaskHost* const host = this;
  task_ = std::make_unique<task::Task>(state_->topology, 0, "0_0", host);
  return task_->Init();
}

LineSplitter FileWorker::Prepare(const transport::Chunk& chunk) {
  lines_->Prepare(chunk.lines, &memory_);
  return LineSplitter(chunk.lines, chunk.first_of_file, LineRuleOf(lines_->format()));
}

Status FileWorker::Process(std::string_view line, int64_t number) {
  read_++;
  Status status = lines_->Decode(line, number, &memory_, &record_);
  if (status.ok()) status = task_->Process(0, record_);
  if (status.ok() || status.code() != StatusCode::kData) return status;
  return Bad(lines_->Raw(line, number, &memory_), number, status);
}

Status FileWorker::Bad(const Record& raw, int64_t number, const Status& why) {
  std::string message;
  KSTREAM_RETURN_IF_ERROR(
      bad_records_->Handle(raw, LinePlace{path_, number}.ToString(), why, &message));
  if (!message.empty()) messages_.push_back(std::move(message));
  return Status::Ok();
}

void FileWorker::Report() {
  metrics_->poll_records.Observe(static_cast<double>(read_));
  metrics_->read.Add(std::exchange(read_, 0));
  metrics_->Count(outputs_.TakeWritten(), bad_records_->Take());
  for (const std::string& message : messages_) Log(LogLevel::kWarning, message);
  messages_.clear();
}

}  // namespace kstream::runtime
