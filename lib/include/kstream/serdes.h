// Names of serdes, as `-s key=` and `-s value=` take them: json, string, b64, hex, or kcat's pack
// letters.
#ifndef KSTREAM_SERDES_H_
#define KSTREAM_SERDES_H_

#include <string>

namespace kstream {

struct SerdeNames {
  std::string key = "string";
  std::string value = "json";
};

}  // namespace kstream

#endif  // KSTREAM_SERDES_H_
