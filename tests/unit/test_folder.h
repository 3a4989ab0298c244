// TestFolder: a directory of one test's own, gone with it.
#ifndef KSTREAM_TESTS_UNIT_TEST_FOLDER_H_
#define KSTREAM_TESTS_UNIT_TEST_FOLDER_H_

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace kstream {

class TestFolder {
 public:
  TestFolder() {
    std::string pattern = ::testing::TempDir() + "kstream-XXXXXX";
    path_ = mkdtemp(pattern.data());
  }
  ~TestFolder() { std::filesystem::remove_all(path_); }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace kstream

#endif  // KSTREAM_TESTS_UNIT_TEST_FOLDER_H_
