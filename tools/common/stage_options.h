// StageOptions: what the flags common to the stage tools say, as typed; stage_plan.h makes a plan
// of it. AddStageFlags is the one place where these flags are told.
#ifndef KSTREAM_TOOLS_COMMON_STAGE_OPTIONS_H_
#define KSTREAM_TOOLS_COMMON_STAGE_OPTIONS_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/flag.h"
#include "common/reporter.h"
#include "kstream/expression.h"
#include "kstream/http.h"
#include "kstream/properties.h"
#include "kstream/runtime.h"
#include "kstream/topology.h"

namespace kstream::tools {

struct StageOptions {
  std::vector<std::string> names;    // that --partition may use, as Expression::Compile takes them
  std::vector<std::string> inputs;   // --input; empty: stdin
  std::vector<std::string> outputs;  // --output, as often as it was given
  std::string dead_letter;           // --dead-letter; empty: not given
  std::string on_error;              // --on-error; empty: not given
  SourceSpec source;                 // all but its inputs
  SinkSpec sink;                     // all but its output
  std::string format_flag;           // which of --out, -J and --format chose the sink's format
  std::optional<Expression> partition;  // --partition
  RuntimeOptions runtime;               // all but clusters, places and the error policy

  std::vector<Property> flag_properties;     // --brokers
  std::vector<Property> command_properties;  // -X
  std::string config;                        // --config; empty: not given
  std::vector<std::pair<std::string, std::vector<Property>>> clusters;

  std::optional<HttpOptions> http;  // --http, all but what it is told of the topology
  std::string token;                // --token; empty: not given

  bool dump_properties = false;  // -X dump
  bool print_spec = false;
  std::string explain;  // text json dot; empty: not asked for
};

// What --token says, or else $KSTREAM_TOKEN.
std::string TokenOf(const StageOptions& options);

// Compiles the value of a flag, which must not be blank; `names` as Expression::Compile takes them.
Setter SetExpression(std::optional<Expression>* target, std::vector<std::string> names = {});
Setter SetDuration(std::optional<std::chrono::milliseconds>* target);

// --brokers, --config and -X: how the home cluster is reached.
Flag BrokersFlag(StageOptions* options);
Flag ConfigFlag(StageOptions* options);
Flag PropertyFlag(StageOptions* options);

// Input and output, Kafka, and running: all that stage tools share. The targets must outlive the
// parsing.
// `input`: whether --input is one of them.
void AddStageFlags(StageOptions* options, CommandLine* line, bool input = true);

// Messages, help and version: what every tool has.
struct CommonOptions {
  ReportOptions report;
  bool help = false;
  bool version = false;
  std::string generate;  // hidden: man bash zsh fish
};
void AddCommonFlags(CommonOptions* options, CommandLine* line);

}  // namespace kstream::tools

#endif  // KSTREAM_TOOLS_COMMON_STAGE_OPTIONS_H_
