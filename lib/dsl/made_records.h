// MadeRecords: what a function makes of one record, kept until the function has ended.
//
// Nothing is forwarded before all of it is there, so a function that fails halfway leaves nothing
// half done. What it emits may point anywhere, so bytes are copied, save those that lie in the
// record it was given. Tested by tests/unit/dsl/stream_test.cc.
#ifndef KSTREAM_DSL_MADE_RECORDS_H_
#define KSTREAM_DSL_MADE_RECORDS_H_

#include <cstddef>
#include <vector>

#include "base/arena.h"
#include "dsl/operator.h"
#include "kstream/record.h"
#include "kstream/status.h"

namespace kstream::dsl {

// As much as one record may become; a program without an end must not take all of the memory.
inline constexpr size_t kMostBytes = 256 << 20;
Status TooMuch();

class MadeRecords {
 public:
  // Forgets what was made. `source` must outlive what is made of it.
  void Begin(const Record& source);
  // kData, from then on, when it becomes too much.
  Status Add(const Record& made);

  size_t size() const { return made_.size(); }
  bool too_much() const { return bytes_ > kMostBytes; }
  // The records in the order they were made; each is valid until the next, or Begin.
  const Record& At(size_t i);

 private:
  struct Made {
    Record record;
    size_t first_header;  // in headers_, if they are not the source's own
  };

  std::string_view Keep(std::string_view bytes, std::string_view source);
  Bytes Keep(const Bytes& bytes, const Bytes& source);
  void KeepHeaders(Made* made);
  bool HasSourceHeaders(const Record& record) const;
  bool HasSourceValue(const Record& record) const;

  const Record* source_ = nullptr;
  Arena arena_;
  std::vector<Made> made_;
  std::vector<Header> headers_;
  size_t bytes_ = 0;  // that made_ stands for
  FreshCache cache_;
};

}  // namespace kstream::dsl

#endif  // KSTREAM_DSL_MADE_RECORDS_H_
