#include "runtime/state_directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <optional>
#include <random>
#include <system_error>
#include <thread>

#include "base/log.h"
#include "base/stopped.h"

namespace kstream::runtime {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLock = ".lock", kInstance = ".instance", kTemporary = ".run-";
constexpr std::string_view kStandby =
    ".standby";  // beside the files of a database, which are others
constexpr size_t kLongestName = 255;
constexpr size_t kInstanceDigits = 16;
constexpr std::chrono::milliseconds kTurn{50};

Status Failed(const std::string& path, std::string_view what, int error) {
  std::string_view advice = "give another with --state-dir";
  if (error == ENOSPC || error == EDQUOT) {
    advice = "make room, or give another with --state-dir";
  } else if (error == EACCES || error == EPERM || error == EROFS) {
    advice = "let this user write there, or give another with --state-dir";
  }
  return Status(StatusCode::kState, fmt::format("state directory {}: {}: {}: {}", path, what,
                                                std::strerror(error), advice));
}

Status MakeAll(const std::string& path) {
  // Parents are made as everyone makes them; what holds data is for its owner alone.
  std::error_code error;
  for (;;) {
    fs::create_directories(fs::path(path).parent_path(), error);
    if (error) return Failed(path, "cannot be made", error.value());
    if (mkdir(path.c_str(), S_IRWXU) == 0) return Status::Ok();
    const int failure = errno;
    if (failure != EEXIST) return Failed(path, "cannot be made", failure);
    const fs::file_type found = fs::status(path, error).type();
    if (found == fs::file_type::directory) return Status::Ok();
    // Nothing there: it was removed since. A link to nowhere is in the way as a file is.
    if (found != fs::file_type::not_found || fs::is_symlink(fs::symlink_status(path, error))) {
      return Failed(path, "cannot be made", ENOTDIR);
    }
  }
}

Status RemoveAll(const std::string& path) {
  std::error_code error;
  fs::remove_all(path, error);
  return error ? Failed(path, "cannot be removed", error.value()) : Status::Ok();
}

std::string RandomId() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}", random(), random());
}

// Whether the open file is still the one that is called so: another process may have removed it.
bool IsStill(int file, const std::string& path) {
  struct stat mine = {}, there = {};
  return fstat(file, &mine) == 0 && stat(path.c_str(), &there) == 0 &&
         mine.st_dev == there.st_dev && mine.st_ino == there.st_ino;
}

// Takes the lock of a directory, if nobody has it. nullopt: somebody has, or the directory is gone.
Result<std::optional<int>> TryLock(const std::string& directory) {
  const std::string path = fmt::format("{}/{}", directory, kLock);
  for (;;) {
    const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (file < 0 && errno == ENOENT) return std::optional<int>();
    if (file < 0) return Failed(directory, "cannot be locked", errno);
    int taken = 0;
    do {
      taken = flock(file, LOCK_EX | LOCK_NB);
    } while (taken != 0 && errno == EINTR);
    const int error = errno;
    if (taken == 0 && IsStill(file, path)) return std::optional(file);
    close(file);
    if (taken == 0) continue;
    if (error == EWOULDBLOCK) return std::optional<int>();
    return Failed(directory, "cannot be locked", error);
  }
}

// Says in the lock who holds it, for those who wait. A help for people: nothing depends on it.
void SignLock(int file) {
  const std::string id = fmt::format("{}\n", getpid());
  if (ftruncate(file, 0) == 0) static_cast<void>(pwrite(file, id.data(), id.size(), 0) == 0);
}

std::string SignerOf(const std::string& directory) {
  const std::string path = fmt::format("{}/{}", directory, kLock);
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return "another process";
  char text[24] = {};
  const ssize_t size = read(file, text, sizeof(text) - 1);
  close(file);
  int64_t id = 0;
  const bool known = size > 0 && std::from_chars(text, text + size, id).ec == std::errc();
  return known ? fmt::format("process {}", id) : "another process";
}

// Nullopt: there is none.
Result<std::optional<std::string>> ReadInstance(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0 && errno == ENOENT) return std::optional<std::string>();
  if (file < 0) return Failed(path, "cannot be read", errno);
  char text[kInstanceDigits + 2] = {};
  const ssize_t size = read(file, text, sizeof(text));
  const int error = errno;
  close(file);
  if (size < 0) return Failed(path, "cannot be read", error);
  const std::string_view all(text, static_cast<size_t>(size));
  const std::string_view digits = all.substr(0, kInstanceDigits);
  const bool good = all.size() == kInstanceDigits + 1 && all.back() == '\n' &&
                    digits.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  if (good) return std::optional(std::string(digits));
  return Status(
      StatusCode::kState,
      fmt::format("{}: is not an id of {} hexadecimal digits: remove it, and a new one is "
                  "made",
                  path, kInstanceDigits));
}

// All of it is there after a crash, or nothing.
Status WriteInstance(const std::string& path, const std::string& id) {
  const std::string fresh = path + ".new", text = id + "\n";
  const int file = open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (file < 0) return Failed(path, "cannot be written", errno);
  const ssize_t written = write(file, text.data(), text.size());
  int error = written == static_cast<ssize_t>(text.size()) ? 0 : written < 0 ? errno : ENOSPC;
  if (error == 0 && fsync(file) != 0) error = errno;
  if (close(file) != 0 && error == 0) error = errno;
  if (error == 0 && rename(fresh.c_str(), path.c_str()) != 0) error = errno;
  return error == 0 ? Status::Ok() : Failed(path, "cannot be written", error);
}

// A number of a task as it is written here; nullopt: something else's name.
std::optional<int32_t> TaskOf(const std::string& name) {
  int32_t task = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), task);
  const bool good = error == std::errc() && end == name.data() + name.size() && task >= 0 &&
                    fmt::format("{}", task) == name;
  return good ? std::optional(task) : std::nullopt;
}

// Names of the directories in a directory that the user chose, in order. Ok and empty: no such
// directory.
Result<std::vector<std::string>> Subdirectories(const std::string& path) {
  std::error_code error;
  std::vector<std::string> names;
  fs::directory_iterator entry(path, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    std::error_code gone;
    const std::string name = entry->path().filename().string();
    if (name.front() != '.' && entry->is_directory(gone)) names.push_back(name);
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    return Failed(path, "cannot be read", error.value());
  }
  std::ranges::sort(names);
  return names;
}

// Directories of runs that died. Who cannot be removed now stays for another start.
void Sweep(const std::string& root) {
  std::error_code error;
  fs::directory_iterator entry(root, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const std::string path = entry->path().string();
    if (!entry->path().filename().string().starts_with(kTemporary)) continue;
    const Result<std::optional<int>> lock = TryLock(path);
    if (!lock.ok() || !*lock) continue;
    static_cast<void>(RemoveAll(path).ok());
    close(**lock);
  }
}

}  // namespace

Status CheckFileName(std::string_view what, std::string_view name) {
  const auto refuse = [&](std::string_view why) {
    return Status::Usage(
        fmt::format("{} \"{}\": its state is kept in a directory of that name, and {}: choose "
                    "another name",
                    what, name, why));
  };
  if (name.empty()) return refuse("the name is empty");
  if (name.front() == '.') return refuse("names that begin with a dot are kstream's own");
  if (name.size() > kLongestName) {
    return refuse(
        fmt::format("{} bytes are more than the {} of a file name", name.size(), kLongestName));
  }
  const auto unfit = [](unsigned char c) { return c == '/' || c < ' ' || c == 0x7f; };
  if (std::ranges::any_of(name, unfit)) {
    return refuse("a slash or a control character is in it");
  }
  return Status::Ok();
}

StateDirectory::StateDirectory(std::string path, int lock, bool temporary)
    : path_(std::move(path)), lock_(lock), temporary_(temporary) {}

StateDirectory::~StateDirectory() {
  if (temporary_) {
    if (const Status removed = RemoveAll(path_); !removed.ok()) {
      Log(LogLevel::kWarning, removed.message());
    }
  }
  close(lock_);
}

Result<std::unique_ptr<StateDirectory>> StateDirectory::Open(const std::string& root,
                                                             std::string_view app,
                                                             const std::atomic<bool>& stop,
                                                             std::chrono::milliseconds wait) {
  KSTREAM_RETURN_IF_ERROR(CheckFileName("application", app));
  const std::string path = fmt::format("{}/{}", root, app);
  const auto end = std::chrono::steady_clock::now() + wait;
  for (bool told = false;; told = true) {
    KSTREAM_RETURN_IF_ERROR(MakeAll(path));  // again: a reset may have removed it
    KSTREAM_ASSIGN_OR_RETURN(const std::optional<int> lock, TryLock(path));
    if (lock) {
      std::unique_ptr<StateDirectory> directory(new StateDirectory(path, *lock, false));
      SignLock(*lock);
      KSTREAM_RETURN_IF_ERROR(directory->FindInstance());
      return directory;
    }
    const std::string holder = SignerOf(path);
    if (stop) {
      return Stopped(
          fmt::format("stopped while state directory {} was in use by {}", path, holder));
    }
    if (std::chrono::steady_clock::now() >= end) {
      return Status(StatusCode::kState,
                    fmt::format("state directory {} is in use by {}: stop it, or give this one "
                                "another with --state-dir",
                                path, holder));
    }
    if (!told) {
      Log(LogLevel::kInfo, fmt::format("state directory {} is in use by {}: waiting up to {} s for "
                                       "it",
                                       path, holder, (wait.count() + 999) / 1000));
    }
    std::this_thread::sleep_for(kTurn);
  }
}

Result<std::unique_ptr<StateDirectory>> StateDirectory::OpenTemporary(const std::string& root) {
  for (;;) {
    const std::string path = fmt::format("{}/{}{}", root, kTemporary, RandomId());
    KSTREAM_RETURN_IF_ERROR(MakeAll(path));
    KSTREAM_ASSIGN_OR_RETURN(const std::optional<int> lock, TryLock(path));
    if (!lock) continue;  // another run that starts swept it before it was ours
    SignLock(*lock);
    std::unique_ptr<StateDirectory> directory(new StateDirectory(path, *lock, true));
    directory->instance_ = RandomId();
    Sweep(root);
    return directory;
  }
}

Status StateDirectory::FindInstance() {
  const std::string path = fmt::format("{}/{}", path_, kInstance);
  KSTREAM_ASSIGN_OR_RETURN(std::optional<std::string> found, ReadInstance(path));
  if (!found) {
    found = RandomId();
    KSTREAM_RETURN_IF_ERROR(WriteInstance(path, *found));
  }
  instance_ = *std::move(found);
  return Status::Ok();
}

std::string StateDirectory::PathOf(std::string_view store, int32_t task) const {
  return fmt::format("{}/{}/{}", path_, store, task);
}

Result<std::string> StateDirectory::Make(std::string_view store, int32_t task) {
  KSTREAM_RETURN_IF_ERROR(CheckFileName("store", store));
  std::string path = PathOf(store, task);
  KSTREAM_RETURN_IF_ERROR(MakeAll(path));
  return path;
}

void StateDirectory::ShowStandby(std::string_view store, int32_t task, bool stands_by) {
  const std::string path = fmt::format("{}/{}", PathOf(store, task), kStandby);
  if (!stands_by) {
    static_cast<void>(unlink(path.c_str()));
    return;
  }
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (file >= 0) close(file);
}

Status StateDirectory::Remove(std::string_view store, int32_t task) {
  KSTREAM_RETURN_IF_ERROR(CheckFileName("store", store));
  return RemoveAll(PathOf(store, task));
}

Status StateDirectory::Clear() {
  KSTREAM_ASSIGN_OR_RETURN(const auto stores, Subdirectories(path_));
  for (const std::string& store : stores) {
    KSTREAM_RETURN_IF_ERROR(RemoveAll(fmt::format("{}/{}", path_, store)));
  }
  return Status::Ok();
}

Result<std::vector<std::string>> ListApplications(const std::string& root) {
  return Subdirectories(root);
}

Result<std::vector<StoreDirectory>> ListStores(const std::string& root, std::string_view app) {
  KSTREAM_RETURN_IF_ERROR(CheckFileName("application", app));
  const std::string path = fmt::format("{}/{}", root, app);
  std::error_code error;
  if (!fs::exists(path, error)) {
    return Status(StatusCode::kState,
                  fmt::format("state directory {}: there is no state of application {}: was it run "
                              "with another --state-dir?",
                              path, app));
  }
  std::vector<StoreDirectory> found;
  KSTREAM_ASSIGN_OR_RETURN(const auto stores, Subdirectories(path));
  for (const std::string& store : stores) {
    const std::string of_store = fmt::format("{}/{}", path, store);
    KSTREAM_ASSIGN_OR_RETURN(const auto tasks, Subdirectories(of_store));
    for (const std::string& name : tasks) {
      if (const auto task = TaskOf(name)) {
        const std::string directory = fmt::format("{}/{}", of_store, name);
        const bool stands_by = fs::exists(fmt::format("{}/{}", directory, kStandby), error);
        found.push_back({store, *task, directory, stands_by});
      }
    }
  }
  std::ranges::sort(found, {}, [](const StoreDirectory& d) { return std::pair(d.store, d.task); });
  return found;
}

Result<std::optional<std::string>> HolderOf(const std::string& root, std::string_view app) {
  KSTREAM_RETURN_IF_ERROR(CheckFileName("application", app));
  const std::string path = fmt::format("{}/{}", root, app);
  const int file = open(fmt::format("{}/{}", path, kLock).c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0 && errno == ENOENT) return std::optional<std::string>();
  if (file < 0) return Failed(path, "cannot be looked into", errno);
  // Shared, so that those who look do not see each other; given back at once.
  const bool held = flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  close(file);
  return held ? std::optional(SignerOf(path)) : std::nullopt;
}

}  // namespace kstream::runtime
