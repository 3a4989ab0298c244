#include "http/routes.h"

#include <fmt/format.h>

#include <charconv>
#include <memory>
#include <optional>
#include <utility>

#include "http/address.h"
#include "http/page.h"
#include "http/store_rows.h"
#include "metrics/snapshot.h"
#include "record/json_document.h"

namespace kstream::http {
namespace {

constexpr std::string_view kBearer = "Bearer ", kStores = "/stores", kRows = "/stores/";
// What a person who forgot a limit wants to see at once; a program says how many.
constexpr int64_t kUsualLimit = 1000;

// Looked at before anything else: what says nothing but "alive", and the page, which is the same
// for everybody.
bool IsOpen(const Request& request) {
  return request.path == "/health" || request.path == "/ready";
}

bool WantsPage(const Request& request) {
  return request.path == "/topology" && request.accept.find("text/html") != std::string::npos;
}

Result<int64_t> Number(std::string_view name, std::string_view text, int64_t most) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size() && number >= 0 && number <= most) {
    return number;
  }
  return Status::Usage(fmt::format("{} is no number from 0 to {}", name, most));
}

struct Asked {
  RowQuery query;
  int64_t limit = kUsualLimit;
  std::optional<std::string> prefix = {};
};

Status Set(std::string_view name, const std::string& value, Asked* asked) {
  RowQuery& query = asked->query;
  if (name == "prefix") {
    asked->prefix = value;
  } else if (name == "from") {
    query.from = value;
  } else if (name == "to") {
    query.to = value;
  } else if (name == "at-window") {
    return query.AtWindow(value);
  } else if (name == "task") {
    KSTREAM_ASSIGN_OR_RETURN(const int64_t task, Number(name, value, INT32_MAX));
    query.task = static_cast<int32_t>(task);
  } else if (name == "limit") {
    KSTREAM_ASSIGN_OR_RETURN(asked->limit, Number(name, value, INT64_MAX));
  } else if (name == "stored") {
    KSTREAM_ASSIGN_OR_RETURN(const int64_t stored, Number(name, value, 1));
    query.stored = stored == 1;
  } else {
    return Status::Usage(
        "the query may say from, to, prefix, limit, task, at-window and stored, each once");
  }
  return Status::Ok();
}

// "/stores/NAME?..." or "/stores/NAME/KEY".
Result<Asked> Parse(const Request& request) {
  Asked asked;
  const std::string_view rest = std::string_view(request.path).substr(kRows.size());
  const size_t slash = rest.find('/');
  asked.query.store = rest.substr(0, slash);
  std::string_view before;
  for (const auto& [name, value] : request.query) {
    if (name == before) return Status::Usage(fmt::format("{} is given twice", name));
    before = name;
    KSTREAM_RETURN_IF_ERROR(Set(name, value, &asked));
  }
  const bool bounds = !asked.query.from.empty() || asked.query.to;
  if (slash != std::string_view::npos) {
    if (bounds || asked.prefix)
      return Status::Usage("the path names a key: from, to and prefix say nothing");
    asked.query.Only(rest.substr(slash + 1));
  } else if (asked.prefix) {
    if (bounds) return Status::Usage("prefix contradicts from and to: give one or the other");
    asked.query.Prefix(*asked.prefix);
  }
  return asked;
}

Answer Unwell(const Status& status) {
  return Refuse(status.code() == StatusCode::kState ? 503 : 500, status.message());
}

Answer OnlyBy(std::string_view methods) {
  Answer answer = Refuse(405, fmt::format("this path is for {}", methods));
  answer.headers.emplace_back("Allow", methods);
  return answer;
}

}  // namespace

std::optional<Answer> Routes::Check(const Request& request) const {
  if (token_.empty()) {
    if (!request.host.empty() && !NamesLoopback(request.host)) {
      return Refuse(403, "this server is for its own host: call it 127.0.0.1 or localhost");
    }
  } else if (!IsOpen(request) && !WantsPage(request)) {
    const std::string_view given = request.authorization;
    if (!given.starts_with(kBearer) || !SameToken(given.substr(kBearer.size()), token_)) {
      Answer answer = Refuse(401, "a token is needed: Authorization: Bearer TOKEN");
      answer.headers.emplace_back("WWW-Authenticate", "Bearer");
      return answer;
    }
  }
  // A browser says which page a request comes from, and only our own page may ask for changes.
  if (!request.origin.empty() && request.origin != "http://" + request.host) {
    return Refuse(403, "a page of another server may not ask this one");
  }
  return std::nullopt;
}

Answer Routes::Take(const Request& request) const {
  if (std::optional<Answer> refused = Check(request)) return *std::move(refused);
  const std::string& path = request.path;
  if (path == "/pause" || path == "/resume") return Steer(request);
  const bool reads = request.method == "GET" || request.method == "HEAD";
  const bool rows = path.starts_with(kRows);
  if (!rows && path != "/metrics" && path != "/health" && path != "/ready" && path != "/topology" &&
      path != kStores) {
    return Refuse(404,
                  "there is no such path: /metrics, /health, /ready, /topology, /stores, "
                  "/stores/NAME, /stores/NAME/KEY; POST /pause, /resume");
  }
  if (!reads) return OnlyBy("GET, HEAD");
  if (rows) return Rows(request);
  if (path == "/metrics") {
    return {.type = std::string(metrics::kPrometheusContentType), .body = runtime_->Metrics()};
  }
  if (path == "/health") return Health();
  if (path == "/ready") return Ready();
  return path == kStores ? Stores() : Topology(request);
}

Answer Routes::Health() const {
  const RuntimeState state = runtime_->state();
  const bool fails = state == RuntimeState::kPendingError || state == RuntimeState::kError;
  return Refuse(fails ? 503 : 200, ToString(state));
}

Answer Routes::Ready() const {
  const std::string status = runtime_->StatusJson();
  json::Reader reader;
  json::Document document;
  const bool read = reader.Parse(status, &document).ok();
  const bool ready =
      read && document.type(document.Find(document.root(), "ready")) == json::Type::kTrue;
  return Refuse(ready ? 200 : 503,
                ready ? "ready" : "not ready: tasks are missing or being restored");
}

Answer Routes::Topology(const Request& request) const {
  if (WantsPage(request)) {
    return {.type = "text/html; charset=utf-8",
            .body = std::string(Page()),
            .headers = {{"Content-Security-Policy",
                         "default-src 'none'; script-src 'unsafe-inline'; style-src "
                         "'unsafe-inline'; connect-src 'self'; img-src data:; base-uri 'none'; "
                         "form-action 'none'; frame-ancestors 'none'"},
                        {"Vary", "Accept"}}};
  }
  std::string json = plan_.substr(0, plan_.find_last_of('}'));
  json.erase(json.find_last_not_of(" \n") + 1);
  if (json.empty()) json = "{";
  if (json.find_first_not_of("{ \n") != std::string::npos) json += ',';
  json += fmt::format("\"status\":{}}}\n", runtime_->StatusJson());
  return {.type = std::string(kJson), .body = std::move(json), .headers = {{"Vary", "Accept"}}};
}

Answer Routes::Stores() const {
  Answer answer{.type = std::string(kJsonLines)};
  for (const std::string& name : runtime_->StoreNames()) {
    const auto instances = runtime_->Store(name);
    if (!instances.ok()) continue;
    for (const StoreInstance& instance : *instances) {
      const Result<int64_t> offset = instance.rows->changelog_offset();
      if (!offset.ok()) continue;  // it has just gone
      answer.body += "{\"store\":";
      json::AppendQuoted(name, &answer.body);
      answer.body += fmt::format(",\"task\":{},\"offset\":{}}}\n", instance.task, *offset);
    }
  }
  return answer;
}

Answer Routes::Rows(const Request& request) const {
  Result<Asked> asked = Parse(request);
  if (!asked.ok()) return Refuse(400, asked.status().message());
  const auto instances = runtime_->Store(asked->query.store);
  if (!instances.ok()) return Refuse(404, instances.status().message());
  const bool one = request.path.find('/', kRows.size()) != std::string::npos;
  auto rows = std::make_shared<StoreRows>(*instances, asked->query, asked->limit);
  Answer answer{.type = std::string(kJsonLines)};
  // What fails before the first line has a status of its own.
  bool more = true;
  while (more && answer.body.empty()) {
    const Result<bool> next = rows->Next(&answer.body);
    if (!next.ok()) return Unwell(next.status());
    more = *next;
  }
  if (one && rows->rows() == 0) return Refuse(404, "there is no such key in this process");
  if (more) answer.more = [rows](std::string* piece) { return rows->Next(piece); };
  return answer;
}

Answer Routes::Steer(const Request& request) const {
  if (request.method != "POST") return OnlyBy("POST");
  const bool pause = request.path == "/pause";
  if (pause) {
    runtime_->Pause();
  } else {
    runtime_->Resume();
  }
  return {.type = std::string(kJson), .body = fmt::format("{{\"paused\":{}}}\n", pause)};
}

}  // namespace kstream::http
