#include "kstream/properties.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <utility>

namespace kstream {
namespace {

constexpr std::string_view kBrokers = "bootstrap.servers";

std::string_view Trim(std::string_view text) {
  auto space = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!text.empty() && space(text.front())) text.remove_prefix(1);
  while (!text.empty() && space(text.back())) text.remove_suffix(1);
  return text;
}

// Parts of the names of properties that hold credentials, or may: librdkafka's, and those that a
// client.properties shared with Java programs brings along.
constexpr std::string_view kSecretParts[] = {
    "password",   "passphrase",     "secret",
    "credential", "private.key",    "jaas",
    "ssl.key",    "ssl_key",        "sasl.oauthbearer.config",
    "auth.token", "auth.user.info", "sasl.oauthbearer.extensions",
    "kinit.cmd",
};

bool IsSecret(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  auto matches = [&](std::string_view part) { return name.find(part) != std::string::npos; };
  return std::any_of(std::begin(kSecretParts), std::end(kSecretParts), matches);
}

// A URL may name a user and a password, whatever its property is called.
bool HoldsSecret(const Property& property) {
  const std::string& value = property.value;
  const size_t scheme = value.find("://");
  const bool names_user =
      scheme != std::string::npos && value.find('@', scheme) != std::string::npos;
  return names_user || IsSecret(property.name);
}

using Effective = std::map<std::string, const Property*>;

// What one side gets: of each name the last one.
Effective For(Property::Side side, const std::vector<Property>& properties) {
  Effective effective;
  for (const Property& property : properties) {
    if (property.side == Property::Side::kBoth || property.side == side) {
      effective[property.name] = &property;
    }
  }
  return effective;
}

Properties WithoutBrokers(const Effective& effective, const std::string& brokers) {
  Properties properties;
  for (const auto& [name, property] : effective) {
    if (name != kBrokers || property->value != brokers)
      properties.emplace_back(name, property->value);
  }
  return properties;
}

std::string DumpLine(std::string_view prefix, const Property& property) {
  std::string value = HoldsSecret(property) ? "********" : property.value;
  return fmt::format("{:<48}  # {}\n", fmt::format("{}{} = {}", prefix, property.name, value),
                     property.origin);
}

}  // namespace

Result<Property> ParseProperty(std::string_view text, std::string origin) {
  Property property;
  property.origin = std::move(origin);
  size_t equals = text.find('=');
  std::string_view name = Trim(text.substr(0, equals));
  if (equals == std::string_view::npos || name.empty()) {
    return Status::Usage(fmt::format("'{}' is not PROPERTY=VALUE", name));
  }
  property.value = Trim(text.substr(equals + 1));
  if (name.starts_with("in.")) {
    property.side = Property::Side::kIn;
    name.remove_prefix(3);
  } else if (name.starts_with("out.")) {
    property.side = Property::Side::kOut;
    name.remove_prefix(4);
  }
  if (name.empty()) return Status::Usage(fmt::format("'{}' has no name", text.substr(0, equals)));
  property.name = name == "metadata.broker.list" ? kBrokers : name;
  return property;
}

Result<std::vector<Property>> ReadProperties(const std::string& path) {
  std::ifstream file(path);
  if (!file) return Status::Usage(fmt::format("{}: {}", path, std::strerror(errno)));
  std::vector<Property> properties;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    std::string_view text = line;
    if (number == 1 && text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
    text = Trim(text);
    if (text.empty() || text[0] == '#' || text[0] == '!') continue;
    std::string where = fmt::format("{}:{}", path, number);
    Result<Property> property = ParseProperty(text, where);
    if (!property.ok()) return property.status().At(where);
    properties.push_back(*std::move(property));
  }
  if (file.bad())
    return Status::Usage(fmt::format("{}: cannot be read: {}", path, std::strerror(errno)));
  return properties;
}

ClusterOptions ToCluster(const std::vector<Property>& properties) {
  Effective in = For(Property::Side::kIn, properties);
  Effective out = For(Property::Side::kOut, properties);
  ClusterOptions cluster;
  std::string brokers(kBrokers);
  if (in.contains(brokers)) {
    cluster.brokers = in[brokers]->value;
  } else if (out.contains(brokers)) {
    cluster.brokers = out[brokers]->value;
  }
  cluster.consumer = WithoutBrokers(in, cluster.brokers);
  cluster.producer = WithoutBrokers(out, cluster.brokers);
  return cluster;
}

Result<std::pair<std::string, std::vector<Property>>> ParseCluster(std::string_view text) {
  size_t equals = text.find('=');
  std::string name(text.substr(0, equals));
  auto plain = [](unsigned char c) { return std::isalnum(c) || c == '-' || c == '_' || c == '.'; };
  bool good = equals != std::string_view::npos && equals + 1 < text.size() && !name.empty() &&
              std::all_of(name.begin(), name.end(), plain);
  if (!good) {
    return Status::Usage(fmt::format(
        "'{}' is not NAME=BROKERS or NAME=FILE (a name is letters, digits, - _ .)", name));
  }
  if (name == "file" || name == "topic") {
    return Status::Usage(
        fmt::format("'{}' cannot name a cluster: {}: says what a name is", name, name));
  }
  std::string what(text.substr(equals + 1));
  std::error_code none;
  bool is_file =
      what.find('/') != std::string::npos || std::filesystem::is_regular_file(what, none);
  if (!is_file) {
    Property brokers{Property::Side::kBoth, std::string(kBrokers), what, "--cluster"};
    return std::pair(name, std::vector<Property>{std::move(brokers)});
  }
  KSTREAM_ASSIGN_OR_RETURN(std::vector<Property> properties, ReadProperties(what));
  if (ToCluster(properties).brokers.empty()) {
    return Status::Usage(fmt::format("{}: has no bootstrap.servers", what));
  }
  return std::pair(name, std::move(properties));
}

std::string DumpProperties(std::string_view cluster, const std::vector<Property>& properties) {
  Effective in = For(Property::Side::kIn, properties);
  Effective out = For(Property::Side::kOut, properties);
  std::string text = fmt::format("# cluster {}\n", cluster);
  for (const auto& [name, property] : in) {
    bool same = out.contains(name) && out[name] == property;
    text += DumpLine(same ? "" : "in.", *property);
  }
  for (const auto& [name, property] : out) {
    if (!in.contains(name) || in[name] != property) text += DumpLine("out.", *property);
  }
  return text;
}

}  // namespace kstream
