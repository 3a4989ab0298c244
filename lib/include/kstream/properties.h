// Properties: librdkafka's, as the command line and files write them, with where each came from.
//
// A later one wins, for reading and for writing apart (`in.`, `out.`). Secrets are never printed.
// Functions of this header may be called from any thread.
#ifndef KSTREAM_PROPERTIES_H_
#define KSTREAM_PROPERTIES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kstream/export.h"
#include "kstream/status.h"

namespace kstream {

// librdkafka properties in the order given; a later one wins.
using Properties = std::vector<std::pair<std::string, std::string>>;

// A Kafka cluster. Properties are checked when the runtime is made: kUsage names an unknown one.
struct ClusterOptions {
  std::string brokers;  // host:port,...
  Properties consumer;  // for reading and asking
  Properties producer;  // for writing
};

struct Property {
  enum class Side : uint8_t { kBoth, kIn, kOut };
  Side side = Side::kBoth;
  std::string name;
  std::string value;
  std::string origin;  // for people: "-X", "KSTREAM_BROKERS", "FILE:3"
};

// "[in.|out.]PROP=VAL". kUsage without '=' or without a name; the value is not in the message.
KSTREAM_EXPORT Result<Property> ParseProperty(std::string_view text, std::string origin);

// Lines of `property=value`; blank ones and those that begin with # or ! are nothing; white space
// around names and values is dropped. kUsage names file and line.
KSTREAM_EXPORT Result<std::vector<Property>> ReadProperties(const std::string& path);

// "NAME=LIST|FILE" of --cluster: a file if there is one with that name, else a list of brokers.
KSTREAM_EXPORT Result<std::pair<std::string, std::vector<Property>>> ParseCluster(
    std::string_view text);

// What clients get of properties in rising order. Brokers are taken out of them.
KSTREAM_EXPORT ClusterOptions ToCluster(const std::vector<Property>& properties);

// What -X dump prints for one cluster: effective values and where they came from, secrets masked.
KSTREAM_EXPORT std::string DumpProperties(std::string_view cluster,
                                          const std::vector<Property>& properties);

}  // namespace kstream

#endif  // KSTREAM_PROPERTIES_H_
