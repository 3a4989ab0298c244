// TopologyTest: a test file with its topology, which is built once for all cases that run under the
// same settings.
#include "kstream/topology_test.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "topology_test/case_run.h"
#include "topology_test/names.h"
#include "topology_test/test_file.h"

namespace kstream {
namespace {

using topology_test::Case;
using topology_test::CaseRun;
using topology_test::Settings;
using topology_test::TestFile;
using topology_test::TopologyNames;

struct Build {
  const Settings* settings;
  RuntimeOptions runtime;
  Topology topology;
};

// Nothing of a test goes there: that there are brokers makes topics of what the file names.
const std::string kNoBroker = "memory";

// What a test decides, or would be led astray by.
void Tame(RuntimeOptions* runtime) {
  const RuntimeOptions plain;
  if (runtime->app.empty()) runtime->app = "test";
  runtime->from = plain.from;
  runtime->from_given = false;
  runtime->exit_at_end = runtime->close_at_end = runtime->dry_run = false;
  runtime->limit.reset();
  runtime->timeout.reset();
  runtime->threads = 1;
  runtime->commit_interval = std::chrono::milliseconds(1);
  runtime->state_dir.clear();
  runtime->store_type = StoreSpec::Engine::kMemory;
  runtime->instance_id.clear();
  runtime->create_output.reset();
}

Result<RuntimeOptions> OptionsOf(const TopologyFile& file, const Settings& settings,
                                 const TopologyTestOptions& options) {
  RuntimeOptions runtime;
  runtime.home.brokers = kNoBroker;
  for (const std::string& name : settings.clusters) runtime.clusters[name].brokers = kNoBroker;
  KSTREAM_RETURN_IF_ERROR(file.Configure(&runtime));
  Tame(&runtime);
  for (const auto& [name, value] : options.options) {
    if (Settings::Has(name)) KSTREAM_RETURN_IF_ERROR(runtime.Set(name, value));
  }
  KSTREAM_RETURN_IF_ERROR(settings.Apply(&runtime));
  return runtime;
}

// What topology cases are for: the given one, or the one that the file names.
struct Subject {
  std::string path;
  const topology_test::Name* named;  // null: it was given
};

Result<Subject> SubjectOf(const TestFile& file, const std::string& path,
                          const TopologyTestOptions& options) {
  if (!options.topology.empty()) return Subject{options.topology, nullptr};
  if (!file.topology) {
    return file.text->root().Error(
        "no \"topology\" is named: give the path of one, seen from here, or FILE");
  }
  const auto beside = std::filesystem::path(path).parent_path() / file.topology->text;
  return Subject{beside.string(), &*file.topology};
}

// A mistake in what the test file says of its topology is told there.
Status Placed(const Status& status, const Subject& subject, const Settings& settings,
              const TopologyTestOptions& options) {
  const auto unused = [&](const auto& variable) {
    return status.message().starts_with(variable.first + " is set");
  };
  const auto& given = options.variables.given;
  if (status.code() != StatusCode::kUsage || std::ranges::any_of(given, unused)) {
    return status;
  }
  const auto found = std::ranges::find_if(settings.set, unused);
  if (found != settings.set.end()) return found->second.at.Error(status.message());
  return subject.named == nullptr ? status : subject.named->at.Error(status.message());
}

Result<Build> BuildOf(const Subject& subject, const Settings& settings,
                      const TopologyTestOptions& options) {
  TopologyVariables variables = options.variables;
  for (const auto& [name, variable] : settings.set) variables.given.emplace(name, variable.value);
  const auto file = TopologyFile::Read(subject.path, variables);
  if (!file.ok()) return Placed(file.status(), subject, settings, options);
  KSTREAM_ASSIGN_OR_RETURN(RuntimeOptions runtime, OptionsOf(*file, settings, options));
  KSTREAM_ASSIGN_OR_RETURN(BuiltTopology built, file->Build(runtime, options.defaults));
  return Build{&settings, std::move(runtime), std::move(built.topology)};
}

// Of a case: what runs, and how.
struct Prepared {
  Topology topology;
  TestDriverOptions options;
};

TestDriverOptions DriverOptions(const Case& test, const Build& build,
                                const std::vector<std::string>& matched) {
  TestDriverOptions options;
  options.runtime = build.runtime;
  options.default_partitions = test.settings.default_partitions;
  for (const std::string& topic : matched) options.partitions[topic] = options.default_partitions;
  for (const auto& [topic, partitions] : test.settings.partitions) {
    options.partitions[topic] = partitions.count;
  }
  if (test.settings.now) options.start_time = *test.settings.now;
  return options;
}

}  // namespace

struct TopologyTest::Rep {
  std::string path;
  TestFile file;
  std::vector<Prepared> prepared;  // of each case
  std::vector<TopologyTestCase> cases;
};

TopologyTest::TopologyTest(std::shared_ptr<const Rep> rep) : rep_(std::move(rep)) {}

Result<TopologyTest> TopologyTest::Read(const std::string& path,
                                        const TopologyTestOptions& options) {
  auto rep = std::make_shared<Rep>();
  rep->path = path;
  KSTREAM_ASSIGN_OR_RETURN(rep->file, TestFile::Read(path));
  KSTREAM_ASSIGN_OR_RETURN(const Subject subject, SubjectOf(rep->file, path, options));
  std::vector<Build> builds;
  for (const Case& test : rep->file.cases) {
    auto found = std::ranges::find_if(
        builds, [&](const Build& build) { return build.settings->BuildsLike(test.settings); });
    if (found == builds.end()) {
      KSTREAM_ASSIGN_OR_RETURN(Build build, BuildOf(subject, test.settings, options));
      found = builds.insert(builds.end(), std::move(build));
    }
    const TopologyNames names(found->topology, found->runtime);
    KSTREAM_RETURN_IF_ERROR(names.Check(test));
    rep->prepared.push_back({found->topology, DriverOptions(test, *found, names.Matched(test))});
    std::string place = topology_test::AtPlace(test.at, "");
    place.resize(place.size() - 2);  // ": "
    rep->cases.push_back({test.name, std::move(place)});
  }
  return TopologyTest(std::move(rep));
}

const std::string& TopologyTest::path() const { return rep_->path; }
const std::vector<TopologyTestCase>& TopologyTest::cases() const { return rep_->cases; }

TopologyTestResult TopologyTest::Run(size_t number) const {
  const auto& [topology, options] = rep_->prepared[number];
  return CaseRun(rep_->file.cases[number], rep_->file.text->text(), topology, options).Run();
}

std::string TopologyTest::Edited(std::span<const TopologyTestResult> results) const {
  std::vector<TextEdit> edits;
  for (const TopologyTestResult& result : results) {
    edits.insert(edits.end(), result.edits.begin(), result.edits.end());
  }
  std::ranges::sort(edits, std::ranges::greater(), &TextEdit::begin);
  std::string text = rep_->file.text->text();
  for (const TextEdit& edit : edits) text.replace(edit.begin, edit.size, edit.text);
  return text;
}

}  // namespace kstream
