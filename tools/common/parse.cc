#include "common/parse.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>

namespace kstream::tools {
namespace {

// A repeated option of CLI11 that takes one word each time.
CLI::Option* OneWordEach(CLI::Option* option) {
  return option->expected(1, CLI::detail::expected_max_vector_size)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

// `--name=` would make CLI11 take the next word as the value.
Status RefuseEmptyValues(const CommandLine& line, const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (word == "--") break;
    if (!word.starts_with("--") || !word.ends_with('=')) continue;
    std::string_view name = std::string_view(word).substr(0, word.size() - 1);
    if (FindFlag(line, name) != nullptr) return Status::Usage(fmt::format("{}: empty value", name));
  }
  return Status::Ok();
}

// What the parser left over: an unknown flag, or an argument too many. It leaves `--` too.
Status CheckRest(const CommandLine& line, const std::vector<std::string>& rest) {
  bool after_dashes = false;
  for (const std::string& word : rest) {
    if (word == "--" && !after_dashes) {
      after_dashes = true;
      continue;
    }
    const bool argument = after_dashes || word.size() < 2 || word[0] != '-';
    if (argument && !line.positional.set) {
      return Status::Usage(
          fmt::format("unexpected argument '{}': inputs are named with --input", word));
    }
    if (argument) {
      return Status::Usage(fmt::format(
          "unexpected argument '{}': one {} is taken, and inputs are named with --input", word,
          line.positional.metavar));
    }
    std::string name = word.substr(0, word.find('='));
    if (!name.starts_with("--")) {
      if (!line.positional.set) return Status::Usage(fmt::format("unknown flag {}", name));
      return Status::Usage(fmt::format("unknown flag {}: an {} that begins with - follows --", name,
                                       line.positional.metavar));
    }
    std::string_view nearest = NearestFlag(line, name);
    if (nearest.empty()) return Status::Usage(fmt::format("unknown flag {}", name));
    return Status::Usage(fmt::format("unknown flag {}: did you mean --{}?", name, nearest));
  }
  return Status::Ok();
}

Status Apply(const Flag& flag, const std::string& value) {
  if (flag.option != nullptr) {
    std::string_view name = MainName(flag);
    name.remove_prefix(name.find_first_not_of('-'));
    if (flag.given != nullptr) flag.given->emplace_back(name, value);
    return flag.option->Set(name, value);
  }
  bool bare = flag.optional_value && value == "true";
  bool known = flag.choices.empty() || bare ||
               std::find(flag.choices.begin(), flag.choices.end(), value) != flag.choices.end();
  Status status =
      known
          ? flag.set(value)
          : Status::Usage(fmt::format("'{}' is none of {}", value, fmt::join(flag.choices, ", ")));
  return status.At(MainName(flag));
}

}  // namespace

Status Parse(const CommandLine& line, const std::vector<std::string>& words, bool* has_positional) {
  KSTREAM_RETURN_IF_ERROR(RefuseEmptyValues(line, words));
  CLI::App app;
  app.set_help_flag("");
  app.allow_extras();
  std::map<const CLI::Option*, const Flag*> flags;
  for (const FlagGroup& group : line.groups) {
    for (const Flag& flag : group.flags) {
      std::string names(flag.names);
      bool word = !flag.metavar.empty() && !flag.optional_value;
      CLI::Option* option = word ? OneWordEach(app.add_option(names)) : app.add_flag(names);
      option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
      flags[option] = &flag;
    }
  }
  std::string metavar(line.positional.metavar);
  CLI::Option* positional = line.positional.set ? app.add_option(metavar) : nullptr;
  if (line.positional.many) OneWordEach(positional)->allow_extra_args(true);

  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::ArgumentMismatch& error) {
    // Only the last word can lack its value; of `-abc` it is the last letter.
    std::string name = words.back();
    if (!name.starts_with("--")) name = fmt::format("-{}", name.back());
    return Status::Usage(fmt::format("{}: its value is missing", name));
  } catch (const CLI::Error& error) {
    return Status::Usage(error.what());
  }
  KSTREAM_RETURN_IF_ERROR(CheckRest(line, app.remaining()));

  std::map<const CLI::Option*, size_t> seen;
  *has_positional = false;
  for (const CLI::Option* option : app.parse_order()) {
    const std::string& value = option->results()[seen[option]++];
    if (option == positional) {
      *has_positional = true;
      KSTREAM_RETURN_IF_ERROR(line.positional.set(value).At(line.positional.metavar));
    } else {
      KSTREAM_RETURN_IF_ERROR(Apply(*flags.at(option), value));
    }
  }
  return Status::Ok();
}

}  // namespace kstream::tools
