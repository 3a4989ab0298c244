// Spellings of one value have one text, and different values have two.
#include "dsl/canonical.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kstream::dsl {
namespace {

TEST(Canonical, IsOneTextForAllSpellingsOfAValue) {
  const std::vector<std::vector<std::string>> same = {
      {"0", "-0", "0.000", "0e99"},
      {"1", "1.0", "10e-1", "0.1e1", "1E+0", "100e-2"},
      {"-12.5", "-125e-1", "-0.0125E3"},
      {"12345678901234567890123", "1234567890123456789012.3e1"},
      {R"("é/")", R"("\u00e9\/")"},
      {R"({"a":1,"b":[1,{}]})", R"({"b":[1.0,{}],"a":1e0})", R"({"a":2,"b":[1,{}],"\u0061":1})"},
      {"[null,true]", "[null,true]"},
  };
  Canonical canonical;
  std::vector<std::string> seen;
  for (const auto& spellings : same) {
    const std::string first = canonical.Of(spellings[0]);
    for (const std::string& spelling : spellings) {
      EXPECT_EQ(canonical.Of(spelling), first) << spelling;
    }
    for (const std::string& other : seen) EXPECT_NE(first, other);
    seen.push_back(first);
  }
}

TEST(Canonical, TellsDifferentValuesApart) {
  const std::vector<std::string> different = {"1",
                                              "10",
                                              "0.1",
                                              "-1",
                                              "1e400",
                                              "1e401",
                                              "1e-400",
                                              "12345678901234567890123",
                                              "12345678901234567890124",
                                              R"("1")",
                                              "null",
                                              "true",
                                              "false",
                                              "[]",
                                              R"("[]")",
                                              "{}",
                                              "[1]",
                                              "[[1]]",
                                              "[1,2]",
                                              "[12]",
                                              R"(["1,2"])",
                                              R"({"a":1})",
                                              R"({"a":"1"})",
                                              R"({"b":1})",
                                              R"(["a",1])",
                                              "1e99999999999999999999",
                                              "1e99999999999999999998",
                                              R"("\"")",
                                              R"("\\")"};
  Canonical canonical;
  for (size_t i = 0; i < different.size(); i++) {
    const std::string one = canonical.Of(different[i]);
    for (size_t j = 0; j < i; j++) {
      EXPECT_NE(one, canonical.Of(different[j])) << different[i] << " and " << different[j];
    }
  }
}

}  // namespace
}  // namespace kstream::dsl
