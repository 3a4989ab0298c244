// Expression: jq text or JsonLogic, compiled once and shared by every task that evaluates it.
#ifndef KSTREAM_EXPRESSION_H_
#define KSTREAM_EXPRESSION_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kstream/export.h"
#include "kstream/status.h"

namespace kstream {

namespace expr {
class Program;
}

// How to read an expression's text. kAuto is the rule of the command line: a JSON object with
// exactly one key that is a JsonLogic operator is JsonLogic, everything else is jq.
enum class Language { kAuto, kJq, kJsonLogic };

// Immutable and cheap to copy. Threads: may be shared.
class KSTREAM_EXPORT Expression {
 public:
  // kExpression on failure, with line:column and what is wrong there. `names` are those that may be
  // used beside the record's own ($key $timestamp $topic $partition $offset $cluster $headers
  // $headers_list): "out", "left", "right", "acc".
  static Result<Expression> Compile(std::string_view text, Language language = Language::kAuto,
                                    const std::vector<std::string>& names = {});

  std::string_view text() const;
  // Whether the compiled evaluator runs it; otherwise libjq does, and why_libjq() names the
  // construct.
  bool fast() const;
  std::string_view why_libjq() const;
  // False when the result is the same for every record.
  bool depends_on_record() const;
  // False when it reads a clock or the like, so that two runs may differ.
  bool deterministic() const;

  const std::shared_ptr<const expr::Program>& program() const { return program_; }

 private:
  explicit Expression(std::shared_ptr<const expr::Program> program);
  std::shared_ptr<const expr::Program> program_;
};

}  // namespace kstream

#endif  // KSTREAM_EXPRESSION_H_
