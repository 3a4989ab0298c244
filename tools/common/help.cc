#include "common/help.h"

#include <fmt/format.h>

namespace kstream::tools {
namespace {

constexpr size_t kWidth = 79;
constexpr size_t kIndent = 26;

// Appends words to *out, which stands at column `column`; further lines begin at kIndent.
void Wrap(std::string_view words, size_t column, std::string* out) {
  while (!words.empty()) {
    size_t space = std::min(words.find(' '), words.size());
    std::string_view word = words.substr(0, space);
    words.remove_prefix(std::min(space + 1, words.size()));
    if (column > kIndent && column + 1 + word.size() > kWidth) {
      *out += '\n' + std::string(kIndent, ' ');
      column = kIndent;
    } else if (column > kIndent) {
      *out += ' ';
      ++column;
    }
    *out += word;
    column += word.size();
  }
  *out += '\n';
}

void Entry(const std::string& label, std::string_view help, std::string* out) {
  *out += label;
  if (label.size() + 2 > kIndent) {
    *out += '\n' + std::string(kIndent, ' ');
  } else {
    out->append(kIndent - label.size(), ' ');
  }
  Wrap(help, kIndent, out);
}

std::string Label(const Flag& flag) {
  std::string label;
  for (std::string_view name : Names(flag)) {
    label += fmt::format("{}{}", label.empty() ? (name.starts_with("--") ? "      " : "  ") : ", ",
                         name);
  }
  if (flag.metavar.empty()) return label;
  return label + fmt::format(fmt::runtime(flag.optional_value ? "[={}]" : " {}"), flag.metavar);
}

std::string WithChoices(const Flag& flag) {
  std::string help(flag.help);
  if (!flag.choices.empty()) help += fmt::format(" [{}]", fmt::join(flag.choices, " "));
  return help;
}

}  // namespace

std::string Help(std::string_view tool, std::string_view summary, const CommandLine& line) {
  std::string text = fmt::format("Usage: {} [OPTION]...", tool);
  if (line.positional.set) text += fmt::format(" {}", line.positional.metavar);
  text += fmt::format("\n{}.\n", summary);
  if (line.positional.set) {
    text += '\n';
    Entry(fmt::format("  {}", line.positional.metavar), line.positional.help, &text);
  }
  for (const FlagGroup& group : line.groups) {
    if (group.title.empty()) continue;
    text += fmt::format("\n{}:\n", group.title);
    for (const Flag& flag : group.flags) Entry(Label(flag), WithChoices(flag), &text);
  }
  text += fmt::format("\nExit codes, formats and examples: man {}\n", tool);
  return text;
}

}  // namespace kstream::tools
