// What a compiled Program holds. Private to program.cc and evaluator.cc.
#ifndef KSTREAM_EXPR_PROGRAM_REP_H_
#define KSTREAM_EXPR_PROGRAM_REP_H_

#include <memory>
#include <mutex>
#include <string>

#include "expr/libjq.h"
#include "expr/program.h"
#include "expr/tree.h"

namespace kstream::expr {

struct Program::Rep {
  // The state that the compilation made to check the program, for the first evaluator that asks.
  std::unique_ptr<Libjq> TakeSpare() const;

  std::string text;
  Tree tree;
  Engine engine = Engine::kFast;
  bool json_logic = false;
  std::string libjq_text;  // the program for libjq
  mutable std::mutex mutex;
  mutable std::unique_ptr<Libjq> spare;
};

}  // namespace kstream::expr

#endif  // KSTREAM_EXPR_PROGRAM_REP_H_
