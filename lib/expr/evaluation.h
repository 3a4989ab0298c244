// Evaluates a tree, one record after another: the fast path.
//
// jq programs are generators. Most expressions, though, give exactly one output; the parser marks
// them, and One() evaluates those by plain recursion with values in registers. Each() evaluates the
// rest by calling a continuation for every output, so that nothing is collected that the program
// does not ask for. All memory comes from an arena that is reset per record: a usual filter or
// projection allocates nothing.
//
// What hostile programs or records could make large is bounded: the arena (Arena::kLimit), the
// number of outputs between generators (kStepLimit), the depth of the tree (by the parser).
// Tested by tests/unit/expr/jq_oracle_test.cc and agreement_test.cc; tests/fuzz/jq_fuzz.cc.
#ifndef KSTREAM_EXPR_EVALUATION_H_
#define KSTREAM_EXPR_EVALUATION_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "expr/builtins.h"
#include "expr/tree.h"
#include "expr/value.h"
#include "record/json_document.h"

namespace kstream::expr {

// A view of a callable that takes an output and says whether to go on.
class Sink {
 public:
  template <typename F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, Sink>)
      Sink(F&& f)  // NOLINT(google-explicit-constructor): made in the call
      : object_(const_cast<void*>(static_cast<const void*>(&f))), call_([](void* object, Value v) {
          return (*static_cast<std::remove_reference_t<F>*>(object))(v);
        }) {}
  bool operator()(Value v) const { return call_(object_, v); }

 private:
  void* object_;
  bool (*call_)(void*, Value);
};

class Evaluation {
 public:
  static constexpr uint64_t kStepLimit = 200'000'000;

  explicit Evaluation(const Tree& tree) : variables_(tree.variables) {}

  // Forgets the last record: all values made so far are gone.
  void Reset() {
    arena_.Reset();
    failed_ = false;
    steps_ = 0;
  }
  void SetName(Name name, Value v) { names_[static_cast<size_t>(name)] = v; }
  void set_step_limit(uint64_t limit) { step_limit_ = limit; }
  Arena* arena() { return &arena_; }

  // For nodes that are `single`: the output, or an error value.
  Value One(const Node& node, Value in);
  // Calls `sink` with each output. False: it failed(), or the sink said stop.
  bool Each(const Node& node, Value in, Sink sink);

  // Counts one turn of a loop that a program or its data may make long. False, and failed(), when
  // it has been enough or the arena is full.
  bool Step();
  // Records what went wrong, and is the error value.
  Value Fail(std::string message);
  bool failed() const { return failed_; }
  const std::string& error() const { return error_; }

  // --- what jq's operators do, on values (operations.cc) ---
  Value Field(Value v, Value name);
  Value Index(Value v, Value index);
  Value Slice(Value v, Value from, Value to);
  Value Binary(Op op, Value a, Value b);
  Value Negate(Value v);
  Value Indices(Value v, Value what);  // positions of `what` in an array or string; or null
  Value AsString(Value v);             // tostring
  std::string Describe(Value v);       // "number (5)"
  // Every item or member's value. False as Each().
  bool EachItem(Value v, Sink sink);

 private:
  // What becomes of a place that an assignment reaches.
  struct Change {
    enum class What : uint8_t { kSet, kSame, kRemove, kFailed } what;
    Value value;
  };
  class Changer;

  // evaluation.cc
  Value OneObject(const Node& node, Value in);
  Value OneInterpolation(const Node& node, Value in);
  bool EachOptional(const Node& node, Value in, Sink sink);
  Value Step(const Node& node, Value target, Value b, Value c);
  bool EachStep(const Node& node, Value in, Sink sink);
  bool EachBinary(const Node& node, Value in, Sink sink);
  bool EachLogic(const Node& node, Value in, Sink sink);
  bool EachAlternative(const Node& node, Value in, Sink sink);
  bool EachTry(const Node& node, Value in, Sink sink);
  bool EachMember(const Node& node, Value in, size_t member, std::vector<Value>* parts, Sink sink);
  bool EachPart(const Node& node, Value in, size_t left, std::vector<Value>* parts, Sink sink);
  bool EachRecursive(Value v, Sink sink);
  Value Joined(const std::vector<Value>& parts);
  Value Collect(const Node* node, Value in);

  // operations.cc
  Value Add(Value a, Value b);
  Value Subtract(Value a, Value b);
  Value Multiply(Value a, Value b);
  Value Divide(Value a, Value b);
  Value Merge(Value a, Value b);
  Value Repeat(Value string, double times);
  Value CannotBe(Value a, Value b, std::string_view done);
  bool SliceIndex(Value index, Value* from, Value* to);
  bool Bounds(Value from, Value to, int64_t length, int64_t* begin, int64_t* end);

  // functions.cc
  Value OneCall(const Node& node, Value in);
  bool EachCall(const Node& node, Value in, Sink sink);
  Value OfInput(Builtin builtin, Value in);
  Value WithArgument(Builtin builtin, Value in, Value argument);
  Value AnyOrAll(const Node& node, Value in, bool any);
  Value Length(Value in);
  Value Rounded(Builtin builtin, Value in);
  // container_functions.cc
  Value Sum(Value in);
  Value Keys(Value in, bool sorted);
  Value ToEntries(Value in);
  Value FromEntries(Value in);
  Value Reverse(Value in);
  Value Has(Value in, Value key);
  Value Contains(Value a, Value b);
  // text_functions.cc
  Value ToNumber(Value in);
  Value FromJson(Value in);
  Value Split(Value in, Value separator);
  Value Join(Value in, Value separator);
  Value Case(Value in, bool upper);
  // sorting.cc
  Value Extreme(Value in, bool largest);
  Value Sorted(Builtin builtin, Value in, const Node* by);
  Value Plain(Value v);  // built, without escapes: quick to compare again and again

  // paths.cc
  Value Assign(const Node& node, Value in);
  Value Delete(const Node& path, Value in);
  Value MapValues(const Node& f, Value in);
  Change Update(const Node& path, Value in, const Changer& change);
  Change UpdateStep(const Node& path, Value in, Value v, const Changer& change);
  Change UpdateItems(Value v, const Changer& change);
  Change Put(Value container, Value key, const Change& change);
  Change PutMember(Value object, Value name, const Change& change);
  Change PutItem(Value array, Value index, const Change& change);
  Change PutSlice(Value array, Value from, Value to, const Change& change);
  Change Failed(std::string message);

  Arena arena_;
  std::array<Value, kNames> names_;
  std::vector<Value> variables_;
  std::string error_;
  std::string scratch_;
  std::unique_ptr<json::Reader> reader_;  // for fromjson, made when first needed
  uint64_t steps_ = 0;
  uint64_t step_limit_ = kStepLimit;
  bool failed_ = false;
};

}  // namespace kstream::expr

#endif  // KSTREAM_EXPR_EVALUATION_H_
