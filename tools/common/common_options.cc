// Messages, help and version: the flags of every tool.
#include <fmt/format.h>

#include "common/stage_options.h"
#include "kstream/units.h"

namespace kstream::tools {

void AddCommonFlags(CommonOptions* o, CommandLine* line) {
  line->groups.push_back(
      {"Messages (all on stderr)",
       {{.names = "--progress",
         .metavar = "WHEN",
         .help = "a live line of counts: auto (default) shows it on a terminal",
         .choices = {"auto", "on", "off"},
         .set = Set(&o->report.progress)},
        {.names = "--stats",
         .metavar = "DUR",
         .help = "a JSON line of counts each DUR and at the end",
         .set =
             [o](std::string_view text) {
               KSTREAM_ASSIGN_OR_RETURN(o->report.stats, ParseDuration(text));
               if (o->report.stats.count() > 0) return Status::Ok();
               return Status::Usage(fmt::format("{} is not longer than 0", text));
             }},
        {.names = "--log",
         .metavar = "FORM",
         .help = "form of messages (default text)",
         .choices = {"text", "json"},
         .set =
             [o](std::string_view text) {
               o->report.json = text == "json";
               return Status::Ok();
             }},
        {.names = "-q,--quiet", .metavar = "", .help = "errors only", .set = Set(&o->report.quiet)},
        {.names = "-v,--verbose",
         .metavar = "",
         .help = "details, too",
         .set = Set(&o->report.verbose)},
        {.names = "-V,--version",
         .metavar = "",
         .help = "print the version",
         .set = Set(&o->version)},
        {.names = "-h,--help", .metavar = "", .help = "print this help", .set = Set(&o->help)}}});
  // A group without a title is in no help, man page or completion: the build asks with it.
  line->groups.push_back({"",
                          {{.names = "--generate",
                            .metavar = "WHAT",
                            .help = "",
                            .choices = {"man", "bash", "zsh", "fish"},
                            .set = Set(&o->generate)}}});
}

}  // namespace kstream::tools
