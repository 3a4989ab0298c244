#include "kstream-run/test_report.h"

#include <fmt/format.h>

#include <algorithm>

namespace kstream::tools {
namespace {

// A name on one line; a # in it would begin a directive.
std::string TapName(std::string_view name) {
  std::string text;
  for (const char c : name) {
    if (c == '#' || c == '\\') text += '\\';
    text += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return text;
}

std::string Xml(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        // XML has no other control characters, escaped or not.
        if (static_cast<unsigned char>(c) >= ' ' || c == '\n' || c == '\t') {
          escaped += c;
        } else {
          escaped += "\xEF\xBF\xBD";
        }
    }
  }
  return escaped;
}

double Seconds(std::chrono::microseconds time) {
  return std::chrono::duration<double>(time).count();
}

std::string JUnitCase(const std::string& path, const TopologyTestCase& test, const RanCase& ran) {
  std::string text = fmt::format("    <testcase name=\"{}\" classname=\"{}\" time=\"{:.3f}\"",
                                 Xml(test.name), Xml(path), Seconds(ran.took));
  if (ran.result.passed || ran.updated) return text + "/>\n";
  text += fmt::format(">\n      <failure message=\"{}\">", Xml(ran.result.lines.front()));
  for (const std::string& line : ran.result.lines) text += Xml(line) + "\n";
  return text + "</failure>\n    </testcase>\n";
}

}  // namespace

std::string TapPlan(size_t cases) { return fmt::format("TAP version 13\n1..{}\n", cases); }

std::string TapCase(size_t number, const TopologyTestCase& test, const RanCase& ran) {
  const bool ok = ran.result.passed || ran.updated;
  std::string text = fmt::format("{}ok {} - {}\n", ok ? "" : "not ", number, TapName(test.name));
  if (ran.updated) return text + "# updated\n";
  for (const std::string& line : ran.result.lines) text += fmt::format("# {}\n", line);
  return text;
}

std::string JUnit(const std::vector<RanFile>& files) {
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n";
  for (const auto& [test, cases] : files) {
    std::chrono::microseconds took{0};
    for (const RanCase& ran : cases) took += ran.took;
    const auto failed = std::ranges::count_if(
        cases, [](const RanCase& ran) { return !ran.result.passed && !ran.updated; });
    text += fmt::format(
        "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"0\" time=\"{:.3f}\">\n",
        Xml(test.path()), cases.size(), failed, Seconds(took));
    for (size_t i = 0; i < cases.size(); ++i) {
      text += JUnitCase(test.path(), test.cases()[i], cases[i]);
    }
    text += "  </testsuite>\n";
  }
  return text + "</testsuites>\n";
}

}  // namespace kstream::tools
