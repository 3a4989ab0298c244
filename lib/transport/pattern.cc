#include "transport/pattern.h"

#include <fmt/format.h>

namespace kstream::transport {

Result<TopicPattern> TopicPattern::Parse(std::string_view pattern) {
  TopicPattern parsed;
  auto regex = std::make_unique<regex_t>();
  if (const int error =
          regcomp(regex.get(), std::string(pattern).c_str(), REG_EXTENDED | REG_NOSUB);
      error != 0) {
    char why[200];
    regerror(error, regex.get(), why, sizeof why);
    return Status::Usage(fmt::format("{} is no valid topic pattern: {}", pattern, why));
  }
  parsed.regex_.reset(regex.release());
  return parsed;
}

bool TopicPattern::Matches(const std::string& topic) const {
  return !IsBrokerInternal(topic) && regexec(regex_.get(), topic.c_str(), 0, nullptr, 0) == 0;
}

}  // namespace kstream::transport
