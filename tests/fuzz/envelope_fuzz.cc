// Envelopes out of arbitrary bytes: a line that reads as a record, written and read again, is the
// same record.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "record/envelope.h"

namespace {

void Require(bool condition) {
  if (!condition) std::abort();
}

void RequireSame(const kstream::Record& a, const kstream::Record& b) {
  Require(a.topic == b.topic && a.partition == b.partition && a.offset == b.offset);
  Require(a.timestamp_type == b.timestamp_type);
  Require(a.timestamp_type == kstream::TimestampType::kNone || a.timestamp == b.timestamp);
  Require(a.key == b.key && a.value == b.value);
  Require(a.headers.size() == b.headers.size());
  for (size_t i = 0; i < a.headers.size(); ++i) {
    Require(a.headers[i].name == b.headers[i].name && a.headers[i].value == b.headers[i].value);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static auto* const reader = new kstream::EnvelopeReader;
  static auto* const judge = new kstream::json::Reader;
  std::string_view input(reinterpret_cast<const char*>(data), size);
  reader->Clear();

  kstream::Record read;
  if (reader->Parse(input, &read).ok()) {
    std::string line;
    kstream::AppendEnvelope(read, *judge, &line);
    Require(line.find('\n') == std::string::npos);
    kstream::Record again;
    Require(reader->Parse(line, &again).ok());
    RequireSame(read, again);
  }

  // The same bytes as a value come back whatever they are.
  kstream::Record raw;
  raw.key = raw.value = input;
  std::string line;
  kstream::AppendEnvelope(raw, *judge, &line);
  kstream::Record back;
  Require(reader->Parse(line, &back).ok());
  RequireSame(raw, back);
  return 0;
}
