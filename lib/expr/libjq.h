// The bridge to libjq: all of jq that the tree does not hold.
//
// libjq computes with doubles, so a value crosses only if every number in it survives that; what
// would be altered is an error that names the path. Values are built for libjq from the parsed
// document, and its results printed, by us: its own parser and printer are the slower half of jq.
// Setting up a state takes some 28 ms, so there is one for each thread that needs it, made late.
// Tested by tests/unit/expr/evaluator_test.cc, agreement_test.cc and jq_oracle_test.cc.
#ifndef KSTREAM_EXPR_LIBJQ_H_
#define KSTREAM_EXPR_LIBJQ_H_

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "expr/tree.h"
#include "expr/value.h"
#include "kstream/status.h"

namespace kstream::expr {

// Deepest value that libjq takes.
inline constexpr int kLibjqMaxDepth = 256;

// One program in one state. Belongs to one thread at a time.
class Libjq {
 public:
  // `names`: bit per Name that the program reads. kExpression with libjq's own message.
  static Result<std::unique_ptr<Libjq>> Compile(std::string_view program, uint32_t names);
  ~Libjq();

  // Runs it on `input`, with values[i] for the names in order of Name. `each` as in
  // Evaluator::ForEach. kData: a value that must not cross, or an error of jq, after the outputs
  // that came before it.
  Status Run(Value input, std::span<const Value> values, Arena* arena,
             const std::function<Status(std::string_view json)>& each);
  // False after libjq ran out of memory: make another one.
  bool usable() const;

 private:
  struct Rep;
  explicit Libjq(std::unique_ptr<Rep> rep);
  std::unique_ptr<Rep> rep_;
};

}  // namespace kstream::expr

#endif  // KSTREAM_EXPR_LIBJQ_H_
