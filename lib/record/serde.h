// Serdes: how the bytes of a key or value become JSON for expressions, and back.
//
//   json    the bytes are JSON text                       string  UTF-8 text as a JSON string
//   b64     any bytes as base64 (RFC 4648) in a string    hex     any bytes as lower-case hex
//   pack    kcat's letters: < little, > big endian (default), b/B h/H i/I q/Q signed/unsigned 8..64
//   bit,
//           c one character, s the rest as text, $ end of input. One letter gives the value itself,
//           several give an array.
//   NAME    one that RegisterSerde made known (custom_serde.h)
// Tested by tests/unit/record/serde_test.cc.
#ifndef KSTREAM_RECORD_SERDE_H_
#define KSTREAM_RECORD_SERDE_H_

#include <memory>
#include <string>
#include <string_view>

#include "kstream/status.h"
#include "record/custom_serde.h"

namespace kstream {

class Serde {
 public:
  enum class Kind : uint8_t { kJson, kString, kBase64, kHex, kPack, kCustom };

  Serde() = default;  // json
  explicit Serde(Kind kind) : kind_(kind) {}
  // `spec` as given after "key=" or "value="; kUsage names what is wrong with it.
  static Result<Serde> Parse(std::string_view spec);
  // Whether `spec` is a serde of kstream's own.
  static bool IsBuiltIn(std::string_view spec);

  Kind kind() const { return kind_; }
  // Appends the JSON text of `bytes`, valid and compact. kData when they are not of this serde. For
  // kJson the bytes are appended as they are, unchecked: whoever parses them checks.
  Status ToJson(std::string_view bytes, std::string* json) const;
  // Appends the bytes of a valid compact JSON text. For kString (the default of keys) a JSON string
  // becomes its text and anything else its JSON, so that 42 and "42" group together.
  Status FromJson(std::string_view json, std::string* bytes) const;

 private:
  static Result<Serde> ParseBuiltIn(std::string_view spec);

  Kind kind_ = Kind::kJson;
  std::string pack_;
  std::shared_ptr<const NamedSerde> custom_;
};

struct Serdes {
  // kUsage naming the serde that is wrong.
  static Result<Serdes> Parse(std::string_view key, std::string_view value) {
    KSTREAM_ASSIGN_OR_RETURN(Serde key_serde, Serde::Parse(key));
    KSTREAM_ASSIGN_OR_RETURN(Serde value_serde, Serde::Parse(value));
    return Serdes{std::move(key_serde), std::move(value_serde)};
  }

  Serde key = Serde(Serde::Kind::kString);
  Serde value;
};

}  // namespace kstream

#endif  // KSTREAM_RECORD_SERDE_H_
