#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <thread>

#include "transport/file/chunk_reader.h"
#include "transport/file/file_output.h"
#include "unit/test_folder.h"

namespace kstream::transport {
namespace {

class FileTest : public testing::Test {
 protected:
  std::string Path(const std::string& name) const { return folder_.path() + "/" + name; }
  std::string Put(const std::string& name, const std::string& text) {
    std::ofstream(Path(name)) << text;
    return Path(name);
  }
  static std::string Get(const std::string& path) {
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  TestFolder folder_;
  std::atomic<bool> stop_{false};
};

TEST_F(FileTest, GivesWholeLinesAndTheirNumbers) {
  std::string text;
  for (int i = 0; i < 300'000; i++) text += std::to_string(i) + "\n";
  text += "last";
  auto reader = ChunkReader::Open(Put("in", text), stop_);
  ASSERT_TRUE(reader.ok());
  Chunk chunk;
  std::string all;
  int64_t lines = 0;
  int chunks = 0;
  while (*(*reader)->Next(stop_, &chunk)) {
    EXPECT_EQ(chunk.first_line, lines);
    EXPECT_EQ(chunk.first_of_file, chunks == 0);
    all += chunk.lines;
    lines += std::count(chunk.lines.begin(), chunk.lines.end(), '\n');
    chunks++;
  }
  EXPECT_GT(chunks, 1);
  EXPECT_EQ(all, text);
}

TEST_F(FileTest, GivesALineThatIsLongerThanAChunkWhole) {
  const std::string text = std::string(5 << 20, 'x') + "\nshort\n";
  auto reader = ChunkReader::Open(Put("in", text), stop_);
  Chunk chunk;
  std::string all;
  while (*(*reader)->Next(stop_, &chunk)) {
    EXPECT_EQ(chunk.lines.back(), '\n');
    all += chunk.lines;
  }
  EXPECT_EQ(all, text);
}

TEST_F(FileTest, AnEmptyFileHasNoChunk) {
  auto reader = ChunkReader::Open(Put("in", ""), stop_);
  Chunk chunk;
  EXPECT_FALSE(*(*reader)->Next(stop_, &chunk));
}

TEST_F(FileTest, NamesAFileThatCannotBeRead) {
  EXPECT_EQ(ChunkReader::Open(Path("none"), stop_).status().code(), StatusCode::kUsage);
  const Status folder = ChunkReader::Open(folder_.path(), stop_).status();
  EXPECT_EQ(folder.message(), "cannot read " + folder_.path() + ": it is a directory");
}

TEST_F(FileTest, APipeGivesWhatHasComeAndEndsWhenStopped) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  auto reader = ChunkReader::Open("/dev/fd/" + std::to_string(ends[0]), stop_);
  ASSERT_TRUE(reader.ok());
  ASSERT_EQ(write(ends[1], "one\ntw", 6), 6);
  Chunk chunk;
  EXPECT_TRUE(*(*reader)->Next(stop_, &chunk));
  EXPECT_EQ(chunk.lines, "one\n");
  std::thread stopper([&] { stop_ = true; });
  EXPECT_FALSE(*(*reader)->Next(stop_, &chunk));
  stopper.join();
  close(ends[0]);
  close(ends[1]);
}

TEST_F(FileTest, APollOfAPipeLosesNothingWhenItEndsInsideALine) {
  using std::chrono::milliseconds;
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  auto reader = ChunkReader::Open("/dev/fd/" + std::to_string(ends[0]), stop_);
  ASSERT_TRUE(reader.ok());
  Chunk chunk;
  EXPECT_EQ(*(*reader)->Poll(stop_, milliseconds(0), &chunk), ChunkReader::Got::kNothing);
  for (const std::string_view piece : {"o", "n", "e"}) {
    ASSERT_EQ(write(ends[1], piece.data(), piece.size()), 1);
    EXPECT_EQ(*(*reader)->Poll(stop_, milliseconds(0), &chunk), ChunkReader::Got::kNothing);
  }
  ASSERT_EQ(write(ends[1], "\ntwo", 4), 4);
  EXPECT_EQ(*(*reader)->Poll(stop_, milliseconds(0), &chunk), ChunkReader::Got::kChunk);
  EXPECT_EQ(chunk.lines, "one\n");
  EXPECT_EQ(*(*reader)->Poll(stop_, milliseconds(1), &chunk), ChunkReader::Got::kNothing);
  close(ends[1]);
  EXPECT_EQ(*(*reader)->Poll(stop_, milliseconds(0), &chunk), ChunkReader::Got::kChunk);
  EXPECT_EQ(chunk.lines, "two");
  EXPECT_EQ(chunk.first_line, 1);
  EXPECT_EQ(*(*reader)->Poll(stop_, milliseconds(0), &chunk), ChunkReader::Got::kEnd);
  close(ends[0]);
}

TEST_F(FileTest, WritesInOrderAndReplacesWhatWasThere) {
  const std::string path = Put("out", "old and longer");
  auto output = FileOutput::Open(path);
  ASSERT_TRUE(output.ok());
  EXPECT_EQ(Get(path), "old and longer");
  EXPECT_TRUE((*output)->Truncate().ok());
  EXPECT_TRUE((*output)->Write("a\n").ok());
  EXPECT_TRUE((*output)->Write("b\n").ok());
  EXPECT_TRUE((*output)->Close().ok());
  EXPECT_EQ(Get(path), "a\nb\n");
}

TEST_F(FileTest, SaysWhatCannotBeWritten) {
  EXPECT_EQ(FileOutput::Open(Path("no/such/folder")).status().code(), StatusCode::kData);
  auto full = FileOutput::Open("/dev/full");
  ASSERT_TRUE(full.ok());
  EXPECT_EQ((*full)->Write("x\n").message(), "cannot write /dev/full: No space left on device");
}

TEST_F(FileTest, AReaderThatHasGoneIsNoError) {
  signal(SIGPIPE, SIG_IGN);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  auto output = FileOutput::Open("/dev/fd/" + std::to_string(ends[1]));
  ASSERT_TRUE(output.ok());
  close(ends[0]);
  EXPECT_TRUE((*output)->Write("x\n").ok());
  EXPECT_TRUE((*output)->closed());
  close(ends[1]);
}

TEST_F(FileTest, KnowsARegularFileByAnyName) {
  const std::string path = Put("in", "");
  ASSERT_EQ(symlink(path.c_str(), Path("soft").c_str()), 0);
  ASSERT_EQ(link(path.c_str(), Path("hard").c_str()), 0);
  ASSERT_TRUE(IdOfInput(path));
  EXPECT_EQ(IdOfInput(path), IdOfInput(Path("soft")));
  EXPECT_EQ(IdOfInput(path), IdOfInput(Path("hard")));
  EXPECT_EQ(IdOfInput(path), (*FileOutput::Open(Path("hard")))->id());
  EXPECT_NE(IdOfInput(path), IdOfInput(Put("other", "")));
  EXPECT_EQ(IdOfInput("/dev/null"), std::nullopt);
  EXPECT_EQ(IdOfInput(Path("none")), std::nullopt);
}

}  // namespace
}  // namespace kstream::transport
