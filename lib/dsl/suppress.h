// Suppress: holds the changes of a table's rows back until they are due, and lets the last of each
// row go (KIP-328).
//
// A row is due at a stream time: that which closes its window, or the time of the first change that
// is held plus a limit. It goes at a commit point, when all that stands before has forwarded what
// it held back itself, so that what closes a window is the last that is known of it. What is held
// is in the store alone, so memory holds none of it:
//
//   'k' ++ key              {"due":ms,..} and the change, as an envelope (record/envelope.h) whose
//                           key is what chooses the partition, if that is another
//   't' ++ due ++ key       nothing; times are those of ordered_time.h
//
// Both go when the stream time that made the row due is committed: a crash before that lets it go
// again. What is found due at a start has gone. Tested by tests/unit/testdriver/suppress_test.cc.
#ifndef KSTREAM_DSL_SUPPRESS_H_
#define KSTREAM_DSL_SUPPRESS_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dsl/aligned_windows.h"
#include "dsl/skips.h"
#include "kstream/processor.h"
#include "kstream/store.h"
#include "kstream/windows.h"
#include "record/envelope.h"
#include "record/json_document.h"

namespace kstream::dsl {

struct SuppressPlan {
  std::optional<WindowSpec> window = {};  // until it closes; else
  std::chrono::milliseconds limit{0};
  std::string store = {};
  std::shared_ptr<SkipTotals> skips = std::make_shared<SkipTotals>();
};

class Suppress final : public Processor {
 public:
  explicit Suppress(const SuppressPlan& plan);

  Status Init(ProcessorContext& context) override;
  Status Process(const Record& change) override;
  Status Flush() override;
  Status EndInput() override;
  void Close() override;

 private:
  static constexpr int64_t kNoTime = INT64_MIN / 2, kEnd = INT64_MAX - 1;
  using Due = std::pair<int64_t, std::string>;  // and the key

  // When the window closes that a record key is of. kData: it tells of none.
  Result<int64_t> CloseOf(std::string_view key);
  // When a row that is held is due; nullopt: none is.
  Result<std::optional<int64_t>> Held(std::string_view key);
  Status Hold(const Record& change, int64_t due);
  Status Drop(std::string_view key);
  // Those from a timer on that are due until then, some thousands of them at most.
  Result<std::vector<Due>> DueFrom(const std::string& timer, int64_t until) const;
  Status LetGo(int64_t until);
  Status Forward(const Due& due);
  Status DeleteGone(int64_t committed);

  const std::optional<WindowSpec> window_;
  std::optional<AlignedWindows> aligned_;
  const int64_t limit_;
  const std::string store_name_;
  Skips skips_;
  ProcessorContext* context_ = nullptr;
  KeyValueStore* store_ = nullptr;
  int64_t gone_until_ = kNoTime;  // all that was due then has gone
  int64_t deleted_until_ = kNoTime;
  StoredRow row_;
  json::Reader reader_;
  EnvelopeReader envelopes_;
  std::string text_;
};

}  // namespace kstream::dsl

#endif  // KSTREAM_DSL_SUPPRESS_H_
