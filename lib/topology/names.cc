#include "topology/names.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/printable.h"

namespace kstream {
namespace {

constexpr size_t kLongest = 249;  // of a topic's name, to Kafka

bool Legal(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '-';
}

std::optional<std::string> WrongLength(std::string_view what, std::string_view name) {
  if (name.empty()) return fmt::format("a {} without a name: give it one", what);
  if (name.size() <= kLongest) return std::nullopt;
  return fmt::format("{} '{}...': its name has {} bytes, and {} are the most", what,
                     Printable(name.substr(0, 32)), name.size(), kLongest);
}

}  // namespace

std::optional<std::string> WrongName(std::string_view what, std::string_view name) {
  if (auto wrong = WrongLength(what, name)) return wrong;
  if (name != "." && name != ".." && std::ranges::all_of(name, Legal)) return std::nullopt;
  return fmt::format("{} '{}' needs a name of letters, digits, '.', '_' and '-'", what,
                     Printable(name));
}

std::optional<std::string> WrongNodeName(std::string_view name) {
  if (auto wrong = WrongLength("node", name)) return wrong;
  const std::string printable = Printable(name);
  if (printable == name) return std::nullopt;
  return fmt::format("node '{}' needs a name of UTF-8 without control characters", printable);
}

}  // namespace kstream
