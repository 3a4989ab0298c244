// stream: what customers paid, by customer; a topology as a chain of operators.
//
//   stream orders.ndjson -                 files, or - for stdin and stdout
//   stream orders payments k:9092 shop     topics, as application "shop": stop it, start it again
//   or
//                                          more of it, and it goes on where it was
#include <kstream/runtime.h>
#include <kstream/stream.h>

#include <csignal>
#include <cstdio>
#include <set>
#include <string>

namespace {

using namespace kstream;  // NOLINT(google-build-using-namespace)

Runtime* running = nullptr;  // for the handler of signals

Status Run(const std::string& from, const std::string& to, RuntimeOptions options) {
  const bool topics = !options.home.brokers.empty();
  KSTREAM_ASSIGN_OR_RETURN(const Location input, Location::Parse(from, topics));
  KSTREAM_ASSIGN_OR_RETURN(const Location output, Location::Parse(to, topics));
  const std::set<std::string, std::less<>> testers = {"ana", "hana"};

  StreamBuilder builder;
  builder.Source(input)
      .Filter(R"(.status == "paid" and .amount > 0)")
      .SelectKey(".user")
      .FilterNot(
          [testers](const Record& order) { return order.key && testers.contains(*order.key); })
      .Repartition("by-user")
      .Map({.value = "{user: $key, paid: .amount}", .headers = {{"currency", ".currency"}}})
      .To(output);
  KSTREAM_ASSIGN_OR_RETURN(const Topology topology, builder.Build());

  KSTREAM_ASSIGN_OR_RETURN(const auto runtime, Runtime::Create(topology, std::move(options)));
  running = runtime.get();
  for (const int signal : {SIGINT, SIGTERM}) {
    std::signal(signal, [](int) { running->Stop(); });
  }
  return runtime->Run();
}

}  // namespace

int main(int argc, char** argv) {
  RuntimeOptions options;
  if (argc > 3) options.home.brokers = argv[3];
  if (argc > 4) options.app = argv[4];
  const Status status = Run(argc > 1 ? argv[1] : "-", argc > 2 ? argv[2] : "-", options);
  if (!status.ok()) std::fprintf(stderr, "stream: %s\n", std::string(status.message()).c_str());
  return static_cast<int>(status.code());
}
