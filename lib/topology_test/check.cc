#include "topology_test/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "topology_test/alignment.h"

namespace kstream::topology_test {
namespace {

using topology_file::FileValue;

// Of items that are as expected, around those that are not; and of the latter.
constexpr size_t kContext = 2;
constexpr size_t kMostShown = 10;

class Comparison {
 public:
  Comparison(const Expectation& expectation, const std::vector<Item>& came, std::string_view item)
      : expectation_(expectation), came_(came), item_(item), pairs_(Align()) {}

  bool Passed() const { return std::ranges::all_of(pairs_, &Pair::same); }

  std::vector<std::string> Lines() const {
    const auto first = std::ranges::find(pairs_, false, &Pair::same);
    std::vector<std::string> lines = {Headline(*first)};
    size_t shown = 0;
    size_t skipped = 0;
    for (size_t i = 0; i < pairs_.size(); ++i) {
      if (pairs_[i].same && !NearDifference(i)) {
        ++skipped;
        continue;
      }
      if (skipped > 0) lines.push_back(fmt::format("    ... {} as expected", skipped));
      skipped = 0;
      if (!pairs_[i].same && ++shown > kMostShown) {
        lines.emplace_back("    ... and more");
        return lines;
      }
      Show(pairs_[i], &lines);
    }
    if (skipped > 0) lines.push_back(fmt::format("    ... {} as expected", skipped));
    return lines;
  }

  // The list as it would have to be.
  TextEdit Edit(std::string_view file) const {
    const FileValue list = expectation_.list;
    const auto& items = expectation_.items;
    const std::string_view raw = list.Raw();
    const size_t begin = list.offset();
    const auto end_of = [](const WantedItem& item) {
      return item.at().offset() + item.at().Raw().size();
    };
    std::string_view before, after;
    std::string between = ",\n" + std::string(ColumnOf(file, begin) + 1, ' ');
    if (!items.empty()) {
      before = raw.substr(1, items.front().at().offset() - begin - 1);
      after =
          raw.substr(end_of(items.back()) - begin, raw.size() - 1 - (end_of(items.back()) - begin));
    }
    if (items.size() > 1) {
      const size_t from = end_of(items[0]);
      between = file.substr(from, items[1].at().offset() - from);
    } else if (before.find('\n') != before.npos) {
      between = "," + std::string(before);
    }
    std::string text = "[";
    for (const Pair& pair : pairs_) {
      if (!pair.came) continue;
      text += text.size() == 1 ? std::string(before) : between;
      text += Written(pair);
    }
    if (text.size() > 1) text += after;
    return {begin, raw.size(), text + "]"};
  }

 private:
  std::vector<Pair> Align() const {
    const auto& items = expectation_.items;
    const Fits fits = [&](size_t w, size_t c) { return !items[w].Difference(came_[c]); };
    if (expectation_.any_order) return AlignInAnyOrder(items.size(), came_.size(), fits);
    std::vector<int32_t> partitions;
    for (const Item& item : came_) partitions.push_back(item.partition());
    if (std::set(partitions.begin(), partitions.end()).size() > 1) {
      return AlignInterleaved(items.size(), partitions, fits);
    }
    return AlignInOrder(items.size(), came_.size(), fits);
  }

  std::string Headline(const Pair& pair) const {
    const auto& [name, at] = expectation_.name;
    if (pair.wanted) {
      return AtPlace(expectation_.items[*pair.wanted].at(),
                     fmt::format("{}: {} {} {}", name, item_, *pair.wanted + 1,
                                 pair.came ? "is not as expected" : "is missing"));
    }
    if (expectation_.items.empty())
      return AtPlace(at, fmt::format("{}: no {} is expected", name, item_));
    return AtPlace(at, fmt::format("{}: a {} came that is not expected", name, item_));
  }

  bool NearDifference(size_t i) const {
    const size_t from = i - std::min(i, kContext), to = std::min(pairs_.size(), i + kContext + 1);
    return std::any_of(pairs_.begin() + from, pairs_.begin() + to,
                       [](const Pair& pair) { return !pair.same; });
  }

  void Show(const Pair& pair, std::vector<std::string>* lines) const {
    const WantedItem* const wanted = pair.wanted ? &expectation_.items[*pair.wanted] : nullptr;
    if (pair.same) {
      lines->push_back("      " + wanted->Text());
      return;
    }
    if (wanted != nullptr) lines->push_back("    - " + wanted->Text());
    if (!pair.came) return;
    const Item& came = came_[*pair.came];
    lines->push_back("    + " + (wanted != nullptr ? wanted->Like(came) : came.Text()));
    if (wanted == nullptr) return;
    // None: it is the one that is expected, out of its turn.
    lines->push_back("      " + wanted->Difference(came).value_or("comes too early or too late"));
  }

  std::string Written(const Pair& pair) const {
    const auto& items = expectation_.items;
    if (pair.same) return std::string(items[*pair.wanted].at().Raw());
    const Item& came = came_[*pair.came];
    if (pair.wanted) return items[*pair.wanted].Rewritten(came);
    return items.empty() ? came.Text() : items.back().Like(came);
  }

  // From 0, of a byte.
  static size_t ColumnOf(std::string_view file, size_t at) {
    const size_t line = file.rfind('\n', at);
    return line == file.npos ? at : at - line - 1;
  }

  const Expectation& expectation_;
  const std::vector<Item>& came_;
  const std::string_view item_;
  const std::vector<Pair> pairs_;
};

}  // namespace

CheckResult CheckItems(const Expectation& expectation, const std::vector<Item>& came,
                       std::string_view item, std::string_view file) {
  const Comparison comparison(expectation, came, item);
  if (comparison.Passed()) return {};
  return {comparison.Lines(), {comparison.Edit(file)}};
}

std::string AtPlace(FileValue at, std::string_view message) {
  return std::string(at.Error(message).message());
}

}  // namespace kstream::topology_test
