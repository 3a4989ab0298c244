// What the operators have in common: a processor that keeps its context.
#ifndef KSTREAM_DSL_OPERATOR_H_
#define KSTREAM_DSL_OPERATOR_H_

#include "expr/program.h"
#include "kstream/processor.h"
#include "record/json_document.h"

namespace kstream::dsl {

class Operator : public Processor {
 public:
  Status Init(ProcessorContext& context) final {
    context_ = &context;
    return Status::Ok();
  }

 protected:
  Status Forward(const Record& record) { return context_->Forward(record); }
  // To one child; an empty name means all.
  Status Forward(const Record& record, const std::string& child) {
    return child.empty() ? context_->Forward(record) : context_->Forward(record, child);
  }

 private:
  ProcessorContext* context_ = nullptr;
};

// What an expression sees of a record alone.
inline expr::Input InputOf(const Record& record) {
  return {.record = &record, .out = {}, .left = {}, .right = {}, .acc = {}};
}

// Why a user's function gave no value. `Status::Ok()` in place of one must not lose the record.
template <typename T>
Status WhyNone(const Result<T>& result) {
  return result.status().ok() ? Status::Data("the function gave neither a value nor a failure")
                              : result.status();
}

// The Record::cache of values that an operator makes, one at a time: all expressions below it share
// the work of parsing.
class FreshCache {
 public:
  FreshCache() { cache_.reader = &reader_; }

  // A cache for another value. `one_line`: it is valid JSON without line ends.
  json::ValueCache* Next(bool one_line) {
    cache_.Reset();
    cache_.one_line = one_line;
    return &cache_;
  }

 private:
  json::Reader reader_;
  json::ValueCache cache_;
};

}  // namespace kstream::dsl

#endif  // KSTREAM_DSL_OPERATOR_H_
