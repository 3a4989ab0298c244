// Scratch: the state directory of one test driver, made by whoever writes there first, and gone
// with the driver. Tests that run side by side must not wait for each other's locks, nor find the
// state of a real application.
#ifndef KSTREAM_TESTDRIVER_SCRATCH_H_
#define KSTREAM_TESTDRIVER_SCRATCH_H_

#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <system_error>

#include "runtime/manifest.h"

namespace kstream::testdriver {

class Scratch {
 public:
  Scratch() {
    std::error_code error;
    const std::filesystem::path root = std::filesystem::temp_directory_path(error);
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
  std::string path_;
};

}  // namespace kstream::testdriver

#endif  // KSTREAM_TESTDRIVER_SCRATCH_H_
