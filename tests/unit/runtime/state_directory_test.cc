// Locks are tried by processes of their own, which end by themselves or are killed.
#include "runtime/state_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "base/stopped.h"
#include "unit/test_folder.h"

namespace kstream::runtime {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class StateDirectoryTest : public testing::Test {
 protected:
  Result<std::unique_ptr<StateDirectory>> Open(const std::string& app = "app",
                                               milliseconds wait = milliseconds(0)) {
    return StateDirectory::Open(root_, app, stop_, wait);
  }
  std::string Path(const std::string& name) const { return root_ + "/" + name; }
  static void Put(const std::string& path, const std::string& text) { std::ofstream(path) << text; }
  std::vector<std::string> Names(const std::string& path) const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(path))
      names.push_back(entry.path().filename().string());
    std::ranges::sort(names);
    return names;
  }

  // A process that has opened a directory and waits to be killed.
  pid_t Holder(const std::function<bool()>& open) {
    std::array<int, 2> ready = {};
    EXPECT_EQ(pipe(ready.data()), 0);
    const pid_t child = fork();
    if (child == 0) {
      const char answer = open() ? 'y' : 'n';
      static_cast<void>(write(ready[1], &answer, 1) == 1);
      for (;;) pause();
    }
    char answer = 0;
    EXPECT_EQ(read(ready[0], &answer, 1), 1);
    EXPECT_EQ(answer, 'y');
    close(ready[0]);
    close(ready[1]);
    return child;
  }
  static void Kill(pid_t child) {
    ASSERT_EQ(kill(child, SIGKILL), 0);
    ASSERT_EQ(waitpid(child, nullptr, 0), child);
  }

  const TestFolder folder_;
  const std::string root_ = folder_.path() + "/deep/kstream";
  std::atomic<bool> stop_{false};
};

TEST_F(StateDirectoryTest, IsMadeForItsOwnerAlone) {
  const auto directory = Open();
  ASSERT_TRUE(directory.ok()) << directory.status().message();
  EXPECT_EQ((*directory)->path(), Path("app"));
  struct stat found = {};
  ASSERT_EQ(stat(Path("app").c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0700u);
}

TEST_F(StateDirectoryTest, ItsInstanceStaysTheSame) {
  const std::string first = (*Open())->instance();
  EXPECT_THAT(first, testing::MatchesRegex("[0-9a-f]{16}"));
  EXPECT_EQ((*Open())->instance(), first);
  EXPECT_NE((*Open("other"))->instance(), first);
  EXPECT_THAT(Names(Path("app")), ElementsAre(".instance", ".lock")) << "nothing half-made is left";

  for (const std::string& damaged :
       {std::string(), std::string("0123"), first + first, std::string(16, 'x') + "\n"}) {
    Put(Path("app/.instance"), damaged);
    const Status status = Open().status();
    EXPECT_EQ(status.code(), StatusCode::kState) << damaged;
    EXPECT_THAT(std::string(status.message()), AllOf(HasSubstr(".instance"), HasSubstr("remove")));
  }
}

TEST_F(StateDirectoryTest, OneProcessHasItAtATime) {
  auto mine = *Open();
  const Status same_process = Open().status();
  const pid_t child = fork();
  if (child == 0) {
    const Status status = Open().status();
    _exit(status.code() == StatusCode::kState ? 0 : 1);
  }
  int outcome = -1;
  ASSERT_EQ(waitpid(child, &outcome, 0), child);
  EXPECT_EQ(outcome, 0);
  EXPECT_EQ(same_process.code(), StatusCode::kState);
  EXPECT_THAT(std::string(same_process.message()),
              AllOf(HasSubstr(Path("app") + " is in use by process " + std::to_string(getpid())),
                    HasSubstr("--state-dir")));
  EXPECT_TRUE(Open("app-eu").ok()) << "a neighbour";
  mine.reset();
  EXPECT_TRUE(Open().ok());
}

TEST_F(StateDirectoryTest, AHolderThatIsKilledLetsGo) {
  std::unique_ptr<StateDirectory> held;
  const pid_t child = Holder([&] {
    auto opened = Open();
    if (opened.ok()) held = *std::move(opened);
    return held != nullptr;
  });
  const std::string message(Open().status().message());
  EXPECT_THAT(message, HasSubstr("process " + std::to_string(child)));
  Kill(child);
  EXPECT_TRUE(Open().ok());
}

TEST_F(StateDirectoryTest, WaitsForOneThatEnds) {
  auto mine = *Open();
  Result<std::unique_ptr<StateDirectory>> next = Status::Usage("not opened");
  std::thread waits([&] { next = Open("app", std::chrono::hours(1)); });
  mine.reset();
  waits.join();
  EXPECT_TRUE(next.ok()) << next.status().message();
}

TEST_F(StateDirectoryTest, WaitsNoLongerThanTheRunMayLast) {
  auto mine = *Open();
  stop_ = true;
  EXPECT_TRUE(IsStopped(Open("app", std::chrono::hours(1)).status()));
}

TEST_F(StateDirectoryTest, OneThatIsRemovedUnderAWaiterIsMadeAnew) {
  auto mine = *Open();
  Result<std::unique_ptr<StateDirectory>> next = Status::Usage("not opened");
  std::thread waits([&] { next = Open("app", std::chrono::hours(1)); });
  fs::rename(Path("app"), Path("removed"));  // at one stroke, unlike a removal of all that is in it
  waits.join();
  ASSERT_TRUE(next.ok()) << next.status().message();
  mine.reset();
  EXPECT_EQ(Open().status().code(), StatusCode::kState) << "its lock is of the one that is there";
}

TEST_F(StateDirectoryTest, NamesThatAreNoFileNamesAreRefused) {
  const std::vector<std::string> bad{
      "", ".", "..", ".lock", "a/b", "/etc", "a\nb", "a/../../b", std::string(256, 'a')};
  const auto mine = *Open();
  for (const std::string& name : bad) {
    EXPECT_EQ(Open(name).status().code(), StatusCode::kUsage) << name;
    EXPECT_EQ(mine->Make(name, 0).status().code(), StatusCode::kUsage) << name;
    EXPECT_EQ(mine->Remove(name, 0).code(), StatusCode::kUsage) << name;
    EXPECT_EQ(ListStores(root_, name).status().code(), StatusCode::kUsage) << name;
  }
  EXPECT_THAT(Names(root_), ElementsAre("app"));
  EXPECT_TRUE(Open(std::string(255, 'a')).ok());
  EXPECT_TRUE(Open("a..b c\xc3\xa9").ok());
}

TEST_F(StateDirectoryTest, HasADirectoryForEachInstanceOfAStore) {
  const auto mine = *Open();
  EXPECT_EQ(*mine->Make("cnt", 10), Path("app/cnt/10"));
  EXPECT_EQ(*mine->Make("cnt", 2), Path("app/cnt/2"));
  EXPECT_EQ(*mine->Make("lock", 0), Path("app/lock/0"));
  Put(Path("app/cnt/2/file"), "x");
  EXPECT_TRUE(mine->Make("cnt", 2).ok()) << "it is there";
  fs::create_directories(Path("app/cnt/02"));
  fs::create_directories(Path("app/cnt/backup"));
  Put(Path("app/note"), "by hand");
  EXPECT_THAT(*ListStores(root_, "app"),
              ElementsAre(StoreDirectory{"cnt", 2, Path("app/cnt/2")},
                          StoreDirectory{"cnt", 10, Path("app/cnt/10")},
                          StoreDirectory{"lock", 0, Path("app/lock/0")}));
  EXPECT_TRUE(mine->Remove("cnt", 2).ok());
  EXPECT_TRUE(mine->Remove("cnt", 2).ok()) << "gone already";
  EXPECT_THAT(*ListStores(root_, "app"), testing::SizeIs(2));
}

TEST_F(StateDirectoryTest, ClearingTouchesNoNeighbour) {
  const auto billing = *Open("billing"), europe = *Open("billing-eu");
  ASSERT_TRUE(billing->Make("eu-cnt", 0).ok());
  ASSERT_TRUE(europe->Make("cnt", 0).ok());
  const std::string instance = billing->instance();
  fs::create_directory_symlink(Path("billing-eu"), Path("billing/link"));
  EXPECT_TRUE(billing->Clear().ok());
  EXPECT_THAT(*ListStores(root_, "billing"), IsEmpty());
  EXPECT_THAT(*ListStores(root_, "billing-eu"), testing::SizeIs(1));
  EXPECT_THAT(*ListApplications(root_), ElementsAre("billing", "billing-eu"));
  EXPECT_THAT(Names(Path("billing")), ElementsAre(".instance", ".lock"));
}

TEST_F(StateDirectoryTest, WhatIsNotThereIsTold) {
  EXPECT_THAT(*ListApplications(root_), IsEmpty());
  const Status status = ListStores(root_, "app").status();
  EXPECT_EQ(status.code(), StatusCode::kState);
  EXPECT_THAT(std::string(status.message()), HasSubstr(Path("app")));
}

TEST_F(StateDirectoryTest, WhoUsesItIsSeenFromOutside) {
  EXPECT_EQ(*HolderOf(root_, "app"), std::nullopt);
  auto mine = *Open();
  EXPECT_EQ(*HolderOf(root_, "app"), "process " + std::to_string(getpid()));
  EXPECT_EQ(*HolderOf(root_, "other"), std::nullopt);
  mine.reset();
  EXPECT_EQ(*HolderOf(root_, "app"), std::nullopt) << "the file is still there, the lock is not";
  EXPECT_EQ(HolderOf(root_, "..").status().code(), StatusCode::kUsage);
}

TEST_F(StateDirectoryTest, AFileInTheWayIsToldWithWhatToDo) {
  fs::create_directories(root_);
  Put(Path("app"), "a file");
  EXPECT_EQ(Open().status().code(), StatusCode::kState);
  EXPECT_THAT(
      std::string(Open().status().message()),
      AllOf(HasSubstr(Path("app")), HasSubstr("Not a directory"), HasSubstr("--state-dir")));
  const auto mine = *Open("other");
  Put(Path("other/cnt"), "a file");
  EXPECT_EQ(mine->Make("cnt", 0).status().code(), StatusCode::kState);
}

TEST_F(StateDirectoryTest, ATemporaryOneGoesWithItsRun) {
  std::string path;
  {
    const auto mine = *StateDirectory::OpenTemporary(root_);
    const auto other = *StateDirectory::OpenTemporary(root_);
    path = mine->path();
    EXPECT_NE(path, other->path());
    ASSERT_TRUE(mine->Make("cnt", 0).ok());
    EXPECT_TRUE(fs::exists(path + "/cnt/0")) << "no other sweeps what is in use";
    EXPECT_THAT(*ListApplications(root_), IsEmpty());
  }
  EXPECT_THAT(Names(root_), IsEmpty());
}

TEST_F(StateDirectoryTest, WhatACrashLeftIsSweptByTheNext) {
  std::unique_ptr<StateDirectory> held;
  const pid_t child = Holder([&] {
    auto opened = StateDirectory::OpenTemporary(root_);
    if (opened.ok()) held = *std::move(opened);
    return held && held->Make("cnt", 0).ok();
  });
  ASSERT_THAT(Names(root_), testing::SizeIs(1));
  { const auto another = *StateDirectory::OpenTemporary(root_); }
  EXPECT_THAT(Names(root_), testing::SizeIs(1)) << "it lives";
  Kill(child);
  { const auto another = *StateDirectory::OpenTemporary(root_); }
  EXPECT_THAT(Names(root_), IsEmpty());
}

}  // namespace
}  // namespace kstream::runtime
