// The encoder of a file sink, with the expressions of -f compiled.
#ifndef KSTREAM_RUNTIME_ENCODING_H_
#define KSTREAM_RUNTIME_ENCODING_H_

#include <memory>
#include <string>
#include <vector>

#include "expr/single_value.h"
#include "kstream/status.h"
#include "kstream/topology.h"
#include "record/encoder.h"
#include "record/serde.h"

namespace kstream::runtime {

// Encodes for one thread.
class SinkEncoder {
 public:
  // kUsage for an unknown or mistaken format, kExpression for an expression in it.
  static Result<std::unique_ptr<SinkEncoder>> Create(const SinkSpec& spec, const Serdes& serdes);

  // Appends the record's line. kData, with nothing appended, when it cannot be written so.
  Status Append(const Record& record, std::string* out) { return encoder_->Append(record, out); }

 private:
  SinkEncoder() = default;
  Status Evaluate(const Record& record, size_t number, std::string* out);

  std::unique_ptr<RecordEncoder> encoder_;
  std::vector<expr::SingleValue> expressions_;
};

}  // namespace kstream::runtime

#endif  // KSTREAM_RUNTIME_ENCODING_H_
