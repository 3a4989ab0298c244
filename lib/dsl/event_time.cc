#include "dsl/event_time.h"

#include <fmt/format.h>

#include "dsl/aligned_windows.h"

namespace kstream::dsl {

Status CheckTime(const Record& record) {
  if (record.timestamp_type == TimestampType::kNone || record.timestamp < 0) {
    return Status::Data("it has no time: say with --timestamp what its time is");
  }
  if (record.timestamp > AlignedWindows::kLastTime) {
    return Status::Data(fmt::format("its time, {}, is past the year 9999: is it in milliseconds?",
                                    record.timestamp));
  }
  return Status::Ok();
}

}  // namespace kstream::dsl
