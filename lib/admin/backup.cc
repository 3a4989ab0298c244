#include "admin/backup.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

#include "admin/changelog_reader.h"
#include "record/envelope.h"

namespace kstream::admin {
namespace {

constexpr size_t kGather = 1 << 20;

Status Failed(const std::string& path, int error) {
  return Status::Data(fmt::format("{}: cannot be written: {}", path, std::strerror(error)));
}

// A file that has its name only once all of it is on disk.
class WholeFile {
 public:
  explicit WholeFile(std::string path) : path_(std::move(path)), fresh_(path_ + ".part") {}
  ~WholeFile() {
    if (file_ < 0) return;
    close(file_);
    unlink(fresh_.c_str());
  }
  WholeFile(const WholeFile&) = delete;
  WholeFile& operator=(const WholeFile&) = delete;

  Status Open() {
    file_ = open(fresh_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, S_IRUSR | S_IWUSR);
    return file_ < 0 ? Failed(path_, errno) : Status::Ok();
  }
  Status Write(std::string_view text) {
    while (!text.empty()) {
      const ssize_t written = write(file_, text.data(), text.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return Failed(path_, errno);
      text.remove_prefix(static_cast<size_t>(written));
    }
    return Status::Ok();
  }
  Status Finish() {
    if (fsync(file_) != 0) return Failed(path_, errno);
    if (close(std::exchange(file_, -1)) != 0) return Failed(path_, errno);
    return rename(fresh_.c_str(), path_.c_str()) == 0 ? Status::Ok() : Failed(path_, errno);
  }

 private:
  const std::string path_, fresh_;
  int file_ = -1;
};

Result<std::vector<LogPart>> All(transport::Admin* admin, const std::string& topic) {
  KSTREAM_ASSIGN_OR_RETURN(const auto partitions, admin->FindTopic(topic));
  std::vector<transport::TopicPartition> names;
  for (int32_t i = 0; i < partitions.value_or(0); i++) names.push_back({topic, i});
  KSTREAM_ASSIGN_OR_RETURN(const auto logs, admin->Offsets(names));
  std::vector<LogPart> parts;
  for (const auto& [name, log] : logs) parts.push_back({name, log.low, log.high});
  return parts;
}

}  // namespace

std::string BackupPath(const std::string& directory, const std::string& topic) {
  return fmt::format("{}/{}.ndjson", directory, topic);
}

Status Backup(transport::Cluster* cluster, const Clock& clock, const std::string& topic,
              const std::string& path) {
  std::error_code error;
  const std::filesystem::path directory = std::filesystem::path(path).parent_path();
  std::filesystem::create_directories(directory, error);
  if (error) return Failed(directory.string(), error.value());
  if (std::filesystem::exists(path, error)) {
    return Status::Refused(fmt::format("{} is there already: give another --backup", path));
  }
  KSTREAM_ASSIGN_OR_RETURN(const auto admin, cluster->NewAdmin());
  KSTREAM_ASSIGN_OR_RETURN(const auto parts, All(admin.get(), topic));
  WholeFile file(path);
  KSTREAM_RETURN_IF_ERROR(file.Open());
  json::Reader reader;
  std::string lines;
  const auto take = [&](std::span<const Record> records) {
    for (const Record& record : records) {
      AppendEnvelope(record, reader, &lines);
      lines += '\n';
    }
    if (lines.size() < kGather) return Status::Ok();
    Status written = file.Write(lines);
    lines.clear();
    return written;
  };
  KSTREAM_RETURN_IF_ERROR(ReadParts(cluster, clock, parts, take));
  KSTREAM_RETURN_IF_ERROR(file.Write(lines));
  return file.Finish();
}

}  // namespace kstream::admin
