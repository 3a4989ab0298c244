// The page for people at /topology: a file of its own, without a name of any other place in it. It
// asks this server for /topology as JSON, again and again, and draws what it gets.
#ifndef KSTREAM_HTTP_PAGE_H_
#define KSTREAM_HTTP_PAGE_H_

#include <string_view>

namespace kstream::http {

std::string_view Page();

}  // namespace kstream::http

#endif  // KSTREAM_HTTP_PAGE_H_
