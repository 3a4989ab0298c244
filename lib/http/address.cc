#include "http/address.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace kstream::http {
namespace {

// "[::1]" without its brackets.
std::string_view Bare(std::string_view host) {
  if (host.size() < 2 || host.front() != '[' || host.back() != ']') return host;
  return host.substr(1, host.size() - 2);
}

}  // namespace

Result<Address> ParseAddress(std::string_view text) {
  const auto wrong = [text] {
    return Status::Usage(fmt::format("'{}' is not PORT or HOST:PORT", text));
  };
  Address address{.host = "127.0.0.1"};
  std::string_view port = text;
  if (const size_t colon = text.rfind(':'); colon != std::string_view::npos) {
    const std::string_view host = text.substr(0, colon);
    address.host = Bare(host);
    port = text.substr(colon + 1);
    const bool bracketed = address.host.size() != host.size();
    if (address.host.empty() || (!bracketed && host.find(':') != std::string_view::npos)) {
      return wrong();
    }
  }
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), address.port);
  if (error != std::errc() || end != port.data() + port.size()) return wrong();
  return address;
}

bool IsLoopback(std::string_view host) {
  if (host == "localhost") return true;
  const std::string text(host);
  in_addr four{};
  if (inet_pton(AF_INET, text.c_str(), &four) == 1) return ntohl(four.s_addr) >> 24 == 127;
  in6_addr six{};
  return inet_pton(AF_INET6, text.c_str(), &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
}

bool NamesLoopback(std::string_view host_header) {
  const bool bracketed = host_header.starts_with('[');
  const size_t end = bracketed ? host_header.find(']') + 1 : host_header.find(':');
  const std::string_view port = host_header.substr(std::min(end, host_header.size()));
  const bool named = port.empty() || (port[0] == ':' && port.find(':', 1) == port.npos);
  return named && IsLoopback(Bare(host_header.substr(0, end)));
}

bool SameToken(std::string_view given, std::string_view token) {
  volatile unsigned char differs = given.size() != token.size();
  for (size_t i = 0; i < given.size(); i++) {
    const char right = token.empty() ? '\0' : token[i % token.size()];
    differs = differs | static_cast<unsigned char>(given[i] ^ right);
  }
  return differs == 0;
}

}  // namespace kstream::http
