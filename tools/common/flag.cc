#include "common/flag.h"

#include <algorithm>

#include "kstream/nearest.h"

namespace kstream::tools {
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

std::string_view NearestFlag(const CommandLine& line, std::string_view name) {
  std::vector<std::string_view> names;
  for (const FlagGroup& group : line.groups) {
    for (const Flag& flag : group.flags) {
      for (const std::string_view candidate : Names(flag)) {
        if (candidate.starts_with("--")) names.push_back(candidate.substr(2));
      }
    }
  }
  return NearestName(name.substr(2), names);
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

}  // namespace kstream::tools
