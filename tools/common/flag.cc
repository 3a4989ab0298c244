#include "common/flag.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <numeric>

namespace kstream::tools {
namespace {

// How many letters must be inserted, deleted, replaced or swapped with their neighbour to make one
// of the other.
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    before.swap(last);
    last.swap(row);
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = last[j] + (a[i] == b[j] ? 0 : 1);
      row[j + 1] = std::min({replaced, row[j] + 1, last[j + 1] + 1});
      const bool swapped = i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j];
      if (swapped) row[j + 1] = std::min(row[j + 1], before[j - 1] + 1);
    }
  }
  return row[b.size()];
}

}  // namespace

std::vector<std::string_view> Names(const Flag& flag) {
  std::vector<std::string_view> names;
  std::string_view rest = flag.names;
  while (!rest.empty()) {
    size_t comma = std::min(rest.find(','), rest.size());
    names.push_back(rest.substr(0, comma));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return names;
}

std::string_view MainName(const Flag& flag) {
  auto names = Names(flag);
  auto is_long = [](std::string_view name) { return name.starts_with("--"); };
  auto found = std::find_if(names.begin(), names.end(), is_long);
  return found == names.end() ? names.front() : *found;
}

const Flag* FindFlag(const CommandLine& line, std::string_view name) {
  for (const FlagGroup& group : line.groups) {
    for (const Flag& flag : group.flags) {
      auto names = Names(flag);
      if (std::find(names.begin(), names.end(), name) != names.end()) return &flag;
    }
  }
  return nullptr;
}

std::string_view NearestName(const CommandLine& line, std::string_view name) {
  std::string_view nearest;
  // A third of the letters may be wrong; the dashes are none.
  size_t best = std::max<size_t>(1, (name.size() - 2) / 3) + 1;
  for (const FlagGroup& group : line.groups) {
    for (const Flag& flag : group.flags) {
      for (std::string_view candidate : Names(flag)) {
        if (!candidate.starts_with("--")) continue;
        size_t distance = EditDistance(name, candidate);
        if (distance < best) {
          best = distance;
          nearest = candidate;
        }
      }
    }
  }
  return nearest;
}

Setter Set(bool* target) {
  return [target](std::string_view value) {
    if (value != "true") return Status::Usage("takes no value");
    *target = true;
    return Status::Ok();
  };
}

Setter Set(std::string* target) {
  return [target](std::string_view value) {
    // A variable of the shell that is not set: taken as no flag at all, it would change what is
    // done.
    if (value.empty()) return Status::Usage("empty value");
    *target = value;
    return Status::Ok();
  };
}

Setter Append(std::vector<std::string>* target) {
  return [target](std::string_view value) {
    target->emplace_back(value);
    return Status::Ok();
  };
}

Status ParseInteger(std::string_view text, int64_t min, int64_t max, int64_t* value) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  bool number = end == text.data() + text.size() && error != std::errc::invalid_argument;
  if (!number) return Status::Usage(fmt::format("'{}' is not a whole number", text));
  bool in_range = error == std::errc() && *value >= min && *value <= max;
  if (!in_range && max == std::numeric_limits<int64_t>::max()) {
    return Status::Usage(fmt::format("{} is not a number of at least {}", text, min));
  }
  if (!in_range) {
    return Status::Usage(fmt::format("{} is not between {} and {}", text, min, max));
  }
  return Status::Ok();
}

}  // namespace kstream::tools
