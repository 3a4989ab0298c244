#include "kstream-run/test_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "common/process.h"
#include "kstream-run/test_report.h"
#include "kstream/log.h"

namespace kstream::tools {
namespace {

using std::chrono::steady_clock;

// All cases of all files, by number.
struct Work {
  struct Place {
    RanFile* file;
    size_t number;  // in the file
  };
  std::vector<Place> places;
  std::atomic<size_t> next = 0;

  std::mutex mutex;
  std::condition_variable changed;
  std::vector<bool> done;  // guarded by mutex

  void Run() {
    while (true) {
      const size_t i = next++;
      if (i >= places.size()) return;
      const auto& [file, number] = places[i];
      const auto start = steady_clock::now();
      RanCase& ran = file->cases[number];
      ran.result = file->test.Run(number);
      ran.took = std::chrono::duration_cast<std::chrono::microseconds>(steady_clock::now() - start);
      const std::lock_guard lock(mutex);
      done[i] = true;
      changed.notify_all();
    }
  }
  void Await(size_t i) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return done[i]; });
  }
};

// A file is there whole, or as it was.
Status Rewrite(const std::string& path, const std::string& text) {
  // What a link points to is rewritten, not the link.
  std::error_code error;
  const std::filesystem::path target = std::filesystem::canonical(path, error);
  const std::filesystem::path beside = target.string() + ".new";
  {
    std::ofstream out(beside, std::ios::binary | std::ios::trunc);
    out << text;
    out.close();
    if (!out) error = std::make_error_code(std::errc::io_error);
  }
  if (!error) {
    std::filesystem::permissions(beside, std::filesystem::status(target).permissions(), error);
  }
  if (!error) std::filesystem::rename(beside, target, error);
  if (!error) return Status::Ok();
  std::error_code none;
  std::filesystem::remove(beside, none);
  return Status::Data(fmt::format("{}: cannot be rewritten: {}", path, error.message()));
}

Status Update(RanFile* file) {
  std::vector<TopologyTestResult> results;
  for (RanCase& ran : file->cases) {
    ran.updated = !ran.result.passed && ran.result.edits_help;
    results.push_back(ran.result);
  }
  const bool any = std::ranges::any_of(
      results, [](const TopologyTestResult& result) { return !result.edits.empty(); });
  return any ? Rewrite(file->test.path(), file->test.Edited(results)) : Status::Ok();
}

Status ReportTap(std::vector<RanFile>* files, bool update, Work* work) {
  KSTREAM_RETURN_IF_ERROR(WriteStdout(TapPlan(work->places.size())));
  size_t number = 0;
  for (RanFile& file : *files) {
    if (files->size() > 1) {
      KSTREAM_RETURN_IF_ERROR(WriteStdout(fmt::format("# {}\n", file.test.path())));
    }
    // What a case needs is known when all of its file have run.
    if (update) {
      for (size_t i = 0; i < file.cases.size(); ++i) work->Await(number + i);
      KSTREAM_RETURN_IF_ERROR(Update(&file));
    }
    for (size_t i = 0; i < file.cases.size(); ++i, ++number) {
      work->Await(number);
      KSTREAM_RETURN_IF_ERROR(
          WriteStdout(TapCase(number + 1, file.test.cases()[i], file.cases[i])));
    }
  }
  return Status::Ok();
}

Status ReportJUnit(std::vector<RanFile>* files, bool update, Work* work) {
  for (size_t i = 0; i < work->places.size(); ++i) work->Await(i);
  if (update) {
    for (RanFile& file : *files) KSTREAM_RETURN_IF_ERROR(Update(&file));
  }
  return WriteStdout(JUnit(*files));
}

// The last word: how many of them failed.
Status Outcome(const std::vector<RanFile>& files, steady_clock::time_point start) {
  size_t all = 0, failed = 0, updated = 0;
  for (const RanFile& file : files) {
    for (const RanCase& ran : file.cases) {
      ++all;
      if (ran.updated) {
        ++updated;
      } else if (!ran.result.passed) {
        ++failed;
      }
    }
  }
  const auto took =
      std::chrono::duration_cast<std::chrono::milliseconds>(steady_clock::now() - start);
  Log(LogLevel::kInfo,
      fmt::format("kstream-run: {} case{}, {} failed{}, {} ms", all, all == 1 ? "" : "s", failed,
                  updated > 0 ? fmt::format(", {} updated", updated) : "", took.count()));
  if (failed == 0) return Status::Ok();
  return Status(StatusCode::kNegative,
                fmt::format("{} of {} cases failed: each is told above", failed, all));
}

}  // namespace

FlagGroup TestFlags(TestRunOptions* options) {
  return {
      "Testing",
      {{.names = "--test",
        .metavar = "SPEC",
        .help = "run the cases of this test file, without brokers, instead of the topology (repeat "
                "the flag for more); FILE may be left out where SPEC names it; -j runs cases "
                "side by side",
        .takes_file = true,
        .set = Append(&options->files)},
       {.names = "--report",
        .metavar = "FORM",
        .help = "how --test tells its results on stdout (default tap)",
        .choices = {"tap", "junit"},
        .set = Set(&options->report)},
       {.names = "--update",
        .metavar = "",
        .help = "with --test, rewrite what SPEC expects to what came",
        .set = Set(&options->update)}}};
}

Status RunTests(const TestRunOptions& options, const TopologyTestOptions& test,
                Reporter* reporter) {
  const auto start = steady_clock::now();
  std::vector<RanFile> files;
  for (const std::string& path : options.files) {
    KSTREAM_ASSIGN_OR_RETURN(TopologyTest file, TopologyTest::Read(path, test));
    std::vector<RanCase> cases(file.cases().size());
    files.push_back({std::move(file), std::move(cases)});
  }
  Work work;
  for (RanFile& file : files) {
    for (size_t i = 0; i < file.cases.size(); ++i) work.places.push_back({&file, i});
  }
  work.done.resize(work.places.size());
  const ReportOptions asked = reporter->options();
  ReportOptions calm = asked;
  calm.quiet = !asked.verbose;
  reporter->Configure(calm);
  std::vector<std::jthread> threads;
  for (int i = 0; i < options.jobs; ++i) threads.emplace_back([&work] { work.Run(); });
  const bool junit = options.report == "junit";
  const Status reported =
      junit ? ReportJUnit(&files, options.update, &work) : ReportTap(&files, options.update, &work);
  work.next = work.places.size();  // after a failure nobody waits for the rest
  threads.clear();
  reporter->Configure(asked);
  KSTREAM_RETURN_IF_ERROR(reported);
  return Outcome(files, start);
}

}  // namespace kstream::tools
