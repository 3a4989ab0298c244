// Expressions: compiled once, evaluated for each record.
//
//   jq text or JsonLogic  --front end-->  one tree  -->  the fast evaluator, over json::Document
//                                             \-->  libjq, for all of jq that the tree does not
//                                             hold
//
// A Program is immutable and shared by threads; each thread has an Evaluator of its own.
#ifndef KSTREAM_EXPR_PROGRAM_H_
#define KSTREAM_EXPR_PROGRAM_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kstream/record.h"
#include "kstream/status.h"
#include "record/serde.h"

namespace kstream::expr {

enum class Engine : uint8_t { kFast, kLibjq };
enum class Language : uint8_t { kAuto, kJq, kJsonLogic };  // kAuto: the rule of the command line

struct CompileOptions {
  Language language = Language::kAuto;
  // Names without the dollar that may be used beside the record's own (key timestamp topic
  // partition offset cluster headers headers_list): "out", "left", "right", "acc". Others do not
  // compile.
  std::vector<std::string> extra_names;
  bool force_libjq = false;  // for the tests that compare the two engines
};

class Program {
 public:
  // kExpression on failure; the message gives line:column of the expression and what is wrong
  // there.
  static Result<std::shared_ptr<const Program>> Compile(std::string_view text,
                                                        const CompileOptions& options = {});
  ~Program();

  Engine engine() const;
  // Why the fast evaluator does not take it (which construct, where); empty for kFast.
  std::string_view fallback_reason() const;
  // Whether it reads the value (`.`), and whether it can depend on the record at all.
  bool reads_value() const;
  bool depends_on_record() const;
  // Uses `now` or the like: results differ between runs.
  bool deterministic() const;
  std::string_view text() const;
  // Whether the text was read as JsonLogic, not as jq.
  bool json_logic() const;

  struct Rep;
  explicit Program(std::unique_ptr<Rep> rep);
  const Rep& rep() const { return *rep_; }

 private:
  std::unique_ptr<Rep> rep_;
};

// What an evaluation may look at.
struct Input {
  const Record* record = nullptr;
  // JSON texts for $out, $left, $right, $acc; a null data() means absent, which reads as null.
  std::string_view out, left, right, acc;
};

// Evaluates one program on one thread.
class Evaluator {
 public:
  // `serdes` say how bytes become `$key` and `.` (`-s key=`, `-s value=`).
  explicit Evaluator(std::shared_ptr<const Program> program, const Serdes& serdes = {});
  ~Evaluator();
  Evaluator(Evaluator&&) noexcept;

  // *keep = some output is neither false nor null (jq), or the result is truthy (JsonLogic).
  // kData: the value is not JSON, or the expression failed on it.
  Status Test(const Input& input, bool* keep);

  // Calls `each` with every output as one line of compact JSON, valid during the call; stops at its
  // first failure. Spelling of what the program does not change is kept.
  Status ForEach(const Input& input, const std::function<Status(std::string_view json)>& each);

 private:
  struct Rep;
  std::unique_ptr<Rep> rep_;
};

}  // namespace kstream::expr

#endif  // KSTREAM_EXPR_PROGRAM_H_
