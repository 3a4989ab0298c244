// Properties: librdkafka's, from flags, environment and files, with where each came from.
//
// Layers in rising order: the file of --config, the environment, -X, a flag. The later one wins,
// for reading and for writing apart (`in.`, `out.`). Secrets are never printed. Tested by
// tests/unit/tools/properties_test.cc.
#ifndef KSTREAM_TOOLS_COMMON_PROPERTIES_H_
#define KSTREAM_TOOLS_COMMON_PROPERTIES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kstream/runtime.h"
#include "kstream/status.h"

namespace kstream::tools {

struct Property {
  enum class Side : uint8_t { kBoth, kIn, kOut };
  Side side = Side::kBoth;
  std::string name;
  std::string value;
  std::string origin;  // for people: "-X", "KSTREAM_BROKERS", "FILE:3"
};

// "[in.|out.]PROP=VAL". kUsage without '=' or without a name; the value is not in the message.
Result<Property> ParseProperty(std::string_view text, std::string origin);

// Lines of `property=value`; blank ones and those that begin with # or ! are nothing; white space
// around names and values is dropped. kUsage names file and line.
Result<std::vector<Property>> ReadProperties(const std::string& path);

// Layers joined in rising order -> what clients get. Brokers are taken out of the properties.
ClusterOptions ToCluster(const std::vector<Property>& properties);

// "NAME=LIST|FILE" of --cluster: a file if there is one with that name, else a list of brokers.
Result<std::pair<std::string, std::vector<Property>>> ParseCluster(std::string_view text);

// What -X dump prints for one cluster: effective values and where they came from, secrets masked.
std::string Dump(std::string_view cluster, const std::vector<Property>& properties);

}  // namespace kstream::tools

#endif  // KSTREAM_TOOLS_COMMON_PROPERTIES_H_
