#include "common/run.h"

#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <utility>

#include "common/process.h"
#include "common/signal_commands.h"
#include "common/watcher.h"
#include "kstream/log.h"

namespace kstream::tools {
namespace {

// What is kept and how, for -X dump, in its form.
std::string StateText(const RuntimeOptions& runtime) {
  const RuntimeOptions defaults;
  std::string text = "# state\n";
  const auto add = [&text](std::string_view name, std::string_view value, bool given) {
    text += fmt::format("{:<48}  # {}\n", fmt::format("{} = {}", name, value),
                        given ? fmt::format("--{}", name) : "default");
  };
  add("guarantee", ToString(runtime.guarantee), runtime.guarantee != defaults.guarantee);
  add("commit-interval", fmt::format("{}ms", runtime.CommitInterval().count()),
      runtime.commit_interval.has_value());
  const Result<std::string> directory = runtime.StateDir();
  add("state-dir", directory.ok() ? *directory : "", !runtime.state_dir.empty());
  const auto store_type = runtime.store_type;
  const bool on_disk = store_type == StoreSpec::Engine::kDefault
                           ? !runtime.app.empty()
                           : store_type == StoreSpec::Engine::kRocksDb;
  add("store-type", on_disk ? "rocksdb" : "memory", store_type != defaults.store_type);
  add("memory", fmt::format("{}", runtime.memory), runtime.memory != defaults.memory);
  const bool all = runtime.standby == RuntimeOptions::kAllStandbys;
  add("standby", all ? "all" : fmt::format("{}", runtime.standby),
      runtime.standby != defaults.standby);
  return text;
}

}  // namespace

Result<std::optional<HttpOptions>> HttpOf(const StageOptions& options,
                                          const std::function<std::string()>& plan) {
  std::optional<HttpOptions> http = options.http;
  if (!http) {
    if (options.token.empty()) return http;
    return Status::Usage("--token is for --http");
  }
  http->token = TokenOf(options);
  http->plan = plan();
  return http;
}

Status RunToEnd(Runtime* runtime, const RuntimeOptions& options, bool topics,
                const std::optional<HttpOptions>& http, Reporter* reporter) {
  StopOnSignal stop(*runtime);
  // How long the end may take once --timeout is over: brokers get time for the last
  // acknowledgements and commits.
  const std::chrono::seconds grace(topics ? 10 : 2);
  Status status;
  {
    std::unique_ptr<HttpServer> server;
    if (http) {
      Result<std::unique_ptr<HttpServer>> started = HttpServer::Start(runtime, *http);
      if (!started.ok()) return started.status().At("--http");
      server = *std::move(started);
      Log(LogLevel::kInfo, fmt::format("listening on {}", server->url()));
    }
    SignalCommands commands(runtime, reporter);
    Watcher watcher(*runtime, reporter, options.timeout, grace);
    status = runtime->Run();
  }
  // What is wrong with the places themselves is found before a record is read.
  if (status.code() == StatusCode::kUsage) return status;
  reporter->Totals(runtime->counts(), options.dead_letter.has_value());
  return status;
}

std::string DumpOptions(const std::vector<PlanCluster>& clusters, const RuntimeOptions& options) {
  std::string text;
  for (const PlanCluster& cluster : clusters) {
    text += DumpProperties(cluster.name, cluster.properties);
  }
  return text + StateText(options);
}

}  // namespace kstream::tools
