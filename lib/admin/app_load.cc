#include "admin/app_load.h"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <utility>

#include "admin/home.h"
#include "admin/members.h"
#include "base/printable.h"
#include "runtime/changelogs.h"
#include "store/rocksdb/rocksdb_engine.h"

namespace kstream {
Load::~Load() = default;

Result<std::unique_ptr<Load>> Load::Open(LoadOptions options) {
  KSTREAM_RETURN_IF_ERROR(runtime::CheckFileName("application", options.app));
  std::unique_ptr<transport::Cluster> home;
  if (!options.home.brokers.empty()) {
    // As long as brokers allow by default: the transaction holds all rows.
    auto& properties = options.home.producer;
    properties.insert(properties.begin(), {"transaction.timeout.ms", "900000"});
    KSTREAM_ASSIGN_OR_RETURN(home, admin::OpenHome(options.home));
  }
  static const SystemClock clock;
  return std::unique_ptr<Load>(
      std::make_unique<admin::AppLoad>(std::move(options), std::move(home), &clock));
}

namespace admin {
namespace {

constexpr std::chrono::minutes kSendLimit{10};
constexpr std::chrono::milliseconds kCommitTurn{100};
constexpr size_t kRowsAtOnce = 4096;
constexpr uint64_t kMemory = uint64_t{64} << 20;

InspectOptions Authority(const LoadOptions& options) {
  return {.app = options.app,
          .state_dir = options.state_dir,
          .home = options.home,
          .from_changelog = !options.home.brokers.empty()};
}

// Writes changes to the store of a run on files, some at a time.
class FileWriter {
 public:
  FileWriter(store::Engine* engine, int64_t now) : engine_(engine) { at_.written = now; }

  Status Add(const store::Change& change) {
    bytes_.emplace_back(change.key, change.value);
    times_.push_back(change.timestamp);
    return bytes_.size() < kRowsAtOnce ? Status::Ok() : Write();
  }
  Status Write() {
    std::vector<store::Change> changes;
    for (size_t i = 0; i < bytes_.size(); i++) {
      changes.push_back({bytes_[i].first, bytes_[i].second, times_[i]});
    }
    Status written = engine_->Write(changes, at_);
    bytes_.clear();
    times_.clear();
    return written;
  }

 private:
  store::Engine* const engine_;
  store::Checkpoint at_;  // of no changelog
  std::vector<std::pair<std::string, std::optional<std::string>>> bytes_;
  std::vector<int64_t> times_;
};

}  // namespace

AppLoad::AppLoad(LoadOptions options, std::unique_ptr<transport::Cluster> home, const Clock* clock)
    : options_(std::move(options)),
      home_(std::move(home)),
      clock_(clock),
      instances_(Authority(options_), home_.get(), clock),
      input_(options_.store, options_.replace, [this] { return instances_.Room(); }) {}

AppLoad::~AppLoad() = default;

Status AppLoad::Prepare() {
  if (!is_read_) KSTREAM_RETURN_IF_ERROR(input_.Read(options_.input));
  is_read_ = true;
  if (!input_.store().empty()) return runtime::CheckFileName("store", input_.store());
  return Status::Usage("there are no rows: --store says whose rows are replaced by none");
}

Result<AppLoad::Committed> AppLoad::CheckStopped() {
  KSTREAM_ASSIGN_OR_RETURN(const auto admin, home_->NewAdmin());
  KSTREAM_ASSIGN_OR_RETURN(const auto group, admin->DescribeGroup(options_.app));
  KSTREAM_RETURN_IF_ERROR(CheckNoMembers(options_.app, group, options_.home));
  KSTREAM_ASSIGN_OR_RETURN(const auto offsets, admin->GroupOffsets(options_.app));
  Committed committed;
  for (const auto& offset : offsets) committed[offset.partition] = offset.offset;
  return committed;
}

// More records would hide that some are gone.
Status AppLoad::CheckDirectory() {
  std::error_code error;
  const std::string directory = fmt::format("{}/{}", options_.state_dir, options_.app);
  if (!std::filesystem::exists(directory, error)) return Status::Ok();
  KSTREAM_ASSIGN_OR_RETURN(const auto found, runtime::ListStores(options_.state_dir, options_.app));
  for (const auto& here : found) {
    const auto changelog = instances_.ChangelogOf({here.store, here.task});
    if (here.store != input_.store() || !changelog) continue;
    KSTREAM_ASSIGN_OR_RETURN(const auto engine, store::rocksdb::OpenForReading(here.path));
    KSTREAM_ASSIGN_OR_RETURN(const auto log, instances_.EndsOf(*changelog));
    KSTREAM_RETURN_IF_ERROR(runtime::CheckReaches(engine->checkpoint(),
                                                  instances_.manifest().incarnation, *changelog,
                                                  here.store, log, options_.app));
  }
  return Status::Ok();
}

// Instances that rows are written to, or deleted from.
Result<std::vector<Instance>> AppLoad::Targets() {
  if (home_ == nullptr) return FileTargets();
  KSTREAM_ASSIGN_OR_RETURN(auto asked, instances_.Asked({.store = input_.store()}));
  if (!instances_.ChangelogOf(asked.front())) {
    return Status::Refused(
        fmt::format("store {} has no changelog: what is written to one host "
                    "alone does not last",
                    Printable(input_.store())));
  }
  KSTREAM_RETURN_IF_ERROR(input_.CheckTasks(static_cast<int32_t>(asked.size())));
  KSTREAM_RETURN_IF_ERROR(CheckDirectory());
  std::erase_if(asked, [this](const Instance& instance) {
    return !input_.replace() && !input_.Has(instance.task);
  });
  return asked;
}

Result<std::vector<Instance>> AppLoad::FileTargets() {
  std::map<int32_t, Instance> targets;
  for (int32_t task = 0; task < input_.least_tasks(); task++) {
    if (input_.Has(task)) targets[task] = {input_.store(), task, ""};
  }
  std::error_code error;
  const std::string directory = fmt::format("{}/{}", options_.state_dir, options_.app);
  if (std::filesystem::exists(directory, error)) {
    KSTREAM_ASSIGN_OR_RETURN(const auto found,
                             runtime::ListStores(options_.state_dir, options_.app));
    for (const auto& here : found) {
      if (here.store != input_.store()) continue;
      if (input_.replace() || input_.Has(here.task)) {
        targets[here.task] = {here.store, here.task, here.path};
      }
      KSTREAM_ASSIGN_OR_RETURN(const auto engine, store::rocksdb::OpenForReading(here.path));
      if (engine->checkpoint().incarnation.empty()) continue;
      return Status::Refused(
          fmt::format("store {} has a changelog, which must agree with it: give --brokers",
                      Printable(here.store)));
    }
  }
  std::vector<Instance> all;
  for (auto& [task, target] : targets) all.push_back(std::move(target));
  return all;
}

Result<std::unique_ptr<StoreView>> AppLoad::Current(const Instance& target) {
  if (home_ != nullptr) return instances_.Open({target.store, target.task}, {});
  std::unique_ptr<store::Engine> base;
  if (!target.path.empty()) {
    KSTREAM_ASSIGN_OR_RETURN(base, store::rocksdb::OpenForReading(target.path));
  }
  return std::make_unique<StoreView>(std::move(base), [this] { return instances_.Room(); });
}

Result<LoadStep> AppLoad::Apply(const Instance& target, const LoadInput::Sink& write) {
  LoadStep step{.store = target.store, .task = target.task, .target = {}};
  if (const auto changelog = instances_.ChangelogOf(target)) {
    step.target = changelog->topic;
  } else {
    step.target =
        fmt::format("{}/{}/{}/{}", options_.state_dir, options_.app, target.store, target.task);
  }
  KSTREAM_ASSIGN_OR_RETURN(const auto current, Current(target));
  KSTREAM_RETURN_IF_ERROR(input_.Apply(target.task, current.get(), write, &step));
  return step;
}

Result<std::vector<LoadStep>> AppLoad::Plan() {
  KSTREAM_RETURN_IF_ERROR(Prepare());
  if (home_ != nullptr) KSTREAM_RETURN_IF_ERROR(CheckStopped().status());
  KSTREAM_ASSIGN_OR_RETURN(const auto targets, Targets());
  std::vector<LoadStep> steps;
  const auto nothing = [](const store::Change&) { return Status::Ok(); };
  for (const Instance& target : targets) {
    KSTREAM_ASSIGN_OR_RETURN(steps.emplace_back(), Apply(target, nothing));
  }
  return steps;
}

Result<std::vector<LoadStep>> AppLoad::Execute() {
  KSTREAM_RETURN_IF_ERROR(Prepare());
  // Members are told of before the directory that one of them may have.
  if (home_ != nullptr) KSTREAM_RETURN_IF_ERROR(CheckStopped().status());
  KSTREAM_RETURN_IF_ERROR(LockDirectory());
  KSTREAM_ASSIGN_OR_RETURN(const auto targets, Targets());
  auto steps = home_ == nullptr ? ExecuteOnFiles(targets) : ExecuteOnCluster(targets);
  directory_.reset();
  return steps;
}

Status AppLoad::LockDirectory() {
  std::error_code error;
  const std::string path = fmt::format("{}/{}", options_.state_dir, options_.app);
  if (home_ != nullptr && !std::filesystem::exists(path, error)) return Status::Ok();
  const std::atomic<bool> stop = false;
  KSTREAM_ASSIGN_OR_RETURN(directory_,
                           runtime::StateDirectory::Open(options_.state_dir, options_.app, stop,
                                                         std::chrono::milliseconds(0)));
  return Status::Ok();
}

Result<std::vector<LoadStep>> AppLoad::ExecuteOnCluster(const std::vector<Instance>& targets) {
  KSTREAM_ASSIGN_OR_RETURN(const Committed before, CheckStopped());
  std::vector<LoadStep> steps;
  if (targets.empty()) return steps;
  KSTREAM_ASSIGN_OR_RETURN(const auto producer,
                           home_->NewProducer({.transactional_id = options_.app + "-load"}));
  const std::string topic_name = instances_.ChangelogOf(targets.front())->topic;
  KSTREAM_ASSIGN_OR_RETURN(transport::Producer::Topic* const topic, producer->Open(topic_name));
  KSTREAM_RETURN_IF_ERROR(producer->InitTransactions());
  KSTREAM_RETURN_IF_ERROR(producer->Begin());
  Status status;
  for (const Instance& target : targets) {
    const auto send = [&](const store::Change& change) {
      const runtime::ChangelogRecord record(change, clock_->WallMs());
      return producer->Send(topic, target.task, record.record(), 0);
    };
    auto step = Apply(target, send);
    status = step.status();
    if (!status.ok()) break;
    steps.push_back(*std::move(step));
  }
  if (status.ok()) status = Commit(producer.get(), before);
  (void)producer->Abort();  // of what failed; or of the next transaction, which has nothing
  if (!status.ok()) return status;
  return steps;
}

Status AppLoad::Commit(transport::Producer* producer, const Committed& before) {
  KSTREAM_RETURN_IF_ERROR(producer->Flush(kSendLimit));
  KSTREAM_RETURN_IF_ERROR(producer->failure());
  KSTREAM_ASSIGN_OR_RETURN(const Committed now, CheckStopped());
  if (now != before) {
    return Status::Refused(fmt::format(
        "application {} ran while its rows were being written: nothing is loaded: stop it first",
        options_.app));
  }
  KSTREAM_RETURN_IF_ERROR(producer->Seal({}, nullptr));
  for (;;) {
    KSTREAM_ASSIGN_OR_RETURN(const bool committed, producer->Commit(kCommitTurn));
    if (committed) return Status::Ok();
  }
}

Result<std::vector<LoadStep>> AppLoad::ExecuteOnFiles(const std::vector<Instance>& targets) {
  std::vector<LoadStep> steps;
  for (const Instance& target : targets) {
    KSTREAM_ASSIGN_OR_RETURN(const std::string path, directory_->Make(target.store, target.task));
    KSTREAM_ASSIGN_OR_RETURN(const auto engine,
                             store::rocksdb::Open(path, store::rocksdb::Memory::New(kMemory)));
    FileWriter writer(engine.get(), clock_->WallMs());
    const auto add = [&writer](const store::Change& change) { return writer.Add(change); };
    KSTREAM_ASSIGN_OR_RETURN(steps.emplace_back(), Apply(target, add));
    KSTREAM_RETURN_IF_ERROR(writer.Write());
    KSTREAM_RETURN_IF_ERROR(engine->Close());
  }
  return steps;
}

}  // namespace admin
}  // namespace kstream
