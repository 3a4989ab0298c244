// Records whose keys repeat, and which of them are to be kept: by a list of what was kept that is
// searched from end to end.
#ifndef KSTREAM_TESTS_UNIT_DSL_DISTINCT_MODEL_H_
#define KSTREAM_TESTS_UNIT_DSL_DISTINCT_MODEL_H_

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

namespace kstream {

struct KeyedTime {
  std::string key;
  int64_t time = 0;
  int number = 0;  // its offset, and its value
};

// Mostly in order, some out of order by up to `late`, and jumps.
inline std::vector<KeyedTime> RandomKeys(uint32_t seed, int count, int64_t late, uint32_t keys) {
  std::mt19937 random(seed);
  std::vector<KeyedTime> records;
  int64_t now = 1000;
  for (int i = 0; i < count; i++) {
    now += random() % 40 == 0 ? static_cast<int64_t>(random() % 100) : random() % 4;
    const int64_t back = random() % 3 == 0 ? static_cast<int64_t>(random()) % (late + 1) : 0;
    records.push_back({"k" + std::to_string(random() % keys), now - back, i});
  }
  return records;
}

class DistinctModel {
 public:
  DistinctModel(int64_t within, int64_t grace) : within_(within), lasts_(within + grace) {}

  bool Keeps(const KeyedTime& record) {
    now_ = std::max(now_, record.time);
    const bool repeats = std::ranges::any_of(kept_, [&](const Kept& kept) {
      return kept.record.key == record.key && kept.came + lasts_ >= now_ &&
             std::abs(kept.record.time - record.time) <= within_;
    });
    if (!repeats) kept_.push_back({record, now_});
    return !repeats;
  }
  // The numbers of those that it keeps.
  std::vector<int> Keep(const std::vector<KeyedTime>& records) {
    std::vector<int> numbers;
    for (const KeyedTime& record : records) {
      if (Keeps(record)) numbers.push_back(record.number);
    }
    return numbers;
  }

 private:
  struct Kept {
    KeyedTime record;
    int64_t came;
  };
  const int64_t within_, lasts_;
  int64_t now_ = 0;
  std::vector<Kept> kept_;
};

}  // namespace kstream

#endif  // KSTREAM_TESTS_UNIT_DSL_DISTINCT_MODEL_H_
