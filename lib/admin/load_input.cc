#include "admin/load_input.h"

#include <fmt/format.h>

#include <utility>

#include "base/printable.h"
#include "dsl/window_key.h"

namespace kstream::admin {
namespace {

Status OtherWindows(const LoadStep& step, std::string_view why) {
  return Status::Refused(fmt::format(
      "store {}, task {}: {}: rows of other windows would be lost in it; --replace puts "
      "the rows given in the place of all that are there",
      Printable(step.store), step.task, why));
}

}  // namespace

LoadInput::LoadInput(std::string store, bool replace, StoreView::Room room)
    : store_(std::move(store)), replace_(replace), room_(std::move(room)) {}

LoadInput::Part& LoadInput::PartOf(int32_t task) {
  Part& part = parts_[task];
  if (!part.puts) {
    part.puts = std::make_unique<StoreView>(nullptr, room_);
    part.deletes = std::make_unique<StoreView>(nullptr, room_);
  }
  return part;
}

Status LoadInput::Read(const std::string& path) {
  return ReadDump(path, [this](const DumpedRow& row) -> Status {
    if (store_.empty()) store_ = row.store;
    if (row.store != store_) {
      return Status::Refused(
          fmt::format("it is of store {}, and others are of {}: load one store "
                      "at a time",
                      Printable(row.store), Printable(store_)));
    }
    if (row.tasks && tasks_.value_or(*row.tasks) != *row.tasks) {
      return Status::Refused(fmt::format(
          "it is of a store with {} tasks, and others of one with {}", *row.tasks, *tasks_));
    }
    if (row.tasks) tasks_ = row.tasks;
    Part& part = PartOf(row.task);
    const Bytes gone = row.value ? std::nullopt : Bytes("");
    const store::Change put{row.key, row.value, row.timestamp}, deleted{row.key, gone, 0};
    KSTREAM_RETURN_IF_ERROR(part.puts->Lay({&put, 1}));
    return part.deletes->Lay({&deleted, 1});
  });
}

Status LoadInput::CheckTasks(int32_t tasks) const {
  if (tasks_ && *tasks_ != tasks) {
    return Status::Refused(
        fmt::format("the rows are of a store with {} tasks, and store {} has {}: their keys belong "
                    "to other tasks here",
                    *tasks_, Printable(store_), tasks));
  }
  if (least_tasks() <= tasks) return Status::Ok();
  return Status::Refused(fmt::format("a row is of task {}, and store {} has {} task{}",
                                     least_tasks() - 1, Printable(store_), tasks,
                                     tasks == 1 ? "" : "s"));
}

Status LoadInput::Apply(int32_t task, StoreView* current, const Sink& write, LoadStep* step) {
  Part& part = PartOf(task);
  KSTREAM_ASSIGN_OR_RETURN(const RowKeys keys, CheckKeys(part.puts.get(), current));
  KSTREAM_RETURN_IF_ERROR(replace_ ? DeleteOthers(&part, current, write, step)
                                   : Delete(&part, current, write, step));
  return Put(part.puts.get(), current, keys, write, step);
}

// Those of the store, where it has rows that stay; else those that the rows themselves tell.
Result<RowKeys> LoadInput::CheckKeys(StoreView* puts, StoreView* current) const {
  KSTREAM_ASSIGN_OR_RETURN(const RowKeys given, RowKeys::Of(puts));
  bool is_empty = true;
  KSTREAM_RETURN_IF_ERROR(
      current->Scan("", std::nullopt,
                    [&](std::string_view, std::string_view, int64_t) { return is_empty = false; }));
  if (replace_ || is_empty) return given;
  KSTREAM_ASSIGN_OR_RETURN(const RowKeys there, RowKeys::Of(current));
  if (there.windowed() || !given.windowed()) return there;
  return Status::Refused(
      fmt::format("store {} has no windows, and the rows are of some", Printable(store_)));
}

Status LoadInput::Put(StoreView* puts, StoreView* current, const RowKeys& keys, const Sink& write,
                      LoadStep* step) const {
  KSTREAM_ASSIGN_OR_RETURN(StoreView::Cursor rows, puts->Walk());
  StoredRow there;
  while (rows.Next()) {
    if (!keys.Fits(rows.key())) {
      return OtherWindows(*step,
                          fmt::format("key {} is none of its windows", Printable(rows.key())));
    }
    KSTREAM_ASSIGN_OR_RETURN(const bool found, current->Find(rows.key(), &there));
    if (found && there.value == rows.value() && there.timestamp == rows.timestamp()) {
      step->same++;
      continue;
    }
    if (found && rows.key() == dsl::kWindowsKey && !replace_) {
      return OtherWindows(*step, fmt::format("its windows are {}, and those of the rows {}",
                                             Printable(there.value), Printable(rows.value())));
    }
    step->puts++;
    KSTREAM_RETURN_IF_ERROR(write({rows.key(), rows.value(), rows.timestamp()}));
  }
  return rows.status();
}

Status LoadInput::Delete(Part* part, StoreView* current, const Sink& write, LoadStep* step) const {
  KSTREAM_ASSIGN_OR_RETURN(StoreView::Cursor keys, part->deletes->Walk());
  StoredRow there;
  while (keys.Next()) {
    KSTREAM_ASSIGN_OR_RETURN(const bool found, current->Find(keys.key(), &there));
    if (!found) continue;
    if (keys.key() == dsl::kWindowsKey) {
      return OtherWindows(*step, "what says which windows it has cannot be deleted");
    }
    step->deletes++;
    KSTREAM_RETURN_IF_ERROR(write({keys.key(), std::nullopt, there.timestamp}));
  }
  return keys.status();
}

Status LoadInput::DeleteOthers(Part* part, StoreView* current, const Sink& write,
                               LoadStep* step) const {
  KSTREAM_ASSIGN_OR_RETURN(StoreView::Cursor rows, current->Walk());
  StoredRow given;
  while (rows.Next()) {
    KSTREAM_ASSIGN_OR_RETURN(const bool stays, part->puts->Find(rows.key(), &given));
    if (stays) continue;
    step->deletes++;
    KSTREAM_RETURN_IF_ERROR(write({rows.key(), std::nullopt, rows.timestamp()}));
  }
  return rows.status();
}

}  // namespace kstream::admin
