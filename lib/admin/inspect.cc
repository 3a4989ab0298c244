// The public face of the inspector.
#include "kstream/inspect.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "admin/app_inspector.h"
#include "admin/home.h"
#include "base/clock.h"
#include "base/time.h"
#include "runtime/state_directory.h"

namespace kstream {
namespace {

// The first text after all that begin with `prefix`; nullopt: there is none.
std::optional<std::string> After(std::string_view prefix) {
  std::string after(prefix);
  while (!after.empty() && after.back() == '\xff') after.pop_back();
  if (after.empty()) return std::nullopt;
  after.back() = static_cast<char>(static_cast<unsigned char>(after.back()) + 1);
  return after;
}

}  // namespace

Inspector::~Inspector() = default;

void RowQuery::Prefix(std::string_view prefix) {
  from = prefix;
  to = After(prefix);
}

void RowQuery::Only(std::string_view key) {
  from = key;
  to = std::string(key) + '\0';
}

Status RowQuery::AtWindow(std::string_view time) {
  int64_t ms = 0;
  const auto [end, error] = std::from_chars(time.data(), time.data() + time.size(), ms);
  if (error == std::errc() && end == time.data() + time.size()) {
    at_window = ms;
    return Status::Ok();
  }
  const Result<int64_t> parsed = ParseRfc3339(time);
  if (!parsed.ok()) {
    return Status::Usage(
        fmt::format("'{}' is no time: give ms since the epoch, or RFC 3339", time));
  }
  at_window = *parsed;
  return Status::Ok();
}

Result<std::unique_ptr<Inspector>> Inspector::Open(InspectOptions options) {
  KSTREAM_RETURN_IF_ERROR(runtime::CheckFileName("application", options.app));
  std::unique_ptr<transport::Cluster> home;
  if (!options.home.brokers.empty()) {
    KSTREAM_ASSIGN_OR_RETURN(home, admin::OpenHome(options.home));
  } else if (options.from_changelog) {
    return Status::Usage("--from-changelog needs --brokers: changelogs are topics");
  }
  static const SystemClock clock;
  return std::unique_ptr<Inspector>(
      std::make_unique<admin::AppInspector>(std::move(options), std::move(home), &clock));
}

Result<std::vector<AppInstance>> ListApps(const std::string& state_dir) {
  KSTREAM_ASSIGN_OR_RETURN(const auto names, runtime::ListApplications(state_dir));
  std::vector<AppInstance> apps;
  for (const std::string& name : names) {
    KSTREAM_ASSIGN_OR_RETURN(const auto stores, runtime::ListStores(state_dir, name));
    KSTREAM_ASSIGN_OR_RETURN(auto holder, runtime::HolderOf(state_dir, name));
    apps.push_back({name, stores.size(), std::move(holder)});
  }
  return apps;
}

}  // namespace kstream
