// BadRecords: what happens to a record that fails (--on-error), and the count of it.
//
// A dead letter carries the original key, bytes, headers and timestamp, and where and why in
// headers of its own: kstream.error.reason, .topic, .partition, .offset, .timestamp. Tested by
// tests/unit/task/bad_records_test.cc.
#ifndef KSTREAM_TASK_BAD_RECORDS_H_
#define KSTREAM_TASK_BAD_RECORDS_H_

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kstream/record.h"
#include "kstream/runtime.h"
#include "kstream/status.h"
#include "task/task.h"

namespace kstream::task {

// "orders[2]@17", as every error writes where in a topic something is.
std::string PlaceOf(const Record& record);

// Shared by the threads of a run, for --max-errors.
struct BadRecordCounts {
  std::atomic<int64_t> skipped{0};
  std::atomic<int64_t> dead_letters{0};
};

// Belongs to one thread.
class BadRecords {
 public:
  struct Policy {
    OnError on_error = OnError::kFail;
    std::optional<int64_t> max_errors;
  };
  // `dead_letters` is null unless the policy needs it.
  BadRecords(const Policy& policy, BadRecordCounts* counts, RecordSink* dead_letters)
      : policy_(policy), counts_(counts), dead_letters_(dead_letters) {}

  // Decides about `record`, as it was read at `place`, that failed with `why` (kData). Ok: go on
  // with the next one. Otherwise the status ends the stage, and the record is not done. `message`,
  // when it is not empty afterwards, is a line for the log.
  Status Handle(const Record& record, const std::string& place, const Status& why,
                std::string* message);

  // How many this thread has decided about since the last call.
  struct Decided {
    int64_t skipped = 0;
    int64_t dead_letters = 0;
    void operator+=(const Decided& more) {
      skipped += more.skipped;
      dead_letters += more.dead_letters;
    }
  };
  Decided Take() { return std::exchange(decided_, {}); }
  // What was decided about these is forgotten: they come again.
  void Undo(const Decided& decided);
  // Dead letters go there from now on.
  void SendTo(RecordSink* dead_letters) { dead_letters_ = dead_letters; }

 private:
  Status Bury(const Record& record, const Status& why);

  Policy policy_;
  BadRecordCounts* counts_;
  RecordSink* dead_letters_;
  Decided decided_;
};

}  // namespace kstream::task

#endif  // KSTREAM_TASK_BAD_RECORDS_H_
