#include "expr/program.h"

#include "expr/jq_parser.h"
#include "expr/jsonlogic.h"
#include "expr/program_rep.h"

namespace kstream::expr {
namespace {

Status CompileJq(const CompileOptions& options, Program::Rep* rep) {
  KSTREAM_ASSIGN_OR_RETURN(JqProgram parsed, ParseJq(rep->text, options));
  rep->tree = std::move(parsed.tree);
  if (rep->tree.fallback.empty() && !options.force_libjq) return Status::Ok();
  rep->engine = Engine::kLibjq;
  rep->libjq_text = rep->text;
  if (parsed.only_definitions) rep->libjq_text += "\n.";
  KSTREAM_ASSIGN_OR_RETURN(rep->spare, Libjq::Compile(rep->libjq_text, rep->tree.names));
  return Status::Ok();
}

Status CompileJsonLogic(const CompileOptions& options, Program::Rep* rep) {
  rep->json_logic = true;
  KSTREAM_ASSIGN_OR_RETURN(rep->tree, ParseJsonLogic(rep->text, options));
  return Status::Ok();
}

}  // namespace

Program::Program(std::unique_ptr<Rep> rep) : rep_(std::move(rep)) {}
Program::~Program() = default;

Result<std::shared_ptr<const Program>> Program::Compile(std::string_view text,
                                                        const CompileOptions& options) {
  auto rep = std::make_unique<Rep>();
  rep->text = text;
  const bool json_logic = options.language == Language::kJsonLogic ||
                          (options.language == Language::kAuto && LooksLikeJsonLogic(rep->text));
  KSTREAM_RETURN_IF_ERROR(json_logic ? CompileJsonLogic(options, rep.get())
                                     : CompileJq(options, rep.get()));
  return std::shared_ptr<const Program>(std::make_shared<Program>(std::move(rep)));
}

Engine Program::engine() const { return rep_->engine; }
std::string_view Program::fallback_reason() const { return rep_->tree.fallback; }
bool Program::reads_value() const { return rep_->tree.reads_value; }
bool Program::depends_on_record() const { return rep_->tree.reads_value || rep_->tree.names != 0; }
bool Program::deterministic() const { return rep_->tree.deterministic; }
std::string_view Program::text() const { return rep_->text; }
bool Program::json_logic() const { return rep_->json_logic; }

std::unique_ptr<Libjq> Program::Rep::TakeSpare() const {
  const std::lock_guard<std::mutex> lock(mutex);
  return std::move(spare);
}

}  // namespace kstream::expr
