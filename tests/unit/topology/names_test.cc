#include "topology/names.h"

#include <gmock/gmock.h>

#include <string>

namespace kstream {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Names, AreThoseOfTopics) {
  for (const std::string& name :
       {std::string("a"), std::string("aZ09._-"), std::string("..."), std::string(249, 'x')}) {
    EXPECT_EQ(WrongName("topic", name), std::nullopt) << name;
  }
  for (const std::string& name :
       {std::string("."), std::string(".."), std::string("a b"), std::string("a/b"),
        std::string("a:b"), std::string("\xc3\xa4"), std::string(1, '\0')}) {
    EXPECT_THAT(WrongName("topic", name).value_or(""), HasSubstr("needs a name of letters"));
  }
}

TEST(Names, WhatIsWrongIsOneLineWithTheName) {
  EXPECT_EQ(WrongName("store", ""), "a store without a name: give it one");
  EXPECT_EQ(WrongName("topic", "a\nb"),
            "topic 'a\\u000ab' needs a name of letters, digits, '.', '_' and '-'");
  const std::string wrong = WrongName("topic", std::string(250, 'x')).value_or("");
  EXPECT_THAT(wrong, HasSubstr("250 bytes, and 249 are the most"));
  EXPECT_THAT(wrong, Not(HasSubstr(std::string(33, 'x'))));
}

TEST(Names, OfNodesAreAnyLineOfText) {
  for (const std::string& name : {std::string("a"), std::string("of expressions"),
                                  std::string("'<\"{\xc3\xa4}>'"), std::string(249, 'x')}) {
    EXPECT_EQ(WrongNodeName(name), std::nullopt) << name;
  }
  EXPECT_EQ(WrongNodeName(""), "a node without a name: give it one");
  EXPECT_THAT(WrongNodeName(std::string(250, 'x')).value_or(""), HasSubstr("249 are the most"));
  for (const std::string& name : {std::string("a\tb"), std::string(1, '\0'), std::string("\x7f"),
                                  std::string("\xff"), std::string("\xc2\x9b")}) {
    EXPECT_THAT(WrongNodeName(name).value_or(""), HasSubstr("without control characters"));
  }
}

}  // namespace
}  // namespace kstream
