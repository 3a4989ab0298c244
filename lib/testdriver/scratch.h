// Scratch: the state directory of one test driver, made by whoever writes there first, and gone
// with the driver. Tests that run side by side must not wait for each other's locks, nor find the
// state of a real application.
//
// One for stores in memory holds a lock and an id alone, and lies in memory where there is such a
// place: a disk that is busy with others keeps one waiting for longer than a test takes.
#ifndef KSTREAM_TESTDRIVER_SCRATCH_H_
#define KSTREAM_TESTDRIVER_SCRATCH_H_

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <system_error>

#include "runtime/manifest.h"

namespace kstream::testdriver {

class Scratch {
 public:
  // `small`: little will be written there.
  explicit Scratch(bool small) {
    std::error_code error;
    const bool memory = small && access(kMemory, W_OK | X_OK) == 0;
    const std::filesystem::path root =
        memory ? kMemory : std::filesystem::temp_directory_path(error);
    path_ = (root / fmt::format("kstream-test-{}", runtime::NewIncarnation())).string();
  }
  ~Scratch() {
    std::error_code none;
    std::filesystem::remove_all(path_, none);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  const std::string& path() const { return path_; }

 private:
  static constexpr const char* kMemory = "/dev/shm";

  std::string path_;
};

}  // namespace kstream::testdriver

#endif  // KSTREAM_TESTDRIVER_SCRATCH_H_
