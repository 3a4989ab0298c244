// Serdes: how expressions see the bytes of a key or value, by the names that `-s key=` and `-s
// value=` take: json, string, b64, hex, kcat's pack letters, or a serde of one's own.
#ifndef KSTREAM_SERDES_H_
#define KSTREAM_SERDES_H_

#include <memory>
#include <string>
#include <string_view>

#include "kstream/export.h"
#include "kstream/status.h"

namespace kstream {

// A serde of one's own. Called from several threads at once. What it throws, and JSON that is not
// valid, is kData.
class KSTREAM_EXPORT CustomSerde {
 public:
  virtual ~CustomSerde();
  // Appends the value as JSON text. kData: the bytes are not of this serde, and the record is bad.
  virtual Status ToJson(std::string_view bytes, std::string* json) const = 0;
  // Appends the bytes of a valid compact JSON text. kData as above.
  virtual Status FromJson(std::string_view json, std::string* bytes) const = 0;
};

// Makes `name` a serde for all topologies of this process that are built and run afterwards.
// kUsage: the name is taken, by a serde or as a word of pack letters, or is not made of letters,
// digits, - and _ with a letter first; or the serde is null. Any thread.
KSTREAM_EXPORT Status RegisterSerde(std::string name, std::shared_ptr<const CustomSerde> serde);

struct SerdeNames {
  std::string key = "string";
  std::string value = "json";
};

}  // namespace kstream

#endif  // KSTREAM_SERDES_H_
