#include "topology_test/case_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <type_traits>
#include <utility>

#include "topology/graph.h"

namespace kstream::topology_test {

namespace {

// Whether the case asks for what there is not, such as a thread: no end of the application.
bool IsOurs(const Status& status, const Action& action) {
  return status.code() == StatusCode::kUsage && (std::holds_alternative<Crash>(action.what) ||
                                                 std::holds_alternative<Rebalance>(action.what) ||
                                                 std::holds_alternative<AdvanceClock>(action.what));
}

}  // namespace

TopologyTestResult CaseRun::Run() {
  auto driver = TestDriver::Create(topology_, options_);
  end_ = driver.status();
  if (driver.ok()) driver_ = *std::move(driver);
  for (const Action& action : test_.actions) {
    // A driver that could not be made has nothing to show.
    if (driver_ == nullptr || (!end_.ok() && !test_.exit)) break;
    Status status = Do(action);
    if (end_.ok() && IsOurs(status, action)) {
      Fail({AtPlace(action.at, status.message())});
      return result_;
    }
    end_ = std::move(status);
    if (end_.ok() || test_.exit) continue;
    Fail({AtPlace(action.at, fmt::format("the application ended with exit code {}: {}",
                                         static_cast<int>(end_.code()), end_.message()))});
    return result_;
  }
  if (driver_ != nullptr) CheckRest();
  CheckEnd();
  return result_;
}

Status CaseRun::Do(const Action& action) {
  return std::visit(
      [&]<typename What>(const What& what) -> Status {
        if constexpr (std::is_same_v<What, Input>) {
          return Put(what);
        } else if constexpr (std::is_same_v<What, AdvanceClock>) {
          return driver_->Advance(what.by);
        } else if constexpr (std::is_same_v<What, Restart>) {
          return driver_->Restart();
        } else if constexpr (std::is_same_v<What, Crash>) {
          return CrashOf(what);
        } else if constexpr (std::is_same_v<What, Rebalance>) {
          return Move(what);
        } else if constexpr (std::is_same_v<What, EndInput>) {
          return driver_->EndInput();
        } else {
          Commit();
          Check(what);
          return end_;
        }
      },
      action.what);
}

Status CaseRun::Put(const Input& input) {
  driver_->Hold();
  for (const auto& [name, records] : input.topics) {
    std::vector<TestRecord> all;
    for (const auto& [record, at] : records) all.push_back(record);
    // While nothing runs, all that comes back is the end that there was before.
    const Status status = driver_->PipeAll(name.text, std::move(all));
    if (!status.ok() && end_.ok()) return status;
  }
  return driver_->Release();
}

Status CaseRun::CrashOf(const Crash& crash) {
  if (crash.thread) return driver_->Crash(*crash.thread);
  for (const int thread : driver_->threads()) {
    const Status status = driver_->Crash(thread);
    if (!status.ok()) return status;
  }
  return driver_->Restart();
}

Status CaseRun::Move(const Rebalance& rebalance) {
  if (rebalance.how == Rebalance::How::kJoin) return driver_->AddThread();
  const std::vector<int> threads = driver_->threads();
  if (threads.empty()) return Status::Usage("there is no thread that could leave");
  if (rebalance.how == Rebalance::How::kEvict) return driver_->Evict(threads.front());
  return driver_->RemoveThread(threads.back());
}

// --- checks ---

void CaseRun::Commit() {
  for (size_t i = 0; i < topology_.graph().stages.size() && driver_->running(); ++i) {
    if (Status status = driver_->Advance(options_.runtime.CommitInterval()); !status.ok()) {
      end_ = std::move(status);
    }
  }
}

// A topic that records name does not exist before one did.
std::vector<Item> CaseRun::NewRecords(const std::string& topic) {
  std::vector<Item> items;
  const auto records = driver_->Read(topic);
  if (!records.ok()) return items;
  for (const TestRecord& record : *records) items.push_back(Item::Of(record));
  return items;
}

void CaseRun::Check(const ExpectTopics& expected) {
  for (const Expectation& topic : expected.topics) {
    looked_at_.insert_or_assign(topic.name.text, topic.name);
    Note(CheckItems(topic, NewRecords(topic.name.text), "record", file_));
  }
}

void CaseRun::Check(const ExpectStores& expected) {
  for (const Expectation& store : expected.stores) {
    const auto rows = driver_->Rows(store.name.text);
    if (!rows.ok()) {
      Fail({AtPlace(store.name.at, rows.status().message())});
      continue;
    }
    std::vector<Item> items;
    for (const TestRow& row : *rows) items.push_back(Item::Of(row));
    Note(CheckItems(store, items, "row", file_));
  }
}

void CaseRun::Check(const ExpectCommits& expected) {
  const auto text = [](const std::optional<int64_t>& offset) {
    return offset ? fmt::format("{}", *offset) : "null";
  };
  for (const auto& [name, at, offsets] : expected.topics) {
    std::vector<std::string> wanted, came;
    for (size_t i = 0; i < offsets.size(); ++i) {
      const auto offset = driver_->Committed(name.text, static_cast<int32_t>(i));
      if (!offset.ok()) {
        Fail({AtPlace(at, offset.status().message())});
        return;
      }
      wanted.push_back(text(offsets[i]));
      came.push_back(text(*offset));
    }
    if (wanted == came) continue;
    const auto list = [&, &at = at](const std::vector<std::string>& all) {
      return at.is_array() ? fmt::format("[{}]", fmt::join(all, ", ")) : all.front();
    };
    Note({{AtPlace(at, fmt::format("{}: the committed offsets are not as expected", name.text)),
           "    - " + list(wanted), "    + " + list(came)},
          {{at.offset(), at.Raw().size(), list(came)}}});
  }
}

void CaseRun::CheckRest() {
  Commit();
  for (const auto& [topic, name] : looked_at_) {
    const std::vector<Item> rest = NewRecords(topic);
    if (rest.empty()) continue;
    std::vector<std::string> lines = {
        AtPlace(test_.at, fmt::format("{}: {} came after the last look at it, in {}", topic,
                                      rest.size() == 1 ? "a record" : "records", test_.name))};
    for (const Item& item : rest) lines.push_back("    + " + item.Text());
    Fail(std::move(lines));
  }
}

void CaseRun::CheckEnd() {
  const int code = static_cast<int>(end_.code());
  if (!test_.exit) {
    if (!end_.ok()) {
      Fail({AtPlace(test_.at, fmt::format("the application ended with exit code {}: {}", code,
                                          end_.message()))});
    }
    return;
  }
  const auto& [expected, error, at] = *test_.exit;
  if (code != expected) {
    Note({{AtPlace(at, "the exit code is not as expected"), fmt::format("    - {}", expected),
           fmt::format("    + {}{}", code, end_.ok() ? "" : fmt::format(": {}", end_.message()))},
          {{at.offset(), at.Raw().size(), std::to_string(code)}}});
  } else if (end_.message().find(error) == std::string_view::npos) {
    Fail({AtPlace(at, "the message of the end is not as expected"), "    - ..." + error + "...",
          fmt::format("    + {}", end_.message())});
  }
}

void CaseRun::Note(const CheckResult& result) {
  if (result.lines.empty()) return;
  result_.passed = false;
  if (result.edits.empty()) result_.edits_help = false;
  result_.lines.insert(result_.lines.end(), result.lines.begin(), result.lines.end());
  result_.edits.insert(result_.edits.end(), result.edits.begin(), result.edits.end());
}

}  // namespace kstream::topology_test
