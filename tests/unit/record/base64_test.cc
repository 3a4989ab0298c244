// The test vectors of RFC 4648, and that decoding accepts nothing but what encoding makes.
#include "record/base64.h"

#include <gtest/gtest.h>

#include <random>
#include <utility>

namespace kstream {
namespace {

std::string Base64(std::string_view bytes) {
  std::string out;
  AppendBase64(bytes, &out);
  return out;
}

TEST(Base64, AgreesWithTheStandardsVectors) {
  const std::pair<std::string_view, std::string_view> vectors[] = {{"", ""},
                                                                   {"f", "Zg=="},
                                                                   {"fo", "Zm8="},
                                                                   {"foo", "Zm9v"},
                                                                   {"foob", "Zm9vYg=="},
                                                                   {"fooba", "Zm9vYmE="},
                                                                   {"foobar", "Zm9vYmFy"}};
  for (auto [bytes, text] : vectors) {
    EXPECT_EQ(Base64(bytes), text);
    std::string back = "kept ";
    ASSERT_TRUE(DecodeBase64(text, &back)) << text;
    EXPECT_EQ(back, "kept " + std::string(bytes));
  }
}

TEST(Base64, RefusesGarbageAndAppendsNothing) {
  for (std::string_view text : {"Z",     "Zg",   "Zg=",      "Zg===",  "=",
                                "==",    "====", "Zg==Zg==", "Z===",   "Zm8=\n",
                                " Zm8=", "Zm 8", "Zm8=Zm9v", "Zm9v\n", "Zh==",
                                "Zm9=",  "Zm-_", "Zm9v!m8=", "Zm=v",   "\xC3\xA9\xC3\xA9"}) {
    std::string out = "kept";
    EXPECT_FALSE(DecodeBase64(text, &out)) << text;
    EXPECT_EQ(out, "kept");
  }
}

TEST(Base64, KeepsBytesOfAnySizeAndValue) {
  std::mt19937 random(3);
  for (size_t size : {1u, 2u, 3u, 255u, 3u << 20, (3u << 20) + 1, 20u << 20}) {
    std::string bytes(size, '\0');
    for (char& c : bytes) c = static_cast<char>(random());
    std::string back;
    ASSERT_TRUE(DecodeBase64(Base64(bytes), &back));
    ASSERT_TRUE(back == bytes) << size;
  }
}

TEST(Hex, IsTwoDigitsAByte) {
  std::string out = "0x";
  AppendHex(std::string_view("\x00\x7f\xff k", 5), &out);
  EXPECT_EQ(out, "0x007fff206b");
  std::string back = "kept ";
  ASSERT_TRUE(DecodeHex("007FfF206b", &back));
  EXPECT_EQ(back, std::string("kept \x00\x7f\xff k", 10));
  ASSERT_TRUE(DecodeHex("", &back));
}

TEST(Hex, RefusesGarbageAndAppendsNothing) {
  for (std::string_view text : {"0", "0g", "0x00", "00 0", " 00", "00\n1", "\xff\xff"}) {
    std::string out = "kept";
    EXPECT_FALSE(DecodeHex(text, &out)) << text;
    EXPECT_EQ(out, "kept");
  }
}

}  // namespace
}  // namespace kstream
