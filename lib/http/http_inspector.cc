// InspectOverHttp: an Inspector whose rows come from a run that listens. It asks for rows as they
// are stored, in the lines of a dump, so that it tells the same of them as one that reads files.
// Tested by tests/unit/http/http_inspector_test.cc.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <httplib.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <optional>
#include <set>
#include <utility>

#include "admin/dump_file.h"
#include "admin/row_keys.h"
#include "admin/row_sum.h"
#include "base/log.h"
#include "base/printable.h"
#include "http/address.h"
#include "kstream/http.h"
#include "record/json_document.h"

namespace kstream {
namespace {

using admin::DumpedRow;
using admin::RowKeys;

constexpr time_t kWaitSeconds = 10;
// A line that is longer is of no server of ours: a record of Kafka is not so large.
constexpr size_t kLongestLine = size_t{1} << 30;
constexpr size_t kLongestComplaint = 1 << 10;

Status NotThere(std::string_view what) {
  return Status::Usage(fmt::format("{} is not told over HTTP: it needs the changelog", what));
}

std::string Escaped(std::string_view text) {
  std::string escaped;
  for (const unsigned char c : text) escaped += fmt::format("%{:02X}", c);
  return escaped;
}

// Hands over whole lines of what comes in pieces.
class LineTaker {
 public:
  // False ends it.
  using Take = std::function<Result<bool>(std::string_view line)>;
  explicit LineTaker(const Take& take) : take_(take) {}

  bool Add(std::string_view piece) {
    text_ += piece;
    size_t begin = 0;
    for (size_t end; (end = text_.find('\n', begin)) != std::string::npos; begin = end + 1) {
      const Result<bool> more = take_(std::string_view(text_).substr(begin, end - begin));
      status_ = more.status();
      ended_ = !more.ok() || !*more;
      if (ended_) return false;
    }
    text_.erase(0, begin);
    if (text_.size() > kLongestLine) status_ = Status::Data("a line has no end");
    return status_.ok();
  }
  bool ended() const { return ended_; }
  const Status& status() const { return status_; }

 private:
  const Take& take_;
  std::string text_;
  Status status_;
  bool ended_ = false;
};

class HttpInspector final : public Inspector {
 public:
  HttpInspector(http::Address address, std::string_view token)
      : where_(fmt::format("{}:{}", address.host, address.port)),
        client_(address.host, address.port) {
    client_.set_connection_timeout(kWaitSeconds);
    client_.set_read_timeout(kWaitSeconds);
    if (!token.empty()) headers_ = {{"Authorization", fmt::format("Bearer {}", token)}};
  }

  Result<std::vector<InspectedStore>> List() override {
    std::vector<InspectedStore> stores;
    json::Reader reader;
    json::Document line;
    KSTREAM_RETURN_IF_ERROR(Get("/stores", [&](std::string_view text) -> Result<bool> {
      KSTREAM_RETURN_IF_ERROR(reader.Parse(text, &line));
      InspectedStore& store = stores.emplace_back();
      KSTREAM_ASSIGN_OR_RETURN(store.store, Text(line, "store"));
      KSTREAM_ASSIGN_OR_RETURN(store.offset, Number(line, "offset"));
      KSTREAM_ASSIGN_OR_RETURN(const int64_t task, Number(line, "task"));
      store.task = static_cast<int32_t>(task);
      return true;
    }));
    return stores;
  }

  Result<std::optional<std::string>> Holder() override { return std::optional<std::string>(); }

  Status Scan(const RowQuery& query, const Visitor& visit) override {
    KSTREAM_ASSIGN_OR_RETURN(const auto asked, Asked(query, false));
    bool more = true;
    for (const InspectedStore& instance : asked) {
      if (!more) break;
      KSTREAM_ASSIGN_OR_RETURN(RowKeys keys, KeysOf(instance));
      KSTREAM_RETURN_IF_ERROR(
          Rows(instance, query, &keys, [&](const InspectedRow& row) { return more = visit(row); }));
    }
    return Status::Ok();
  }

  Result<std::vector<StoreTotals>> Totals(const RowQuery& query) override {
    KSTREAM_ASSIGN_OR_RETURN(const auto asked, Asked(query, true));
    std::vector<StoreTotals> totals;
    for (const InspectedStore& instance : asked) {
      KSTREAM_ASSIGN_OR_RETURN(RowKeys keys, KeysOf(instance));
      admin::RowSum sum(instance.store, instance.task, keys);
      KSTREAM_RETURN_IF_ERROR(Rows(instance, query, &keys, [&sum](const InspectedRow& row) {
        sum.Add(row);
        return true;
      }));
      totals.push_back(sum.totals());
    }
    return totals;
  }

  Result<std::optional<int32_t>> Tasks(const RowQuery&) override {
    return std::optional<int32_t>();
  }
  Status History(const RowQuery&, const VersionVisitor&) override { return NotThere("history"); }
  Result<std::vector<InstanceVerdict>> Verify(const RowQuery&, const DifferenceVisitor&) override {
    return NotThere("verify");
  }

 private:
  static Result<std::string> Text(const json::Document& line, std::string_view name) {
    const json::Node node = line.type(line.root()) == json::Type::kObject
                                ? line.Find(line.root(), name)
                                : json::kNoNode;
    if (node == json::kNoNode || line.type(node) != json::Type::kString) {
      return Status::Data(fmt::format("no \"{}\"", name));
    }
    std::string text;
    json::Unescape(line.StringContent(node), &text);
    return text;
  }
  static Result<int64_t> Number(const json::Document& line, std::string_view name) {
    const json::Node node = line.Find(line.root(), name);
    int64_t number = 0;
    const std::string_view text = node == json::kNoNode ? "" : line.Raw(node);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc() && end == text.data() + text.size()) return number;
    return Status::Data(fmt::format("no \"{}\"", name));
  }

  // The instances that a query means; `all`: of all stores where it names none.
  Result<std::vector<InspectedStore>> Asked(const RowQuery& query, bool all) {
    KSTREAM_ASSIGN_OR_RETURN(std::vector<InspectedStore> stores, List());
    std::set<std::string> names;
    for (const InspectedStore& one : stores) names.insert(Printable(one.store));
    if (query.store.empty() && names.size() > 1 && !all) {
      return Status::Usage(fmt::format("{} has several stores, say which with --store: {}", where_,
                                       fmt::join(names, ", ")));
    }
    std::erase_if(stores, [&query](const InspectedStore& one) {
      return (!query.store.empty() && one.store != query.store) ||
             (query.task && one.task != *query.task);
    });
    if (!stores.empty()) return stores;
    return Status(StatusCode::kState,
                  fmt::format("{} has no such store, or none of its tasks now: {}", where_,
                              fmt::join(names, ", ")));
  }

  Result<RowKeys> KeysOf(const InspectedStore& instance) {
    std::optional<RowKeys> keys;
    KSTREAM_RETURN_IF_ERROR(Stored(instance, "&limit=1", [&keys](const DumpedRow& row) {
      keys = RowKeys::Of(row.value.value_or(""));
      return false;
    }));
    return keys ? *keys : RowKeys::Of(std::string_view());
  }

  Status Rows(const InspectedStore& instance, const RowQuery& query, RowKeys* keys,
              const Visitor& visit) {
    Log(LogLevel::kInfo, fmt::format("{}[{}]: as of changelog offset {}", Printable(instance.store),
                                     instance.task, instance.offset));
    std::string bounds = fmt::format("&limit={}", INT64_MAX);
    if (query.stored || !keys->windowed()) {
      if (!query.from.empty()) bounds += "&from=" + Escaped(query.from);
      if (query.to) bounds += "&to=" + Escaped(*query.to);
    }
    return Stored(instance, bounds, [&](const DumpedRow& dumped) {
      InspectedRow row{instance.store, instance.task, dumped.key, dumped.value.value_or(""),
                       dumped.timestamp};
      return (!query.stored && !keys->Read(dumped.key, query, &row)) || visit(row);
    });
  }

  Status Stored(const InspectedStore& instance, const std::string& more,
                const std::function<bool(const DumpedRow&)>& take) {
    const std::string path =
        fmt::format("/stores/{}?stored=1&task={}{}", Escaped(instance.store), instance.task, more);
    DumpedRow row;
    return Get(path, [&](std::string_view line) -> Result<bool> {
      KSTREAM_RETURN_IF_ERROR(reader_.Read(line, &row));
      return take(row);
    });
  }

  Status Get(const std::string& path, const LineTaker::Take& take) {
    int status = 0;
    std::string complaint;
    LineTaker lines(take);
    const httplib::Result answer = client_.Get(
        path, headers_,
        [&status](const httplib::Response& head) {
          status = head.status;
          return true;
        },
        [&](const char* bytes, size_t size) {
          if (status == 200) return lines.Add({bytes, size});
          complaint.append(bytes, std::min(size, kLongestComplaint - complaint.size()));
          return complaint.size() < kLongestComplaint;
        });
    if (status == 200 && lines.ended() && lines.status().ok()) return Status::Ok();
    KSTREAM_RETURN_IF_ERROR(lines.status().At(fmt::format("the answer of {}", where_)));
    if (status == 200 && answer) return Status::Ok();
    return WhyNot(status, complaint);
  }

  Status WhyNot(int status, std::string_view complaint) const {
    if (status == 0) return Status::Cluster(fmt::format("{} does not answer", where_));
    if (status == 200) {
      return {StatusCode::kState,
              fmt::format("the answer of {} ended before its end: the store has moved, or the run "
                          "has ended",
                          where_)};
    }
    complaint = complaint.substr(0, complaint.find_last_not_of("\r\n") + 1);
    return {status == 404 || status == 503 ? StatusCode::kState : StatusCode::kCluster,
            fmt::format("{} says {}: {}", where_, status, Printable(complaint))};
  }

  const std::string where_;
  httplib::Client client_;
  httplib::Headers headers_;
  admin::DumpReader reader_;
};

}  // namespace

Result<std::unique_ptr<Inspector>> InspectOverHttp(std::string_view address,
                                                   std::string_view token) {
  constexpr std::string_view kScheme = "http://";
  if (address.starts_with(kScheme)) address.remove_prefix(kScheme.size());
  if (address.ends_with('/')) address.remove_suffix(1);
  KSTREAM_ASSIGN_OR_RETURN(http::Address where, http::ParseAddress(address));
  return std::unique_ptr<Inspector>(new HttpInspector(std::move(where), token));
}

}  // namespace kstream
