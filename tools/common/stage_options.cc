#include "common/stage_options.h"

#include <fmt/format.h>

#include <cstdlib>

#include "kstream/units.h"

namespace kstream::tools {
namespace {

const std::vector<std::string_view> kInFormats = {"json", "envelope", "raw", "csv", "tsv"};

Setter SetTimestamp(SourceSpec* source) {
  return [source](std::string_view text) {
    source->timestamp = text;
    source->timestamp_expression.reset();
    if (text == "record" || text == "wallclock") return Status::Ok();
    return SetExpression(&source->timestamp_expression)(text);
  };
}

Setter SetProperty(StageOptions* options) {
  return [options](std::string_view text) {
    if (text == "dump") {
      options->dump_properties = true;
      return Status::Ok();
    }
    KSTREAM_ASSIGN_OR_RETURN(Property property, ParseProperty(text, "-X"));
    options->command_properties.push_back(std::move(property));
    return Status::Ok();
  };
}

Setter SetBrokers(StageOptions* options) {
  return [options](std::string_view text) {
    options->flag_properties = {
        {Property::Side::kBoth, "bootstrap.servers", std::string(text), "--brokers"}};
    return Status::Ok();
  };
}

Setter AddCluster(StageOptions* options) {
  return [options](std::string_view text) {
    KSTREAM_ASSIGN_OR_RETURN(auto cluster, ParseCluster(text));
    for (const auto& [name, properties] : options->clusters) {
      if (name == cluster.first) return Status::Usage(fmt::format("{} is given twice", name));
    }
    options->clusters.push_back(std::move(cluster));
    return Status::Ok();
  };
}

// One of the flags that say how records are printed: of two that differ neither wins.
Status ChooseFormat(StageOptions* options, std::string_view flag, std::string_view format) {
  const std::string& other = options->format_flag;
  if (!other.empty() && other != flag && options->sink.format != format) {
    return Status::Usage(
        fmt::format("contradicts {}: one of them says how records are printed",
                    other == "--out" ? fmt::format("--out {}", options->sink.format) : other));
  }
  options->format_flag = flag;
  options->sink.format = format;
  return Status::Ok();
}

Setter SetOut(StageOptions* options) {
  return [options](std::string_view format) { return ChooseFormat(options, "--out", format); };
}

Setter SetEnvelope(StageOptions* options) {
  return [options](std::string_view text) {
    bool on = false;
    KSTREAM_RETURN_IF_ERROR(Set(&on)(text));
    return ChooseFormat(options, "-J", "envelope");
  };
}

Setter SetFormat(StageOptions* options) {
  return [options](std::string_view text) {
    options->sink.format_text = text;
    return ChooseFormat(options, "--format", "format");
  };
}

Setter SetExplain(std::string* explain) {
  return [explain](std::string_view text) {
    *explain = text == "true" ? "text" : text;
    return Status::Ok();
  };
}

Setter SetHttp(std::optional<HttpOptions>* http) {
  return [http](std::string_view text) { return http->emplace().SetAddress(text); };
}

FlagGroup InputAndOutput(StageOptions* o) {
  return {
      "Input and output",
      {{.names = "-i,--input",
        .metavar = "SRC",
        .help = "read SRC: with brokers a topic or a ^pattern of topics, else a file; - is "
                "stdin (the default); file:PATH and topic:NAME always say which. Several "
                "(repeat the flag) are merged by timestamp",
        .takes_file = true,
        .set = Append(&o->inputs)},
       {.names = "-o,--output",
        .metavar = "DST",
        .help = "write to DST, read as --input reads SRC; - is stdout (the default)",
        .takes_file = true,
        .set = Append(&o->outputs)},
       {.names = "--in",
        .metavar = "FORMAT",
        .help = "format of files read (default json)",
        .choices = kInFormats,
        .set = Set(&o->source.format)},
       {.names = "--out",
        .metavar = "FORMAT",
        .help = "format of files written (default json)",
        .choices = kInFormats,
        .set = SetOut(o)},
       {.names = "-J", .metavar = "", .help = "the same as --out envelope", .set = SetEnvelope(o)},
       {.names = "-f,--format",
        .metavar = "FMT",
        .help = "print each record as FMT says: %s value, %k key, %t topic, %p partition, %o "
                "offset, %T timestamp, %d timestamp as RFC 3339, %h headers, %{EXPR} an "
                "expression, \\n and \\t",
        .set = SetFormat(o)},
       {.names = "-k,--key",
        .metavar = "EXPR",
        .help = "the key of each record as it is read; null means no key",
        .set = SetExpression(&o->source.key)},
       {.names = "--timestamp",
        .metavar = "EXPR|record|wallclock",
        .help = "the time of each record as it is read (default record: its own)",
        .set = SetTimestamp(&o->source)},
       {.names = "--timestamp-unit",
        .metavar = "UNIT",
        .help = "unit of a --timestamp that is a number (default ms); a string is RFC 3339",
        .choices = {"ms", "s", "us", "ns"},
        .set = Set(&o->source.timestamp_unit)},
       {.names = "-s",
        .metavar = "key=SERDE|value=SERDE",
        .help = "how bytes become JSON for expressions, and back: json (default of values), "
                "string (default of keys), b64, hex, or kcat's pack letters",
        .option = &o->runtime},
       {.names = "--partitions",
        .metavar = "N",
        .help = "spread files over N partitions by key, as a topic would be (default 1)",
        .option = &o->runtime}}};
}

FlagGroup Kafka(StageOptions* o) {
  return {
      "Kafka",
      {BrokersFlag(o),
       {.names = "-G,--app",
        .metavar = "ID",
        .help = "run as a member of application ID: its consumer group, with commits. "
                "Without it one process reads all, from the beginning, and commits nothing",
        .option = &o->runtime},
       {.names = "--from",
        .metavar = "SPEC",
        .help = "where a partition without a commit starts: beginning (default), end, N, -N "
                "(the last N), @TIME, @T1:T2; TIME is ms, RFC 3339 or a duration ago",
        .option = &o->runtime},
       {.names = "-e,--exit-at-end",
        .metavar = "",
        .help = "stop at the ends that the topics have at start",
        .option = &o->runtime},
       ConfigFlag(o),
       PropertyFlag(o),
       {.names = "--cluster",
        .metavar = "NAME=LIST|FILE",
        .help = "another cluster, by its brokers or by a file of properties; its topics are "
                "NAME:topic",
        .set = AddCluster(o)},
       {.names = "--create-output",
        .metavar = "P[:RF]",
        .help = "create output topics that are missing, with P partitions and replication "
                "factor RF (default 1)",
        .option = &o->runtime},
       {.names = "--partitioner",
        .metavar = "NAME",
        .help = "how keys choose partitions of what is written (default murmur2, as Java's)",
        .choices = {"murmur2", "murmur2_random", "crc32", "consistent", "consistent_random",
                    "fnv1a", "fnv1a_random", "random"},
        .option = &o->runtime},
       {.names = "--partition",
        .metavar = "EXPR",
        .help = "the partition to write to; '$partition' keeps the number",
        .set = SetExpression(&o->partition, o->names)},
       {.names = "--guarantee",
        .metavar = "WHICH",
        .help = "at-least-once (default), or exactly-once: outputs, state and positions in one "
                "transaction",
        .choices = {"at-least-once", "exactly-once"},
        .option = &o->runtime},
       {.names = "--eos",
        .metavar = "",
        .help = "the same as --guarantee exactly-once",
        .option = &o->runtime},
       {.names = "--commit-interval",
        .metavar = "DUR",
        .help = "time between commits (default 1s; 200ms under exactly-once)",
        .option = &o->runtime},
       {.names = "--instance-id",
        .metavar = "ID|auto",
        .help = "stay the same member over a restart (group.instance.id); auto keeps an id in the "
                "state directory",
        .option = &o->runtime},
       {.names = "--grouper",
        .metavar = "WHICH",
        .help = "which partitions make a task: default (partition i of every input), single "
                "(one task reads all), by-topic (a task for each), broadcast:TOPIC (as default, "
                "and every task reads all of TOPIC)",
        .option = &o->runtime},
       {.names = "--max-idle",
        .metavar = "DUR",
        .help = "how long a task of several partitions waits for one that is at its end, lest "
                "an older record still comes (default 0s)",
        .option = &o->runtime},
       {.names = "--max-skew",
        .metavar = "DUR",
        .help = "do not read a partition that is ahead of the slowest of its task by more "
                "(default: no limit)",
        .option = &o->runtime}}};
}

FlagGroup State(StageOptions* o) {
  return {"State",
          {{.names = "--state-dir",
            .metavar = "DIR",
            .help = "keep the state of applications in DIR (default $XDG_STATE_HOME/kstream, else "
                    "~/.local/state/kstream)",
            .takes_file = true,
            .option = &o->runtime},
           {.names = "--store-type",
            .metavar = "TYPE",
            .help = "keep stores on disk or in memory (default: rocksdb with --app, else memory)",
            .choices = {"rocksdb", "memory"},
            .option = &o->runtime},
           {.names = "--memory",
            .metavar = "SIZE",
            .help = "what all stores together may hold in memory: 64K 256M 4G (default 256M, on "
                    "every machine; at least 8M)",
            .option = &o->runtime},
           {.names = "--standby",
            .metavar = "N|all",
            .help = "keep a copy of every task's stores warm in N other instances, or in all of "
                    "them, for one to go on at once when theirs is gone (default 0)",
            .option = &o->runtime}}};
}

FlagGroup Running(StageOptions* o) {
  return {"Running",
          {{.names = "-c,--limit",
            .metavar = "N",
            .help = "stop after N output records (0: read none)",
            .option = &o->runtime},
           {.names = "--timeout",
            .metavar = "DUR",
            .help = "stop after a time, with exit code 124 (500ms 10s 5m 2h 7d)",
            .option = &o->runtime},
           {.names = "-j,--threads",
            .metavar = "N",
            .help = "threads (default 1)",
            .option = &o->runtime},
           {.names = "--on-error",
            .metavar = "POLICY",
            .help = "what a bad record does: fail ends the stage (default)",
            .choices = {"fail", "skip", "dead-letter"},
            .set = Set(&o->on_error)},
           {.names = "--dead-letter",
            .metavar = "DST",
            .help = "write bad records to DST, with the reason in headers",
            .takes_file = true,
            .set = Set(&o->dead_letter)},
           {.names = "--max-errors",
            .metavar = "N",
            .help = "fail after more than N bad records",
            .option = &o->runtime},
           {.names = "-n,--dry-run",
            .metavar = "",
            .help = "do everything but write and commit",
            .option = &o->runtime},
           {.names = "--http",
            .metavar = "[HOST:]PORT",
            .help = "answer HTTP while it runs: /metrics, /health, /ready, /topology (also a page "
                    "for people), /stores, POST /pause and /resume; on 127.0.0.1, unless HOST says "
                    "otherwise, which needs --token",
            .set = SetHttp(&o->http)},
           {.names = "--token",
            .metavar = "TOKEN",
            .help = "with --http: what requests must show as Authorization: Bearer TOKEN (default "
                    "$KSTREAM_TOKEN, which others on this host do not see)",
            .set = Set(&o->token)},
           {.names = "--explain",
            .metavar = "FORM",
            .help = "print the plan instead: nodes, expressions and what runs them",
            .choices = {"text", "json", "dot"},
            .optional_value = true,
            .set = SetExplain(&o->explain)},
           {.names = "--print-spec",
            .metavar = "",
            .help = "print the topology file that equals this command instead",
            .set = Set(&o->print_spec)}}};
}

}  // namespace

Setter SetDuration(std::optional<std::chrono::milliseconds>* target) {
  return [target](std::string_view text) {
    KSTREAM_ASSIGN_OR_RETURN(*target, ParseDuration(text));
    return Status::Ok();
  };
}

Setter SetExpression(std::optional<Expression>* target, std::vector<std::string> names) {
  return [target, names](std::string_view text) {
    if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
      return Status::Expression("the expression is empty: . stands for the value as it is");
    }
    KSTREAM_ASSIGN_OR_RETURN(Expression expression,
                             Expression::Compile(text, Language::kAuto, names));
    *target = std::move(expression);
    return Status::Ok();
  };
}

std::string TokenOf(const StageOptions& options) {
  const char* const set = std::getenv("KSTREAM_TOKEN");
  return options.token.empty() && set != nullptr ? set : options.token;
}

Flag BrokersFlag(StageOptions* o) {
  return {.names = "-b,--brokers,--bootstrap-server",
          .metavar = "LIST",
          .help = "host:port,... of the home cluster (default $KSTREAM_BROKERS)",
          .set = SetBrokers(o)};
}

Flag ConfigFlag(StageOptions* o) {
  return {.names = "-F,--config",
          .metavar = "FILE",
          .help = "property=value lines (default $KSTREAM_CONFIG, else ~/.config/kstream.conf)",
          .takes_file = true,
          .set = Set(&o->config)};
}

Flag PropertyFlag(StageOptions* o) {
  return {.names = "-X",
          .metavar = "[in.|out.]PROP=VAL",
          .help =
              "a librdkafka property, with in. or out. for reading or writing only; "
              "-X dump prints all that are set and where they came from",
          .set = SetProperty(o)};
}

void AddStageFlags(StageOptions* options, CommandLine* line, bool input) {
  FlagGroup places = InputAndOutput(options);
  if (!input) std::erase_if(places.flags, [](auto& flag) { return MainName(flag) == "--input"; });
  line->groups.push_back(std::move(places));
  line->groups.push_back(Kafka(options));
  line->groups.push_back(State(options));
  line->groups.push_back(Running(options));
}

}  // namespace kstream::tools
