#include "metrics/names.h"

#include "metrics/registry.h"

namespace kstream::metrics {
namespace {

constexpr bool IsName(std::string_view name) {
  return !name.empty() &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == std::string_view::npos;
}

constexpr bool AreNames(std::string_view words) {
  bool good = true;
  ForEachWord(words, [&](std::string_view word) { good = good && IsName(word); });
  return good && (words.empty() || words.back() != ' ');
}

constexpr bool Rise(std::span<const double> bounds) {
  for (size_t i = 1; i < bounds.size(); i++) {
    if (bounds[i - 1] >= bounds[i]) return false;
  }
  return true;
}

constexpr bool LabelsExist(std::string_view labels) {
  bool good = true;
  ForEachWord(labels, [&](std::string_view label) { good = good && Labels::Knows(label); });
  return good;
}

// What the exposition format, its client library and the pages rely on.
constexpr bool IsGood(const Family& family) {
  return IsName(family.name) && family.name.starts_with("kstream_") &&
         family.name.ends_with("_total") == (family.type == Type::kCounter) &&
         AreNames(family.labels) && LabelsExist(family.labels) && family.help.ends_with('.') &&
         family.help.find_first_of("\\\n|") == std::string_view::npos &&
         family.buckets.empty() == (family.type != Type::kHistogram) && Rise(family.buckets) &&
         family.states.empty() == (family.type != Type::kState) && AreNames(family.states);
}

constexpr bool AllGood() {
  for (size_t i = 0; i < std::size(kFamilies); i++) {
    if (!IsGood(kFamilies[i])) return false;
    for (size_t j = 0; j < i; j++) {
      if (kFamilies[i].name == kFamilies[j].name) return false;
    }
  }
  return true;
}

static_assert(AllGood(), "a row of kFamilies breaks a rule of IsGood, or comes twice");

}  // namespace
}  // namespace kstream::metrics
