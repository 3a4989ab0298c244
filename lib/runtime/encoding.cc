#include "runtime/encoding.h"

#include "record/format.h"

namespace kstream::runtime {

Result<std::unique_ptr<SinkEncoder>> SinkEncoder::Create(const SinkSpec& spec,
                                                         const Serdes& serdes) {
  KSTREAM_ASSIGN_OR_RETURN(const OutputFormat format, ParseOutputFormat(spec.format));
  std::unique_ptr<SinkEncoder> encoder(new SinkEncoder());
  if (format != OutputFormat::kFormat) {
    encoder->encoder_ = std::make_unique<RecordEncoder>(format, serdes);
    return encoder;
  }
  KSTREAM_ASSIGN_OR_RETURN(Format pattern, Format::Parse(spec.format_text, serdes));
  for (const std::string_view text : pattern.expressions()) {
    Result<Expression> expression = Expression::Compile(text);
    if (!expression.ok()) return expression.status().At("--format");
    encoder->expressions_.emplace_back("--format", *expression, serdes);
  }
  encoder->encoder_ = std::make_unique<RecordEncoder>(
      std::move(pattern),
      [raw = encoder.get()](const Record& record, size_t number, std::string* out) {
        return raw->Evaluate(record, number, out);
      });
  return encoder;
}

Status SinkEncoder::Evaluate(const Record& record, size_t number, std::string* out) {
  Bytes text;
  KSTREAM_RETURN_IF_ERROR(expressions_[number].Text(
      {.record = &record, .out = {}, .left = {}, .right = {}, .acc = {}}, &text));
  out->append(text.value_or("null"));
  return Status::Ok();
}

}  // namespace kstream::runtime
