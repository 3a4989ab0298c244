#include "topology_test/json_difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>
#include <vector>

#include "expr/number.h"
#include "record/json_document.h"

namespace kstream::topology_test {
namespace {

using json::kNoNode;
using json::Node;
using json::Type;

struct Side {
  json::Reader reader;
  json::Document document;

  std::string Compact(Node node) const {
    std::string text;
    if (node != kNoNode) json::AppendCompact(document, node, &text);
    return text;
  }
  std::string Text(Node string) const {
    std::string text;
    json::Unescape(document.StringContent(string), &text);
    return text;
  }
};

// As jq would name the member.
std::string Step(const std::string& name) {
  const bool plain =
      !name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) == 0 &&
      std::ranges::all_of(name, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
  if (plain) return "." + name;
  std::string quoted;
  json::AppendQuoted(name, &quoted);
  return fmt::format("[{}]", quoted);
}

class JsonComparison {
 public:
  JsonComparison(const Side& wanted, const Side& came, bool whole)
      : wanted_(wanted), came_(came), whole_(whole) {}

  std::optional<JsonDifference> Values(const std::string& path, Node wanted, Node came) const {
    const Type type = wanted_.document.type(wanted);
    if (type != came_.document.type(came)) return Differ(path, wanted, came);
    switch (type) {
      case Type::kObject:
        return Objects(path, wanted, came);
      case Type::kArray:
        return Arrays(path, wanted, came);
      case Type::kString:
        if (wanted_.Text(wanted) == came_.Text(came)) return std::nullopt;
        break;
      case Type::kNumber: {
        const auto of = [](const Side& side, Node n) {
          return expr::Value::Literal(side.document.Raw(n));
        };
        if (expr::CompareNumbers(of(wanted_, wanted), of(came_, came)) == 0) return std::nullopt;
        break;
      }
      default:
        return std::nullopt;
    }
    return Differ(path, wanted, came);
  }

  std::string Rewrite(Node wanted, Node came) const {
    if (!Values("", wanted, came)) return std::string(wanted_.document.Raw(wanted));
    const Type type = wanted_.document.type(wanted);
    if (type == came_.document.type(came)) {
      if (type == Type::kObject) return RewriteObject(wanted, came);
      if (type == Type::kArray) return RewriteArray(wanted, came);
    }
    return came_.Compact(came);
  }

 private:
  using Partners = std::vector<std::pair<Node, Node>>;

  // The text of a container, each element that has a partner as that is.
  std::string Splice(Node wanted, const Partners& partners) const {
    std::string_view rest = wanted_.document.Raw(wanted);
    std::string text;
    for (const auto& [mine, other] : partners) {
      const std::string_view raw = wanted_.document.Raw(mine);
      const size_t begin = static_cast<size_t>(raw.data() - rest.data());
      text.append(rest.substr(0, begin)).append(Rewrite(mine, other));
      rest.remove_prefix(begin + raw.size());
    }
    return text.append(rest);
  }

  std::string RewriteObject(Node wanted, Node came) const {
    Partners partners;
    std::string some;
    bool all = true;
    for (Node n = wanted_.document.First(wanted); n != kNoNode;
         n = wanted_.document.Next(wanted_.document.ValueOf(n))) {
      const Node value = wanted_.document.ValueOf(n);
      const Node other = came_.document.Find(came, wanted_.Text(n));
      all &= other != kNoNode;
      if (other == kNoNode) continue;
      partners.emplace_back(value, other);
      some += fmt::format("{}{}:{}", some.empty() ? "" : ",", wanted_.document.Raw(n),
                          Rewrite(value, other));
    }
    if (all && (!whole_ || !Extra(wanted, came))) return Splice(wanted, partners);
    return whole_ ? came_.Compact(came) : "{" + some + "}";
  }

  std::string RewriteArray(Node wanted, Node came) const {
    Partners partners;
    Node a = wanted_.document.First(wanted), b = came_.document.First(came);
    for (; a != kNoNode && b != kNoNode; a = wanted_.document.Next(a), b = came_.document.Next(b)) {
      partners.emplace_back(a, b);
    }
    return a == b ? Splice(wanted, partners) : came_.Compact(came);
  }

  // The value of a member that `wanted` lacks, with its name.
  std::optional<std::pair<std::string, Node>> Extra(Node wanted, Node came) const {
    for (Node n = came_.document.First(came); n != kNoNode;
         n = came_.document.Next(came_.document.ValueOf(n))) {
      std::string name = came_.Text(n);
      if (wanted_.document.Find(wanted, name) == kNoNode) {
        return std::pair(std::move(name), came_.document.ValueOf(n));
      }
    }
    return std::nullopt;
  }

  JsonDifference Differ(const std::string& path, Node wanted, Node came) const {
    return {path, wanted_.Compact(wanted), came_.Compact(came)};
  }

  std::optional<JsonDifference> Objects(const std::string& path, Node wanted, Node came) const {
    for (Node n = wanted_.document.First(wanted); n != kNoNode;
         n = wanted_.document.Next(wanted_.document.ValueOf(n))) {
      const std::string name = wanted_.Text(n);
      const Node value = wanted_.document.ValueOf(n);
      const Node other = came_.document.Find(came, name);
      if (other == kNoNode) return Differ(path + Step(name), value, kNoNode);
      if (auto found = Values(path + Step(name), value, other)) return found;
    }
    if (!whole_) return std::nullopt;
    if (const auto extra = Extra(wanted, came)) {
      return Differ(path + Step(extra->first), kNoNode, extra->second);
    }
    return std::nullopt;
  }

  std::optional<JsonDifference> Arrays(const std::string& path, Node wanted, Node came) const {
    Node a = wanted_.document.First(wanted), b = came_.document.First(came);
    for (size_t i = 0; a != kNoNode || b != kNoNode; ++i) {
      const std::string at = fmt::format("{}[{}]", path, i);
      if (a == kNoNode || b == kNoNode) return Differ(at, a, b);
      if (auto found = Values(at, a, b)) return found;
      a = wanted_.document.Next(a);
      b = came_.document.Next(b);
    }
    return std::nullopt;
  }

  const Side& wanted_;
  const Side& came_;
  const bool whole_;
};

}  // namespace

std::optional<JsonDifference> FirstDifference(std::string_view wanted, std::string_view came,
                                              bool whole) {
  if (wanted == came) return std::nullopt;
  thread_local Side a, b;
  if (!a.reader.Parse(wanted, &a.document).ok() || !b.reader.Parse(came, &b.document).ok()) {
    return JsonDifference{"", std::string(wanted), std::string(came)};
  }
  return JsonComparison(a, b, whole).Values("", a.document.root(), b.document.root());
}

std::string Rewritten(std::string_view wanted, std::string_view came, bool whole) {
  thread_local Side a, b;
  if (!a.reader.Parse(wanted, &a.document).ok() || !b.reader.Parse(came, &b.document).ok()) {
    return std::string(came);
  }
  return JsonComparison(a, b, whole).Rewrite(a.document.root(), b.document.root());
}

}  // namespace kstream::topology_test
