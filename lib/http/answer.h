// Request and Answer: what the room's parts say to each other of HTTP, without the library that
// speaks it.
#ifndef KSTREAM_HTTP_ANSWER_H_
#define KSTREAM_HTTP_ANSWER_H_

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kstream/status.h"

namespace kstream::http {

inline constexpr std::string_view kJson = "application/json";
inline constexpr std::string_view kJsonLines = "application/x-ndjson";
inline constexpr std::string_view kPlain = "text/plain; charset=utf-8";

struct Request {
  std::string method;
  std::string path;  // decoded, without the query
  std::multimap<std::string, std::string> query;
  std::string accept, authorization, host, origin;  // headers; empty: none
};

struct Answer {
  int status = 200;
  std::string type = std::string(kPlain);
  std::string body = {};
  // What follows the body, piece by piece: adds one to the text; false: it was the last. A failure
  // cuts the answer off, which its reader sees.
  std::function<Result<bool>(std::string*)> more = {};
  std::vector<std::pair<std::string, std::string>> headers = {};
};

// A line about what is wrong.
inline Answer Refuse(int status, std::string_view why) {
  return {.status = status, .body = std::string(why) + "\n"};
}

}  // namespace kstream::http

#endif  // KSTREAM_HTTP_ANSWER_H_
