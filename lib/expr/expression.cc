// The public face of expr::Program.
#include "kstream/expression.h"

#include "expr/program.h"

namespace kstream {

Expression::Expression(std::shared_ptr<const expr::Program> program)
    : program_(std::move(program)) {}

Result<Expression> Expression::Compile(std::string_view text, Language language,
                                       const std::vector<std::string>& names) {
  expr::CompileOptions options;
  options.language = static_cast<expr::Language>(language);
  options.extra_names = names;
  KSTREAM_ASSIGN_OR_RETURN(auto program, expr::Program::Compile(text, options));
  return Expression(std::move(program));
}

std::string_view Expression::text() const { return program_->text(); }
bool Expression::fast() const { return program_->engine() == expr::Engine::kFast; }
std::string_view Expression::why_libjq() const { return program_->fallback_reason(); }
bool Expression::depends_on_record() const { return program_->depends_on_record(); }
bool Expression::deterministic() const { return program_->deterministic(); }

}  // namespace kstream
