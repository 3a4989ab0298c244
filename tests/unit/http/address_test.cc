// Who may be listened to.
#include "http/address.h"

#include <gtest/gtest.h>

namespace kstream::http {
namespace {

TEST(Address, IsAPortWithOrWithoutAHost) {
  EXPECT_EQ(ParseAddress("8080")->host, "127.0.0.1");
  EXPECT_EQ(ParseAddress("8080")->port, 8080);
  EXPECT_EQ(ParseAddress("0.0.0.0:1")->host, "0.0.0.0");
  EXPECT_EQ(ParseAddress("[::1]:8080")->host, "::1");
  EXPECT_EQ(ParseAddress("box.example:65535")->port, 65535);
  for (const char* wrong : {"", "x", "-1", "65536", "80a", ":80", "::1:80", "host:", "[]:80"}) {
    EXPECT_EQ(ParseAddress(wrong).status().code(), StatusCode::kUsage) << wrong;
  }
}

TEST(Address, LoopbackIsWhatOnlyThisHostReaches) {
  for (const char* own : {"localhost", "127.0.0.1", "127.1.2.3", "::1"}) {
    EXPECT_TRUE(IsLoopback(own)) << own;
  }
  for (const char* other : {"", "0.0.0.0", "::", "10.0.0.1", "localhost.example", "127.0.0.1.x"}) {
    EXPECT_FALSE(IsLoopback(other)) << other;
  }
  for (const char* named : {"localhost", "localhost:8080", "127.0.0.1:1", "[::1]:80", "[::1]"}) {
    EXPECT_TRUE(NamesLoopback(named)) << named;
  }
  for (const char* stranger : {"evil.example", "evil.example:8080", "10.0.0.1:80", "::1:80"}) {
    EXPECT_FALSE(NamesLoopback(stranger)) << stranger;
  }
}

TEST(Address, ATokenIsTheSameOrNot) {
  EXPECT_TRUE(SameToken("secret", "secret"));
  for (const char* wrong : {"", "s", "secre", "secret ", "Secret", "secretsecret"}) {
    EXPECT_FALSE(SameToken(wrong, "secret")) << wrong;
  }
}

}  // namespace
}  // namespace kstream::http
