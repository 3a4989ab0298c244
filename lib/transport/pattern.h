// Topic patterns: names that begin with ^ are POSIX extended regular expressions, as in
// librdkafka's subscriptions, matched anywhere after the anchor. Tested by
// tests/unit/transport/pattern_test.cc.
#ifndef KSTREAM_TRANSPORT_PATTERN_H_
#define KSTREAM_TRANSPORT_PATTERN_H_

#include <regex.h>

#include <memory>
#include <string>
#include <string_view>

#include "kstream/status.h"

namespace kstream::transport {

class TopicPattern {
 public:
  // kUsage with the library's own words when `pattern` is no regular expression.
  static Result<TopicPattern> Parse(std::string_view pattern);
  bool Matches(const std::string& topic) const;

 private:
  struct Free {
    void operator()(regex_t* regex) const {
      regfree(regex);
      delete regex;
    }
  };
  std::unique_ptr<regex_t, Free> regex_;
};

// Whether internal topics of the brokers, which no pattern ever reads.
inline bool IsBrokerInternal(std::string_view topic) { return topic.starts_with("__"); }

}  // namespace kstream::transport

#endif  // KSTREAM_TRANSPORT_PATTERN_H_
