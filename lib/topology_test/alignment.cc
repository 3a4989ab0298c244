#include "topology_test/alignment.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace kstream::topology_test {
namespace {

// Beyond it what differs is shown as replaced, item by item.
constexpr size_t kMostCells = 4'000'000;
// States of the search over partitions, each left once.
constexpr size_t kMostStates = 100'000;

// Items that have no partner, side by side as far as there are two.
void AppendGap(size_t wanted, size_t wanted_end, size_t came, size_t came_end,
               std::vector<Pair>* pairs) {
  while (wanted < wanted_end || came < came_end) {
    Pair pair;
    if (wanted < wanted_end) pair.wanted = wanted++;
    if (came < came_end) pair.came = came++;
    pairs->push_back(pair);
  }
}

// lengths[w][c]: of the longest common subsequence of what follows w and c.
class Lengths {
 public:
  Lengths(size_t wanted, size_t came) : columns_(came + 1), cells_((wanted + 1) * columns_) {}
  uint32_t& at(size_t w, size_t c) { return cells_[w * columns_ + c]; }

 private:
  size_t columns_;
  std::vector<uint32_t> cells_;
};

// The middle, whose ends differ: [w, w_end) against [c, c_end).
void AlignMiddle(size_t w, size_t w_end, size_t c, size_t c_end, const Fits& fits,
                 std::vector<Pair>* pairs) {
  const size_t rows = w_end - w, columns = c_end - c;
  if (rows == 0 || columns == 0 || rows > kMostCells / columns) {
    AppendGap(w, w_end, c, c_end, pairs);
    return;
  }
  Lengths lengths(rows, columns);
  std::vector<bool> same(rows * columns);
  for (size_t i = rows; i-- > 0;) {
    for (size_t j = columns; j-- > 0;) {
      same[i * columns + j] = fits(w + i, c + j);
      lengths.at(i, j) = same[i * columns + j]
                             ? lengths.at(i + 1, j + 1) + 1
                             : std::max(lengths.at(i + 1, j), lengths.at(i, j + 1));
    }
  }
  size_t i = 0, j = 0, gap_i = 0, gap_j = 0;
  while (i < rows && j < columns) {
    if (same[i * columns + j]) {
      AppendGap(w + gap_i, w + i, c + gap_j, c + j, pairs);
      pairs->push_back({w + i++, c + j++, true});
      gap_i = i;
      gap_j = j;
    } else if (lengths.at(i + 1, j) >= lengths.at(i, j + 1)) {
      ++i;
    } else {
      ++j;
    }
  }
  AppendGap(w + gap_i, w_end, c + gap_j, c_end, pairs);
}

// Takes wanted items one by one, each from the head of some partition.
class Interleaving {
 public:
  Interleaving(size_t wanted, const std::vector<int32_t>& partitions, const Fits& fits)
      : wanted_(wanted), fits_(fits) {
    std::map<int32_t, std::vector<size_t>> queues;
    for (size_t c = 0; c < partitions.size(); ++c) queues[partitions[c]].push_back(c);
    for (auto& [partition, queue] : queues) queues_.push_back(std::move(queue));
    heads_.resize(queues_.size());
  }

  // What came for each wanted item, as far as it goes.
  std::vector<size_t> Find() {
    while (taken_.size() < wanted_) {
      if (Take()) {
        if (taken_.size() > best_.size()) best_ = Chosen();
      } else if (!Back()) {
        break;
      }
    }
    return best_;
  }

 private:
  // The next one, from the first partition from `from_` on whose head fits.
  bool Take() {
    for (size_t q = from_; q < queues_.size(); ++q) {
      const bool more = heads_[q] < queues_[q].size();
      if (!more || !fits_(taken_.size(), queues_[q][heads_[q]])) continue;
      ++heads_[q];
      if (seen_.size() >= kMostStates || !seen_.insert(heads_).second) {
        --heads_[q];
        continue;
      }
      taken_.push_back(q);
      from_ = 0;
      return true;
    }
    return false;
  }
  bool Back() {
    if (taken_.empty()) return false;
    from_ = taken_.back() + 1;
    --heads_[taken_.back()];
    taken_.pop_back();
    return true;
  }
  std::vector<size_t> Chosen() const {
    std::vector<size_t> chosen, heads(queues_.size());
    for (const size_t q : taken_) chosen.push_back(queues_[q][heads[q]++]);
    return chosen;
  }

  const size_t wanted_;
  const Fits& fits_;
  std::vector<std::vector<size_t>> queues_;
  std::vector<size_t> heads_, taken_, best_;
  std::set<std::vector<size_t>> seen_;
  size_t from_ = 0;
};

// For each wanted item what came for it, by augmenting paths.
class Matching {
 public:
  Matching(size_t wanted, size_t came, const Fits& fits)
      : came_(came), fits_(fits), owner_(came), partner_(wanted) {
    for (size_t w = 0; w < wanted; ++w) {
      visited_.assign(came, false);
      Augment(w);
    }
  }
  const std::vector<std::optional<size_t>>& partner() const { return partner_; }

 private:
  bool Augment(size_t w) {
    for (size_t c = 0; c < came_; ++c) {
      if (visited_[c] || !fits_(w, c)) continue;
      visited_[c] = true;
      if (owner_[c] && !Augment(*owner_[c])) continue;
      owner_[c] = w;
      partner_[w] = c;
      return true;
    }
    return false;
  }

  const size_t came_;
  const Fits& fits_;
  std::vector<std::optional<size_t>> owner_, partner_;
  std::vector<bool> visited_;
};

// What has no partner among `came`, in order.
std::vector<size_t> Rest(size_t came, const std::set<size_t>& taken) {
  std::vector<size_t> rest;
  for (size_t c = 0; c < came; ++c) {
    if (!taken.contains(c)) rest.push_back(c);
  }
  return rest;
}

}  // namespace

std::vector<Pair> AlignInOrder(size_t wanted, size_t came, const Fits& fits) {
  std::vector<Pair> pairs;
  size_t begin = 0;
  while (begin < std::min(wanted, came) && fits(begin, begin)) {
    pairs.push_back({begin, begin, true});
    ++begin;
  }
  size_t tail = 0;
  while (tail < std::min(wanted, came) - begin && fits(wanted - tail - 1, came - tail - 1)) ++tail;
  AlignMiddle(begin, wanted - tail, begin, came - tail, fits, &pairs);
  for (; tail > 0; --tail) pairs.push_back({wanted - tail, came - tail, true});
  return pairs;
}

std::vector<Pair> AlignInterleaved(size_t wanted, const std::vector<int32_t>& partitions,
                                   const Fits& fits) {
  const std::vector<size_t> chosen = Interleaving(wanted, partitions, fits).Find();
  std::vector<Pair> pairs;
  for (size_t w = 0; w < chosen.size(); ++w) pairs.push_back({w, chosen[w], true});
  const std::vector<size_t> rest = Rest(partitions.size(), {chosen.begin(), chosen.end()});
  const size_t first = chosen.size();
  const auto fits_rest = [&](size_t w, size_t c) { return fits(first + w, rest[c]); };
  for (Pair pair : AlignInOrder(wanted - first, rest.size(), fits_rest)) {
    if (pair.wanted) pair.wanted = first + *pair.wanted;
    if (pair.came) pair.came = rest[*pair.came];
    // Out of its turn, or the search would have taken it.
    pairs.push_back(pair);
  }
  return pairs;
}

std::vector<Pair> AlignInAnyOrder(size_t wanted, size_t came, const Fits& fits) {
  const Matching matching(wanted, came, fits);
  std::set<size_t> taken;
  for (const auto& partner : matching.partner()) {
    if (partner) taken.insert(*partner);
  }
  const std::vector<size_t> rest = Rest(came, taken);
  std::vector<Pair> pairs;
  size_t next = 0;
  for (size_t w = 0; w < wanted; ++w) {
    Pair pair{.wanted = w, .came = matching.partner()[w], .same = true};
    if (!pair.came) {
      pair.same = false;
      if (next < rest.size()) pair.came = rest[next++];
    }
    pairs.push_back(pair);
  }
  while (next < rest.size()) pairs.push_back({.came = rest[next++]});
  return pairs;
}

}  // namespace kstream::topology_test
