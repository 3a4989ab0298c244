// What `kstream-filter -i FILE '.amount > 100'` does, in a program of your own.
#include <kstream/expression.h>
#include <kstream/location.h>
#include <kstream/operators.h>
#include <kstream/runtime.h>
#include <kstream/status.h>
#include <kstream/topology.h>

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

namespace {

kstream::Status KeepLargeOrders(std::string_view file) {
  using kstream::Expression, kstream::Location, kstream::ProcessorSupplier, kstream::Runtime;
  KSTREAM_ASSIGN_OR_RETURN(const Location input, Location::Parse(file, false));
  KSTREAM_ASSIGN_OR_RETURN(const Location output, Location::Parse("-", false));
  KSTREAM_ASSIGN_OR_RETURN(const Expression large, Expression::Compile(".amount > 100"));
  KSTREAM_ASSIGN_OR_RETURN(const ProcessorSupplier filter, kstream::Filter({.keep = large}));

  kstream::TopologyBuilder builder;
  builder.AddSource("orders", {.inputs = {input}})
      .AddProcessor("large", filter, {"orders"})
      .AddSink("out", {.output = output}, {"large"});
  KSTREAM_ASSIGN_OR_RETURN(const kstream::Topology topology, builder.Build());
  KSTREAM_ASSIGN_OR_RETURN(const std::unique_ptr<Runtime> runtime, Runtime::Create(topology, {}));
  return runtime->Run();
}

}  // namespace

int main(int argc, char** argv) {
  const kstream::Status status = KeepLargeOrders(argc > 1 ? argv[1] : "-");
  if (!status.ok()) {
    std::fprintf(stderr, "large_orders: error: %s\n", std::string(status.message()).c_str());
  }
  return static_cast<int>(status.code());
}
