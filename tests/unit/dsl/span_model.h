// What an aggregate by session or sliding window should give, from all records at once: a model
// that is slow and plain. It counts the records of a group, and sums what they have.
#ifndef KSTREAM_TESTS_UNIT_DSL_SPAN_MODEL_H_
#define KSTREAM_TESTS_UNIT_DSL_SPAN_MODEL_H_

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "kstream/windows.h"

namespace kstream {

struct ModelRecord {
  std::string key;
  int64_t time = 0;
  int64_t value = 0;
};

// end, start and key: the order in which rows come.
using ModelWindow = std::tuple<int64_t, int64_t, std::string>;

struct ModelRow {
  int64_t count = 0, sum = 0;
  bool operator==(const ModelRow&) const = default;
};

inline std::string RowText(const ModelWindow& window, const ModelRow& row) {
  const auto& [end, start, key] = window;
  return fmt::format(R"({{"key":"{}","window_start":{},"window_end":{},"count":{},"sum":{}}})", key,
                     start, end, row.count, row.sum) +
         "\n";
}

// Several keys; mostly in order, with jumps, equal times and records from long ago.
inline std::vector<ModelRecord> RandomRecords(uint32_t seed, int count) {
  std::mt19937 random(seed);
  std::vector<ModelRecord> records;
  int64_t now = random() % 3 == 0 ? 0 : 100'000;
  const uint32_t step = 1 + random() % 8;
  for (int i = 0; i < count; i++) {
    now += random() % step;
    if (random() % 50 == 0) now += random() % 200;
    int64_t time = now;
    if (random() % 3 == 0) time -= random() % 30;
    records.push_back({std::string(1, static_cast<char>('a' + random() % 3)),
                       std::max<int64_t>(time, 0), static_cast<int64_t>(random() % 100)});
  }
  return records;
}

// The rows that come, and how many records are late.
struct ModelResult {
  std::string rows;
  int64_t late = 0;
};

// Those that have closed are frozen; the others are found anew among all records after each.
inline ModelResult SessionModel(const std::vector<ModelRecord>& records, int64_t gap,
                                int64_t grace) {
  using Session = std::vector<ModelRecord>;
  std::map<std::string, std::vector<ModelRecord>> open;  // by key, by time
  const auto sessions_of = [gap](const std::vector<ModelRecord>& sorted) {
    std::vector<Session> sessions;
    for (const ModelRecord& record : sorted) {
      if (sessions.empty() || record.time > sessions.back().back().time + gap) {
        sessions.emplace_back();
      }
      sessions.back().push_back(record);
    }
    return sessions;
  };
  ModelResult result;
  const auto close = [&](int64_t before) {
    std::map<ModelWindow, ModelRow> rows;
    for (auto& [key, sorted] : open) {
      const std::vector<Session> sessions = sessions_of(sorted);
      sorted.clear();
      for (const Session& session : sessions) {
        const int64_t end = session.back().time;
        if (end >= before) {
          sorted.insert(sorted.end(), session.begin(), session.end());
          continue;
        }
        ModelRow& row = rows[{end, session.front().time, key}];
        for (const ModelRecord& record : session) row.count++, row.sum += record.value;
      }
    }
    for (const auto& [window, row] : rows) result.rows += RowText(window, row);
  };
  int64_t now = INT64_MIN / 2;
  for (const ModelRecord& record : records) {
    now = std::max(now, record.time);
    std::vector<ModelRecord>& sorted = open[record.key];
    // One that joins a session which is still open because of a later record is not late.
    bool taken = record.time + gap + grace >= now;
    for (const Session& session : sessions_of(sorted)) {
      taken = taken || (session.front().time - gap <= record.time &&
                        record.time <= session.back().time + gap &&
                        session.back().time + gap + grace >= now);
    }
    if (taken) {
      sorted.insert(std::ranges::upper_bound(sorted, record.time, {}, &ModelRecord::time), record);
    } else {
      result.late++;
    }
    close(now - gap - grace);
  }
  close(INT64_MAX);
  return result;
}

// KIP-450: windows of `size`, both ends included: one that ends with each record (or [0, size] for
// one that is earlier), and one that begins after it if that has records. A window has those that
// came before it closed, when stream time was past its end by more than grace; one that would have
// closed before it came to be is none.
inline ModelResult SlidingModel(const std::vector<ModelRecord>& records, int64_t size,
                                int64_t grace) {
  ModelResult result;
  std::map<std::string, std::vector<ModelRecord>> taken;
  int64_t closed = INT64_MIN / 2;  // all windows that end at it, or before, have closed
  const auto close = [&](int64_t until) {
    std::map<ModelWindow, ModelRow> rows;
    for (const auto& [key, of_key] : taken) {
      std::set<int64_t> ends;
      for (const ModelRecord& record : of_key) {
        ends.insert(std::max(record.time, size));
        ends.insert(record.time + 1 + size);
      }
      for (const int64_t end : ends) {
        if (end <= closed || end > until) continue;
        ModelRow row;
        for (const ModelRecord& record : of_key) {
          if (record.time < end - size || record.time > end) continue;
          row.count++;
          row.sum += record.value;
        }
        if (row.count > 0) rows[{end, end - size, key}] = row;
      }
    }
    for (const auto& [window, row] : rows) result.rows += RowText(window, row);
    closed = std::max(closed, until);
  };
  int64_t now = INT64_MIN / 2;
  for (const ModelRecord& record : records) {
    now = std::max(now, record.time);
    if (record.time + 1 + size < now - grace) {
      result.late++;
    } else {
      taken[record.key].push_back(record);
    }
    close(now - grace - 1);
  }
  close(INT64_MAX);
  return result;
}

inline ModelResult SpanModel(WindowSpec::Kind kind, const std::vector<ModelRecord>& records,
                             int64_t length, int64_t grace) {
  return kind == WindowSpec::Kind::kSession ? SessionModel(records, length, grace)
                                            : SlidingModel(records, length, grace);
}

// `length`: the gap of sessions, the size of sliding windows.
inline WindowSpec SpanWindow(WindowSpec::Kind kind, int64_t length, int64_t grace) {
  WindowSpec spec{.kind = kind, .grace = std::chrono::milliseconds(grace)};
  (kind == WindowSpec::Kind::kSession ? spec.gap : spec.size) = std::chrono::milliseconds(length);
  return spec;
}

// Of a test suite whose parameter it is.
inline std::string NameOfSpans(const testing::TestParamInfo<WindowSpec::Kind>& kind) {
  return kind.param == WindowSpec::Kind::kSession ? "Session" : "Sliding";
}

inline std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

}  // namespace kstream

#endif  // KSTREAM_TESTS_UNIT_DSL_SPAN_MODEL_H_
