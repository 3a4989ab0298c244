// alarm_test: a processor of one's own, and its test with the driver: no broker, no waiting.
//
//   alarm_test                             prints a line for each case; ends with 0 if all are good
//
// The processor passes on the readings of sensors, and tells when one has been silent for a minute.
// That takes a clock, state and a key's way through partitions: what is tedious to test on a
// broker.
#include <kstream/log.h>
#include <kstream/test_driver.h>
#include <kstream/topology.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace kstream;  // NOLINT(google-build-using-namespace)
using std::chrono::seconds;

class Alarm : public Processor {
 public:
  Status Init(ProcessorContext& context) override {
    context_ = &context;
    KSTREAM_ASSIGN_OR_RETURN(StateStore* const store, context.Store("seen"));
    seen_ = dynamic_cast<KeyValueStore*>(store);
    return context.Schedule(seconds(10), PunctuationType::kWallClockTime).status();
  }

  Status Process(const Record& reading) override {
    if (!reading.key) return Status::Data("a reading without a sensor");
    KSTREAM_RETURN_IF_ERROR(seen_->Put(*reading.key, std::to_string(context_->wall_clock_time())));
    return context_->Forward(reading);
  }

  Status Punctuate(const Punctuation& punctuation) override {
    std::vector<std::string> silent;
    KSTREAM_RETURN_IF_ERROR(seen_->All([&](std::string_view sensor, std::string_view time) {
      if (punctuation.time - std::stoll(std::string(time)) >= 60'000) silent.emplace_back(sensor);
      return true;
    }));
    for (const std::string& sensor : silent) {
      Record alarm;
      alarm.key = sensor;
      alarm.value = R"({"silent":true})";
      KSTREAM_RETURN_IF_ERROR(context_->Forward(alarm));
      KSTREAM_RETURN_IF_ERROR(seen_->Delete(sensor));
    }
    return Status::Ok();
  }

 private:
  ProcessorContext* context_ = nullptr;
  KeyValueStore* seen_ = nullptr;
};

Result<std::unique_ptr<TestDriver>> NewDriver() {
  TopologyBuilder builder;
  builder.AddSource("readings", {.inputs = {Location::Topic("readings")}})
      .AddProcessor("alarm", [] { return std::make_unique<Alarm>(); }, {"readings"})
      .AddStore("seen", InMemoryKeyValueStore(), {"alarm"})
      .AddSink("out", {.output = Location::Topic("out")}, {"alarm"});
  KSTREAM_ASSIGN_OR_RETURN(Topology topology, builder.Build());
  TestDriverOptions options;
  options.partitions = {{"readings", 4}, {"out", 4}};
  options.runtime.threads = 2;
  return TestDriver::Create(std::move(topology), std::move(options));
}

// "key value" of what came out since the last time.
Result<std::vector<std::string>> Out(TestDriver* driver) {
  KSTREAM_ASSIGN_OR_RETURN(const std::vector<TestRecord> records, driver->Read("out"));
  std::vector<std::string> lines;
  for (const TestRecord& record : records) {
    lines.push_back(record.key.value_or("") + " " + record.value.value_or(""));
  }
  return lines;
}

Status Expect(TestDriver* driver, const std::vector<std::string>& wanted) {
  KSTREAM_ASSIGN_OR_RETURN(const std::vector<std::string> got, Out(driver));
  if (got == wanted) return Status::Ok();
  std::string message = "came out:";
  for (const std::string& line : got) message += " [" + line + "]";
  return Status(StatusCode::kNegative, message);
}

Status ASilentSensorIsTold(TestDriver* driver) {
  KSTREAM_RETURN_IF_ERROR(driver->Pipe("readings", {.key = "attic", .value = R"({"c":21})"}));
  KSTREAM_RETURN_IF_ERROR(Expect(driver, {R"(attic {"c":21})"}));
  KSTREAM_RETURN_IF_ERROR(driver->Advance(seconds(50)));
  KSTREAM_RETURN_IF_ERROR(Expect(driver, {}));
  KSTREAM_RETURN_IF_ERROR(driver->Advance(seconds(10)));
  KSTREAM_RETURN_IF_ERROR(Expect(driver, {R"(attic {"silent":true})"}));
  KSTREAM_RETURN_IF_ERROR(driver->Advance(seconds(120)));
  return Expect(driver, {});  // once
}

// What was read and not committed is read again by whoever takes over.
Status ACrashLosesNoReading(TestDriver* driver) {
  KSTREAM_RETURN_IF_ERROR(driver->Advance(seconds(1)));  // commits what was before
  KSTREAM_RETURN_IF_ERROR(driver->Pipe("readings", {.key = "cellar", .value = R"({"c":9})"}));
  KSTREAM_RETURN_IF_ERROR(Expect(driver, {R"(cellar {"c":9})"}));
  int owner = 0;
  for (const TestTask& task : driver->tasks()) {
    if (task.stream_time == driver->now()) owner = task.thread;
  }
  KSTREAM_RETURN_IF_ERROR(driver->Crash(owner));
  return Expect(driver, {R"(cellar {"c":9})"});
}

Status AReadingWithoutASensorEndsTheRun(TestDriver* driver) {
  const Status ended = driver->Pipe("readings", {.value = R"({"c":0})"});
  if (ended.code() == StatusCode::kData && !driver->running()) return Status::Ok();
  return Status(StatusCode::kNegative, "it goes on");
}

}  // namespace

int main() {
  SetLog({.name = "alarm_test", .least = LogLevel::kError});
  const std::pair<const char*, Status (*)(TestDriver*)> cases[] = {
      {"a silent sensor is told", ASilentSensorIsTold},
      {"a crash loses no reading", ACrashLosesNoReading},
      {"a reading without a sensor ends the run", AReadingWithoutASensorEndsTheRun},
  };
  bool failed = false;
  for (const auto& [name, test] : cases) {
    const auto driver = NewDriver();
    const Status status = driver.ok() ? test(driver->get()) : driver.status();
    failed |= !status.ok();
    std::printf("%s: %s\n", name, status.ok() ? "good" : std::string(status.message()).c_str());
  }
  return failed ? 1 : 0;
}
