// WindowSpec: how an aggregate cuts the records of a group by their time. JoinWindows: how near
// records must be for a join.
//
// Windows are closed by stream time, the largest timestamp that the task has processed: a record
// belongs to a window as long as stream time, that record included, is before end + grace. One that
// no window takes any more is late. share/doc/kstream/windows.md has the edges, one by one.
#ifndef KSTREAM_WINDOWS_H_
#define KSTREAM_WINDOWS_H_

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "kstream/export.h"
#include "kstream/status.h"

namespace kstream {

struct KSTREAM_EXPORT WindowSpec {
  enum class Kind : uint8_t {
    kTumbling,  // [start, end), one after the other, each `size` long
    kHopping,   // the same, with one that begins every `advance`
    kSliding,   // [t - size, t] of each record, [t + 1, t + 1 + size] if it has records
    kSession,   // of records that are no further than `gap` from the next one
  };

  Kind kind = Kind::kTumbling;
  std::chrono::milliseconds size{0};     // all but kSession
  std::chrono::milliseconds advance{0};  // kHopping
  std::chrono::milliseconds gap{0};      // kSession
  // How long past its end a window still takes records.
  std::chrono::milliseconds grace{0};
  // How long past its end the rows of a window stay in the store, where that is longer than grace.
  std::chrono::milliseconds retention{0};
  // An IANA time zone ("Europe/Berlin"), whose days are the days that size and advance are of, with
  // 23 or 25 hours where its clocks change; empty: windows are aligned to 1970 in UTC.
  std::string zone = {};

  // "tumbling:1m", "hopping:10m/1m", "sliding:5m" or "session:30m". kUsage.
  static Result<WindowSpec> Parse(std::string_view text);
  // kUsage: no length, a hop that is longer than its window or very much shorter, a zone that is
  // unknown or without whole days.
  Status Check() const;
  // As Parse takes it, in ms: "hopping:600000ms/60000ms".
  std::string ToString() const;

  bool operator==(const WindowSpec&) const = default;
};

// How a join of two streams brings records together: a right record is near enough to a left one of
// time t from t - before to t + after, both edges included.
struct KSTREAM_EXPORT JoinWindows {
  std::chrono::milliseconds before{0}, after{0};
  // How long past that a record waits for others that are out of order.
  std::chrono::milliseconds grace{0};

  static JoinWindows Within(std::chrono::milliseconds distance) { return {distance, distance}; }
  // kUsage: a length below 0, or too long.
  Status Check() const;
};

}  // namespace kstream

#endif  // KSTREAM_WINDOWS_H_
