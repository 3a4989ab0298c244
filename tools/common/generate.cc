#include "common/generate.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace kstream::tools {
namespace {

void ForEachFlag(const CommandLine& line, const std::function<void(const Flag&)>& each) {
  for (const FlagGroup& group : line.groups) {
    if (group.title.empty()) continue;
    for (const Flag& flag : group.flags) each(flag);
  }
}

std::string Replace(std::string_view text, std::string_view what, std::string_view by) {
  std::string result;
  for (char c : text) {
    if (what.find(c) == std::string_view::npos) {
      result += c;
    } else {
      result += fmt::format(fmt::runtime(by), c);
    }
  }
  return result;
}

// The first clause of a help text: what fits beside a name.
std::string_view Short(const Flag& flag) {
  size_t end = flag.help.size();
  for (std::string_view stop : {";", ". ", ": "}) end = std::min(end, flag.help.find(stop));
  return flag.help.substr(0, end);
}

// --- man ---

std::string Roff(std::string_view text) {
  std::string escaped;
  for (char c : text) {
    if (c == '\\') {
      escaped += "\\e";
    } else if (c == '-' || c == '\'') {
      escaped += c == '-' ? "\\-" : "\\(aq";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

std::string RoffFlag(const Flag& flag) {
  std::string text = ".TP\n";
  std::string separator;
  for (std::string_view name : Names(flag)) {
    text += fmt::format("{}\\fB{}\\fR", separator, Roff(name));
    separator = ", ";
  }
  if (!flag.metavar.empty()) {
    text += flag.optional_value ? fmt::format("[=\\fI{}\\fR]", Roff(flag.metavar))
                                : fmt::format(" \\fI{}\\fR", Roff(flag.metavar));
  }
  text += fmt::format("\n\\&{}", Roff(flag.help));
  if (!flag.choices.empty())
    text += fmt::format("; one of {}", Roff(fmt::format("{}", fmt::join(flag.choices, ", "))));
  return text + ".\n";
}

std::string Man(const CommandLine& line) {
  std::string text;
  if (line.positional.set) {
    text = fmt::format(".TP\n\\fI{}\\fR\n\\&{}.\n", line.positional.metavar,
                       Roff(line.positional.help));
  }
  for (const FlagGroup& group : line.groups) {
    if (group.title.empty()) continue;
    text += fmt::format(".SS {}\n", Roff(group.title));
    for (const Flag& flag : group.flags) text += RoffFlag(flag);
  }
  return text;
}

// --- bash ---

std::string BashCase(const Flag& flag) {
  std::string names = fmt::format("{}", fmt::join(Names(flag), "|"));
  if (flag.takes_file) {
    return fmt::format(
        "    {}) compopt -o filenames; COMPREPLY=($(compgen -f -- \"$cur\")); return ;;\n", names);
  }
  if (flag.choices.empty()) return fmt::format("    {}) return ;;\n", names);
  return fmt::format("    {}) COMPREPLY=($(compgen -W '{}' -- \"$cur\")); return ;;\n", names,
                     fmt::join(flag.choices, " "));
}

std::string Bash(std::string_view tool, const CommandLine& line) {
  std::string function = "_" + Replace(tool, "-", "_");
  std::string with_word, with_equals, all;
  ForEachFlag(line, [&](const Flag& flag) {
    if (!flag.metavar.empty()) (flag.optional_value ? with_equals : with_word) += BashCase(flag);
    all += fmt::format("{}{}", all.empty() ? "" : " ", fmt::join(Names(flag), " "));
  });
  for (std::string_view choice : line.positional.choices) all += fmt::format(" {}", choice);
  return fmt::format(
      "# bash completion of {0}; made from its flags\n"
      "{1}() {{\n"
      "  local cur=${{COMP_WORDS[COMP_CWORD]}} flag=${{COMP_WORDS[COMP_CWORD-1]}} equals=\n"
      "  if [[ $cur == = ]]; then cur= equals=1; fi\n"
      "  if [[ $flag == = ]]; then flag=${{COMP_WORDS[COMP_CWORD-2]}} equals=1; fi\n"
      "  if [[ $equals ]]; then\n"
      "    case $flag in\n{3}    esac\n"
      "  fi\n"
      "  case $flag in\n{2}  esac\n"
      "  COMPREPLY=($(compgen -W '{4}' -- \"$cur\"))\n"
      "}}\n"
      "complete -F {1} {0}\n",
      tool, function, with_word, with_equals, all);
}

// --- zsh ---

std::string Zsh(std::string_view tool, const CommandLine& line) {
  std::string text = fmt::format(
      "#compdef {0}\n# zsh completion of {0}; made from its flags\n_arguments -s -S \\\n", tool);
  ForEachFlag(line, [&](const Flag& flag) {
    std::string help = Replace(Replace(Short(flag), "[]:\\", "\\{}"), "'", "'\\{0}{0}");
    std::string value;
    if (!flag.metavar.empty()) {
      value = fmt::format("{}{}:", flag.optional_value ? "::" : ":",
                          Replace(flag.metavar, "[]:\\", "\\{}"));
      if (flag.takes_file) value += "_files";
      if (!flag.choices.empty()) value += fmt::format("({})", fmt::join(flag.choices, " "));
    }
    for (std::string_view name : Names(flag)) {
      std::string_view mark;
      if (!flag.metavar.empty())
        mark = name.starts_with("--") ? (flag.optional_value ? "=-" : "=") : "+";
      text += fmt::format("  '*{}{}[{}]{}' \\\n", name, mark, help, value);
    }
  });
  if (line.positional.set) {
    text += fmt::format("  '1:{}:", Replace(line.positional.metavar, "[]:\\", "\\{}"));
    if (!line.positional.choices.empty()) {
      text += fmt::format("({})", fmt::join(line.positional.choices, " "));
    }
    return text + (line.positional.many ? "' \\\n  '*:argument:'\n" : "'\n");
  }
  return text.substr(0, text.size() - 3) + "\n";  // no line goes on
}

// --- fish ---

std::string Fish(std::string_view tool, const CommandLine& line) {
  std::string text =
      fmt::format("# fish completion of {0}; made from its flags\ncomplete -c {0} -f\n", tool);
  if (!line.positional.choices.empty()) {
    text += fmt::format("complete -c {} -n __fish_use_subcommand -a '{}'\n", tool,
                        fmt::join(line.positional.choices, " "));
  }
  ForEachFlag(line, [&](const Flag& flag) {
    text += fmt::format("complete -c {}", tool);
    for (std::string_view name : Names(flag)) {
      bool is_long = name.starts_with("--");
      text += fmt::format(" {} {}", is_long ? "-l" : "-s", name.substr(is_long ? 2 : 1));
    }
    if (flag.takes_file) {
      text += " -r -F";
    } else if (!flag.metavar.empty() && !flag.optional_value) {
      text += " -x";
    }
    if (!flag.choices.empty()) text += fmt::format(" -a '{}'", fmt::join(flag.choices, " "));
    text += fmt::format(" -d '{}'\n", Replace(Short(flag), "\\'", "\\{}"));
  });
  return text;
}

}  // namespace

std::string Generate(std::string_view tool, const CommandLine& line, std::string_view what) {
  if (what == "man") return Man(line);
  if (what == "bash") return Bash(tool, line);
  return what == "zsh" ? Zsh(tool, line) : Fish(tool, line);
}

}  // namespace kstream::tools
