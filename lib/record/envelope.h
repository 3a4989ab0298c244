// Envelope: a record as one line of JSON, nothing lost. The fields are those of kcat -J.
//
//   {"topic":"orders","partition":0,"offset":7,"tstype":"create","ts":1700000000123,
//    "headers":["h","1","h",null],"key":"u1","value":{"amount":12}}
//
// Absent is absent: topic, partition, offset and timestamp are left out when the record has none.
//   key      string, or `key_b64` when it is not UTF-8; null: no key
//   value    the value itself, byte for byte, when it is one line of valid JSON without white space
//            around it (which a JSON reader could not tell from the envelope's own), and not so
//            deep that the envelope would be too deep; otherwise
//   payload  the bytes as a string, or `payload_b64` when they are not UTF-8; null: no value
//   headers  names and values in turn; what is not UTF-8 is {"b64":".."}; left out when there are
//            none
// So the text null is "value":null, and a null payload is "payload":null.
//
// Tested by tests/unit/record/envelope_test.cc and tests/fuzz/envelope_fuzz.cc.
#ifndef KSTREAM_RECORD_ENVELOPE_H_
#define KSTREAM_RECORD_ENVELOPE_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "kstream/record.h"
#include "kstream/status.h"
#include "record/json_document.h"

namespace kstream {

// Appends the envelope without a line end. `reader` judges whether the value is JSON, unless
// record.cache already holds it parsed; its earlier Document becomes invalid.
void AppendEnvelope(const Record& record, json::Reader& reader, std::string* out);

// Reads envelopes, ours and kcat's. Of a repeated field the last counts; unknown fields (kcat's
// `broker`) are skipped. As kcat documents, `payload` and `key` may be any JSON: the value is then
// its text, the key its compact text; and `headers` may be an object. A line is kData when a field
// has a wrong type, when it says nothing or two things about its value or key, and when kcat noted
// that it could not decode one (`key_error`, `payload_error`): its null would pass for a tombstone.
// Not thread-safe: one per thread.
class EnvelopeReader {
 public:
  // Says that the lines to come lie in `region` (see json::Reader::Prepare). Only a hint.
  void Prepare(std::string_view region) { reader_.Prepare(region); }

  // Fills *record, which then points into `line` and into this reader: valid as long as the line,
  // and until Clear(). *record is unchanged on failure.
  Status Parse(std::string_view line, Record* record);

  // Frees what the records read so far point to. Call it between batches.
  void Clear() { arena_.Reset(); }

 private:
  struct Fields;

  Status Collect(Fields* fields);
  Status ReadKey(const Fields& fields, Bytes* key);
  Status ReadValue(const Fields& fields, Bytes* value);
  Status ReadHeaders(json::Node node, std::span<const Header>* headers);
  Status ReadHeaderArray(json::Node node);
  Status ReadHeaderObject(json::Node node);
  Status ReadText(json::Node node, std::string_view what, std::string_view* text);
  Status ReadHeaderValue(json::Node node, Bytes* value);
  Status ReadBase64(json::Node node, std::string_view what, std::string_view* bytes);
  std::string_view Text(json::Node string);

  json::Reader reader_;
  json::Document document_;
  Arena arena_;
  std::string scratch_;
  std::vector<Header> headers_;
};

}  // namespace kstream

#endif  // KSTREAM_RECORD_ENVELOPE_H_
