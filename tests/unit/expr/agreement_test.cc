// The fast evaluator and libjq agree: on generated programs and documents both give the same
// outputs, or both fail. Programs hold only what the fast evaluator takes, documents only numbers
// that survive a double. KSTREAM_SEED repeats a run.
// Numbers come in all spellings: both engines make the same text of them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <random>

#include "expr_testing.h"

namespace kstream::expr {
namespace {

class Generator {
 public:
  explicit Generator(uint32_t seed) : random_(seed) {}

  int Below(int n) { return static_cast<int>(random_() % static_cast<uint32_t>(n)); }

  std::string Document(int depth) {
    switch (Below(depth > 0 ? 9 : 6)) {
      case 0:
        return "null";
      case 1:
        return Below(2) != 0 ? "true" : "false";
      case 2:
      case 3:
        return Number();
      case 4:
      case 5:
        return String();
      case 6: {
        std::string text = "[";
        for (int i = Below(4); i > 0; --i) text += Document(depth - 1) + (i > 1 ? "," : "");
        return text + "]";
      }
      default: {
        std::string text = "{";
        for (const char* name : {"a", "b", "c"}) {
          if (Below(3) == 0) continue;
          if (text.size() > 1) text += ",";
          text += fmt::format("\"{}\":{}", name, Document(depth - 1));
        }
        return text + "}";
      }
    }
  }

  // An expression; `single`: of exactly one output (or an error).
  std::string Program(int depth, bool single) {
    if (depth <= 0) return Leaf();
    if (!single && Below(4) == 0) return Several(depth);
    const auto sub = [&] { return Program(depth - 1, single); };
    switch (Below(16)) {
      case 0:
        return fmt::format("({} | {})", sub(), sub());
      case 1:
      case 2:
        return fmt::format("({} {} {})", sub(), Pick({"+", "-", "*", "/", "%"}), sub());
      case 3:
        return fmt::format("({} {} {})", sub(), Pick({"==", "!=", "<", "<=", ">", ">="}), sub());
      case 4:
        return fmt::format("({} {} {})", sub(), Pick({"and", "or", "//"}), sub());
      case 5:
        return fmt::format("(if {} then {} else {} end)", sub(), sub(), sub());
      case 6:
        return fmt::format("[{}]", Program(depth - 1, false));
      case 7:
        return fmt::format("{{a: ({}), {}: ({})}}", sub(), Pick({"b", "a", "(\"c\")"}), sub());
      case 8:
        return fmt::format("({} | {})", sub(), InputFunction());
      case 9:
        return fmt::format("({} | {}({}))", sub(), ArgumentFunction(), sub());
      case 10:
        if (Below(3) == 0) return fmt::format("({})[{}]", sub(), sub());
        return fmt::format("({})[{}]", sub(), Pick({"0", "-1", "1", "\"a\"", "1:", ":-1", "0:2"}));
      case 11:
        return fmt::format("({} as $x | {})", sub(), Pick({"$x", "[$x, .]", "$x + .", "{$x}"}));
      case 12:
        return fmt::format("\"<\\({})>\\({})\"", sub(), sub());
      case 13:
        return fmt::format("({} | {})", sub(), Closure(depth));
      case 14:
        return fmt::format("({} | {})", sub(), Assignment(depth));
      default:
        return fmt::format("-({})", sub());
    }
  }

 private:
  std::string Pick(std::initializer_list<const char*> from) {
    return *(from.begin() + Below(static_cast<int>(from.size())));
  }
  std::string Number() {
    switch (Below(5)) {
      case 0:
        return std::to_string(Below(5) - 2);
      case 3:
        // No integer between 2^53 and 2^63: we calculate exactly with those, jq does not.
        return Pick({"1.0", "129.90", "1e2", "1E5", "-0", "-0.0", "0.00", "0.00001", "2.50e-7",
                     "-12.50", "0.1e1", "9e15", "1e20", "1e300", "0.0001", "123456789.123456e-20"});
      case 1:
        return std::to_string(static_cast<int>(random_() % 2000000) - 1000000);
      case 2:
        return fmt::format("{}{}", Below(100), Pick({"", ".5", ".25", ".125", ".375", ".75"}));
      default:
        return Pick({"0", "1", "2", "3", "1.5", "-0.25", "1000", "4503599627370497", "0.1"});
    }
  }
  std::string String() {
    return Pick({"\"\"", "\"a\"", "\"b\"", "\"ab\"", "\"a,b\"", "\"é\\n\"", "\"12\"", "\"zürich\"",
                 "\"A\\\"B\"", "\"abcabc\"", "\"\\u0041\\/\\u007f\\u0001\""});
  }
  std::string Leaf() {
    switch (Below(5)) {
      case 0:
        return Number();
      case 1:
        return String();
      case 2:
        return Pick({"null", "true", "false", "[]", "{}", ".a?", "[.[]?]", ".",
                     "{start: 1, end: null}", "{start: 0, end: 1.5}", "{start: 1}", "{\"\": 1.0}"});
      default:
        return Pick({".", ".a", ".b", ".a.b", ".[0]", ".c", ".[-1]", ".[1:]", ".[\"a\"]"});
    }
  }
  std::string InputFunction() {
    return Pick({"length",       "keys",          "not",
                 "type",         "tostring",      "tojson",
                 "add",          "any",           "all",
                 "min",          "max",           "sort",
                 "unique",       "floor",         "sqrt",
                 "to_entries",   "reverse",       "ascii_downcase",
                 "first",        "last",          "[..]",
                 "tonumber",     "keys_unsorted", "utf8bytelength",
                 "from_entries", "ascii_upcase",  "[recurse]",
                 "ceil"});
  }
  std::string ArgumentFunction() {
    return Pick({"contains", "has", "startswith", "endswith", "ltrimstr", "rtrimstr", "split",
                 "join", "inside", "indices", "index"});
  }
  std::string Closure(int depth) {
    const std::string f = Program(depth - 1, false);
    switch (Below(9)) {
      case 0:
        return fmt::format("map({})", f);
      case 7:
        return Pick({"[last(.[]?)]", "[first(.[]?)]", "[last(empty)]", "[first(empty)]",
                     "[last(.a[]?, .b[]?)]", "first(last(.[]?))"});
      case 1:
        return fmt::format("[.[] | select({})]", f);
      case 2:
        return fmt::format("any({})", f);
      case 3:
        return fmt::format("all({})", f);
      case 4:
        return fmt::format("[first({})]", f);
      case 5:
        return fmt::format("{}({})", Pick({"sort_by", "group_by", "unique_by"}), f);
      case 6:
        return fmt::format("with_entries(select({}))", f);
      default:
        return fmt::format("[last({})]", f);
    }
  }
  std::string Assignment(int depth) {
    const std::string path = Pick({".a", ".b.c", ".[0]", ".[]", ".a[]?", ".[1:]", "(.a, .b)",
                                   "(.[] | select(. != null))", ".[-1]", ".a.b", ".[2]"});
    if (Below(5) == 0) return fmt::format("del({})", path);
    return fmt::format("({} {} {})", path, Pick({"=", "|=", "+=", "-=", "*=", "//=", "/="}),
                       Program(depth - 1, true));
  }
  std::string Several(int depth) {
    const std::string f = Program(depth - 1, false);
    switch (Below(6)) {
      case 0:
        return fmt::format("({}, {})", f, Program(depth - 1, false));
      case 1:
        return fmt::format("({} | .[]?)", f);
      case 2:
        return fmt::format("(.[]? | {})", f);
      case 3:
        return fmt::format("select({})", f);
      case 4:
        return "..";
      default:
        return fmt::format("({} | {})", f, Pick({"values", "scalars", "strings", "empty", ".[]"}));
    }
  }

  std::mt19937 random_;
};

// Errors that the fast evaluator has on purpose where jq goes on: digits would be lost.
bool IsRefusedDigits(const Outcome& outcome) {
  const std::string_view message = outcome.status.message();
  return message.find("64-bit integer") != message.npos || message.find("digits") != message.npos ||
         message.find("2^53") != message.npos || message.find("exactly") != message.npos ||
         message.find("survive") != message.npos || message.find("too large") != message.npos;
}

TEST(Agreement, FastAndLibjqOnGeneratedPrograms) {
  constexpr int kPrograms = 150;
  constexpr int kDocuments = 20;
  const char* given = std::getenv("KSTREAM_SEED");
  const uint32_t seed = given != nullptr ? std::strtoul(given, nullptr, 10) : 20240611;
  std::cout << "KSTREAM_SEED=" << seed << "\n";
  Generator generator(seed);
  CompileOptions with_libjq;
  with_libjq.force_libjq = true;
  int compared = 0;
  int succeeded = 0;
  for (int p = 0; p < kPrograms; ++p) {
    const std::string text = generator.Program(1 + generator.Below(3), false);
    auto fast = Program::Compile(text);
    ASSERT_TRUE(fast.ok()) << text << ": " << fast.status().message();
    if ((*fast)->engine() != Engine::kFast) continue;
    auto slow = Program::Compile(text, with_libjq);
    if (!slow.ok()) continue;  // jq folds constants, and finds `1 / 0` when it compiles
    Evaluator ours(*fast);
    Evaluator theirs(*slow);
    for (int d = 0; d < kDocuments; ++d) {
      const std::string document = generator.Document(3);
      Record record;
      record.value = document;
      Input input;
      input.record = &record;
      Outcome mine;
      Outcome jq;
      const auto into = [](Outcome* outcome) {
        return [outcome](std::string_view json) {
          outcome->outputs.emplace_back(json);
          return Status::Ok();
        };
      };
      mine.status = ours.ForEach(input, into(&mine));
      jq.status = theirs.ForEach(input, into(&jq));
      if (IsRefusedDigits(mine) || IsRefusedDigits(jq)) continue;
      ++compared;
      succeeded += mine.status.ok() ? 1 : 0;
      const bool agree =
          mine.status.ok() == jq.status.ok() && SameOutputs(mine.outputs, jq.outputs);
      EXPECT_TRUE(agree) << text << "\n  on    " << document << "\n  fast  " << Show(mine)
                         << "\n  libjq " << Show(jq);
    }
  }
  std::cout << compared << " pairs compared, " << succeeded << " without an error\n";
  EXPECT_GT(compared, kPrograms * kDocuments / 4);
  EXPECT_GT(succeeded, compared / 5);
}

}  // namespace
}  // namespace kstream::expr
