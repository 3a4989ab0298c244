#include "record/decoder.h"

#include <fmt/format.h>

namespace kstream {

Result<InputFormat> ParseInputFormat(std::string_view name) {
  if (name == "json") return InputFormat::kJson;
  if (name == "envelope") return InputFormat::kEnvelope;
  if (name == "raw") return InputFormat::kRaw;
  if (name == "csv") return InputFormat::kCsv;
  if (name == "tsv") return InputFormat::kTsv;
  return Status::Usage(
      fmt::format("'{}' is not an input format: give json, envelope, raw, csv or tsv", name));
}

}  // namespace kstream
