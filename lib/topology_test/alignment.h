// Alignment: which of the items that came are those that a test expects, and where the two lists
// part. Three ways to compare them:
//
//   in order      one after the other: the longest common subsequence, as diff finds it, so that
//                 one item too many does not make all that follow it wrong
//   interleaved   of several partitions: the order counts within each of them, and how they
//                 interleave is the test's choice. Items left open by the test may fit into several
//                 partitions, so the search goes back where it must
//   in any order  the largest matching between the two
//
// Tested by tests/unit/topology_test/alignment_test.cc.
#ifndef KSTREAM_TOPOLOGY_TEST_ALIGNMENT_H_
#define KSTREAM_TOPOLOGY_TEST_ALIGNMENT_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace kstream::topology_test {

// One line of the two lists side by side. Both, and not `same`: the one stands where the other
// should.
struct Pair {
  std::optional<size_t> wanted = {}, came = {};
  bool same = false;
};

// Whether wanted item `w` is what came as `c`.
using Fits = std::function<bool(size_t w, size_t c)>;

std::vector<Pair> AlignInOrder(size_t wanted, size_t came, const Fits& fits);
// `partitions`: of each item that came; those of one partition are in its order.
std::vector<Pair> AlignInterleaved(size_t wanted, const std::vector<int32_t>& partitions,
                                   const Fits& fits);
std::vector<Pair> AlignInAnyOrder(size_t wanted, size_t came, const Fits& fits);

}  // namespace kstream::topology_test

#endif  // KSTREAM_TOPOLOGY_TEST_ALIGNMENT_H_
