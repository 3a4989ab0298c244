// CompareStates, as kstream/inspect.h promises it: two sides, each an application or a dump, and
// what they have differently. Tested by tests/unit/admin/compare_test.cc.
#include "admin/compare.h"

#include <fmt/format.h>

#include <map>
#include <memory>
#include <set>
#include <utility>

#include "admin/differences.h"
#include "admin/dump_file.h"
#include "admin/home.h"
#include "admin/instances.h"
#include "base/printable.h"
#include "runtime/state_directory.h"

namespace kstream {
namespace admin {
namespace {

using Place = std::pair<std::string, int32_t>;  // store, task

class AppSide final : public Side {
 public:
  AppSide(InspectOptions options, std::unique_ptr<transport::Cluster> home, const Clock* clock)
      : home_(std::move(home)), instances_(std::move(options), home_.get(), clock) {}

  Status Find(const RowQuery& query) {
    KSTREAM_ASSIGN_OR_RETURN(auto all, instances_.All());
    for (Instance& instance : all) {
      if (!query.store.empty() && instance.store != query.store) continue;
      if (query.task && instance.task != *query.task) continue;
      found_.emplace(Place(instance.store, instance.task), std::move(instance));
    }
    return Status::Ok();
  }
  std::set<Place> Places() const override {
    std::set<Place> places;
    for (const auto& [place, instance] : found_) places.insert(place);
    return places;
  }
  Result<std::unique_ptr<StoreView>> Open(const Place& place) override {
    return instances_.Open(found_.at(place), {});
  }

 private:
  const std::unique_ptr<transport::Cluster> home_;
  Instances instances_;
  std::map<Place, Instance> found_;
};

class DumpSide final : public Side {
 public:
  explicit DumpSide(const std::string& state_dir) : state_dir_(state_dir) {}

  Status Read(const std::string& path, const RowQuery& query) {
    return ReadDump(path, [&](const DumpedRow& row) -> Status {
      if (!query.store.empty() && row.store != query.store) return Status::Ok();
      if (query.task && row.task != *query.task) return Status::Ok();
      std::unique_ptr<StoreView>& view = views_[{row.store, row.task}];
      if (!view) view = std::make_unique<StoreView>(nullptr, [this] { return Room(); });
      const store::Change change{row.key, row.value, row.timestamp};
      return view->Lay({&change, 1});
    });
  }
  std::set<Place> Places() const override {
    std::set<Place> places;
    for (const auto& [place, view] : views_) places.insert(place);
    return places;
  }
  Result<std::unique_ptr<StoreView>> Open(const Place& place) override {
    return std::move(views_.at(place));
  }

 private:
  Result<std::string> Room() {
    if (!room_) {
      KSTREAM_ASSIGN_OR_RETURN(room_, runtime::StateDirectory::OpenTemporary(state_dir_));
    }
    return room_->Make("dump", rooms_++);
  }

  const std::string state_dir_;
  std::unique_ptr<runtime::StateDirectory> room_;  // outlives the views
  int32_t rooms_ = 0;
  std::map<Place, std::unique_ptr<StoreView>> views_;
};

Result<std::unique_ptr<StoreView>> OpenOrEmpty(Side* side, const Place& place) {
  if (side->Places().contains(place)) return side->Open(place);
  return std::make_unique<StoreView>(nullptr, [] {
    return Result<std::string>(Status::Usage("nothing is laid over what is not there"));
  });
}

}  // namespace

Result<std::unique_ptr<Side>> OpenSide(const StateSource& source,
                                       std::unique_ptr<transport::Cluster> home, const Clock* clock,
                                       const RowQuery& query) {
  if (!source.dump.empty()) {
    auto side = std::make_unique<DumpSide>(source.state.state_dir);
    KSTREAM_RETURN_IF_ERROR(side->Read(source.dump, query));
    return std::unique_ptr<Side>(std::move(side));
  }
  auto side = std::make_unique<AppSide>(source.state, std::move(home), clock);
  KSTREAM_RETURN_IF_ERROR(side->Find(query));
  return std::unique_ptr<Side>(std::move(side));
}

Result<uint64_t> CompareSides(Side* left, Side* right, const RowQuery& query,
                              const Inspector::DifferenceVisitor& visit) {
  std::set<Place> places = left->Places();
  places.merge(right->Places());
  if (places.empty() && !(query.store.empty() && !query.task)) {
    return Status(StatusCode::kState,
                  query.task ? fmt::format("neither side has task {} of such a store", *query.task)
                             : fmt::format("neither side has a store {}", Printable(query.store)));
  }
  uint64_t compared = 0;
  for (const Place& place : places) {
    KSTREAM_ASSIGN_OR_RETURN(const auto a, OpenOrEmpty(left, place));
    KSTREAM_ASSIGN_OR_RETURN(const auto b, OpenOrEmpty(right, place));
    const auto each = [&](std::string_view, const RowDifference& difference) {
      visit(difference);
      return Status::Ok();
    };
    KSTREAM_ASSIGN_OR_RETURN(const uint64_t rows,
                             Compare({place.first, place.second, ""}, a.get(), b.get(), each));
    compared += rows;
  }
  return compared;
}

}  // namespace admin

namespace {

Result<std::unique_ptr<admin::Side>> Open(const StateSource& source, const RowQuery& query) {
  std::unique_ptr<transport::Cluster> home;
  if (source.dump.empty()) {
    KSTREAM_RETURN_IF_ERROR(runtime::CheckFileName("application", source.state.app));
    if (!source.state.home.brokers.empty()) {
      KSTREAM_ASSIGN_OR_RETURN(home, admin::OpenHome(source.state.home));
    } else if (source.state.from_changelog) {
      return Status::Usage("a changelog needs --brokers: it is a topic");
    }
  }
  static const SystemClock clock;
  return admin::OpenSide(source, std::move(home), &clock, query);
}

}  // namespace

Result<uint64_t> CompareStates(const StateSource& left, const StateSource& right,
                               const RowQuery& query, const Inspector::DifferenceVisitor& visit) {
  if (left.dump == "-" && right.dump == "-") {
    return Status::Usage("both sides are stdin: give a file for one of them");
  }
  KSTREAM_ASSIGN_OR_RETURN(const auto a, Open(left, query));
  KSTREAM_ASSIGN_OR_RETURN(const auto b, Open(right, query));
  return admin::CompareSides(a.get(), b.get(), query, visit);
}

}  // namespace kstream
