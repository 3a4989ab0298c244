#include "expr/libjq.h"

#include <algorithm>
#include <cmath>
#include <csetjmp>
#include <vector>

#include "expr/libjq_guards.h"
#include "expr/number.h"
#include "expr/text.h"

extern "C" {
#include <jq.h>
#include <jv.h>
}

namespace kstream::expr {
namespace {

constexpr double kMaxExactDouble = 9007199254740992.0;

// Builds libjq's form of a value.
class Exporter {
 public:
  Exporter(Arena* arena, std::vector<double>* large) : arena_(arena), large_(large) {}

  // An invalid jv when the value must not cross: then see Error().
  jv Export(Value v, int depth) {
    switch (v.type()) {
      case Type::kNull:
        return jv_null();
      case Type::kFalse:
        return jv_false();
      case Type::kTrue:
        return jv_true();
      case Type::kNumber:
        return Number(v);
      case Type::kString:
        return String(v);
      case Type::kArray:
      case Type::kObject:
        break;
    }
    if (depth >= kLibjqMaxDepth) {
      problem_ = "is nested deeper than libjq's 256 levels";
      return jv_invalid();
    }
    return v.is_array() ? ExportArray(v, depth) : ExportObject(v, depth);
  }

  // What is wrong, after the path of where it is below `root`.
  Status Error(std::string_view root) const {
    std::string path(root);
    for (auto step = path_.rbegin(); step != path_.rend(); ++step) path += *step;
    if (path.empty()) path = ".";
    return Status::Data(path + ": " + problem_);
  }

 private:
  jv Number(Value v) {
    double d = 0;
    std::string text;
    if (v.kind() == Value::Kind::kDouble) {
      d = v.as_double();
    } else {
      if (v.kind() == Value::Kind::kInt) AppendInt(v.as_int(), &text);
      const std::string_view spelling = text.empty() ? v.raw() : std::string_view(text);
      if (!SurvivesDouble(spelling)) {
        problem_ = std::string(spelling.substr(0, 40)) +
                   " does not survive jq's doubles, and this expression needs libjq";
        return jv_invalid();
      }
      d = ToDouble(v);
    }
    if (std::abs(d) > kMaxExactDouble) large_->push_back(d);
    return jv_number(d);
  }

  jv String(Value v) {
    if (!v.escaped()) return jv_string_sized(v.raw().data(), static_cast<int>(v.raw().size()));
    text_.clear();
    json::Unescape(v.raw(), &text_);
    return jv_string_sized(text_.data(), static_cast<int>(text_.size()));
  }

  jv ExportArray(Value v, int depth) {
    jv array = jv_array();
    int i = 0;
    const auto add = [&](Value item) {
      jv exported = Export(item, depth + 1);
      if (!jv_is_valid(exported)) {
        path_.push_back("[" + std::to_string(i) + "]");
        return false;
      }
      array = jv_array_append(array, exported);
      ++i;
      return true;
    };
    bool ok = true;
    if (v.kind() == Value::Kind::kArray) {
      ok = std::all_of(v.array().begin(), v.array().end(), add);
    } else {
      const json::Document& document = v.document();
      for (json::Node n = document.First(v.node()); ok && n != json::kNoNode;
           n = document.Next(n)) {
        ok = add(Value::Of(document, n));
      }
    }
    return ok ? array : Abandoned(array);
  }

  jv ExportObject(Value v, int depth) {
    jv object = jv_object();
    const auto add = [&](Value name, Value value) {
      jv exported = Export(value, depth + 1);
      if (!jv_is_valid(exported)) {
        path_.push_back(Step(name));
        return false;
      }
      object = jv_object_set(object, String(name), exported);
      return true;
    };
    bool ok = true;
    if (v.kind() == Value::Kind::kObject) {
      ok = std::all_of(v.object().begin(), v.object().end(),
                       [&](const Object::Member& m) { return add(m.name, m.value); });
    } else {
      const json::Document& document = v.document();
      for (json::Node n = document.First(v.node()); ok && n != json::kNoNode;) {
        const json::Node value = document.ValueOf(n);
        ok = add(Value::Of(document, n), Value::Of(document, value));
        n = document.Next(value);
      }
    }
    return ok ? object : Abandoned(object);
  }

  static jv Abandoned(jv container) {
    jv_free(container);
    return jv_invalid();
  }

  std::string Step(Value name) {
    const std::string_view text = TextOf(name, arena_);
    const bool word =
        !text.empty() &&
        text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") ==
            text.npos;
    if (word) return "." + std::string(text);
    std::string step = "[";
    AppendJson(name, &step);
    return step + "]";
  }

  Arena* arena_;
  std::vector<double>* large_;
  std::string text_;
  std::string problem_;
  std::vector<std::string> path_;  // innermost step first
};

// Prints a result. False: it is nested too deep, or it holds an integer beyond 2^53 that the input
// did not have; see problem().
class Printer {
 public:
  Printer(const std::vector<double>& large, std::string* out) : large_(large), out_(*out) {}

  const char* problem() const { return problem_; }

  // Borrows `v`, which may have `levels` of arrays and objects.
  bool Print(jv v, int levels = json::kMaxDepth) {
    switch (jv_get_kind(v)) {
      case JV_KIND_INVALID:
      case JV_KIND_NULL:
        out_ += "null";
        return true;
      case JV_KIND_FALSE:
        out_ += "false";
        return true;
      case JV_KIND_TRUE:
        out_ += "true";
        return true;
      case JV_KIND_NUMBER:
        return Number(jv_number_value(v));
      case JV_KIND_STRING:
        String(v);
        return true;
      case JV_KIND_ARRAY:
      case JV_KIND_OBJECT:
        break;
    }
    if (levels == 0) {
      problem_ = "the result is nested too deep";
      return false;
    }
    return jv_get_kind(v) == JV_KIND_ARRAY ? PrintArray(v, levels) : PrintObject(v, levels);
  }

 private:
  bool Number(double d) {
    AppendDouble(d, &out_);
    if (std::abs(d) <= kMaxExactDouble || !std::isfinite(d) ||
        std::find(large_.begin(), large_.end(), d) != large_.end()) {
      return true;
    }
    problem_ = "the result has an integer beyond 2^53, which jq does not calculate exactly";
    return false;
  }

  void String(jv v) {
    const int size = jv_string_length_bytes(jv_copy(v));
    json::AppendQuoted({jv_string_value(v), static_cast<size_t>(size)}, &out_);
  }

  bool PrintArray(jv v, int levels) {
    bool ok = true;
    out_ += '[';
    const int n = jv_array_length(jv_copy(v));
    for (int i = 0; ok && i < n; ++i) {
      if (i != 0) out_ += ',';
      jv item = jv_array_get(jv_copy(v), i);
      ok = Print(item, levels - 1);
      jv_free(item);
    }
    out_ += ']';
    return ok;
  }

  bool PrintObject(jv v, int levels) {
    bool ok = true;
    bool first = true;
    out_ += '{';
    for (int i = jv_object_iter(v); ok && jv_object_iter_valid(v, i);
         i = jv_object_iter_next(v, i)) {
      if (!first) out_ += ',';
      first = false;
      jv name = jv_object_iter_key(v, i);
      jv value = jv_object_iter_value(v, i);
      String(name);
      out_ += ':';
      ok = Print(value, levels - 1);
      jv_free(name);
      jv_free(value);
    }
    out_ += '}';
    return ok;
  }

  const std::vector<double>& large_;
  std::string& out_;
  const char* problem_ = nullptr;
};

// libjq's message in one line, without what its program would say around it.
std::string OneLine(std::string message) {
  constexpr std::string_view kPrefix = "jq: error: ";
  if (message.starts_with(kPrefix)) message.erase(0, kPrefix.size());
  if (const size_t end = message.find('\n'); end != message.npos) message.resize(end);
  while (!message.empty() && (message.back() == ':' || message.back() == ' ')) message.pop_back();
  return message;
}

// An allocation that fails ends the process, unless the handler never returns to libjq. Null
// outside of NextOutput(): there it may.
thread_local std::jmp_buf* out_of_memory = nullptr;

void LeaveOnOutOfMemory(void*) {
  if (out_of_memory != nullptr) std::longjmp(*out_of_memory, 1);
}

// The next output, or an invalid jv at the end. False: memory ran out (`.[.n] = 0` asks for as much
// as a record says); the state is then unusable. Only frames of C lie between here and the handler.
bool NextOutput(jq_state* state, jv* result) {
  std::jmp_buf buffer;
  if (setjmp(buffer) != 0) {
    out_of_memory = nullptr;
    return false;
  }
  out_of_memory = &buffer;
  *result = jq_next(state);
  out_of_memory = nullptr;
  return true;
}

// Takes `invalid`.
std::string MessageOf(jv invalid) {
  jv message = jv_invalid_get_msg(invalid);
  std::string text;
  if (jv_get_kind(message) == JV_KIND_STRING) {
    text = jv_string_value(message);
  } else {
    text = "(not a string): ";
    Printer({}, &text).Print(message);
  }
  jv_free(message);
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return text;
}

}  // namespace

struct Libjq::Rep {
  ~Rep() {
    if (state != nullptr) jq_teardown(&state);
  }
  jq_state* state = nullptr;
  std::vector<std::string> roots;  // of the names, for paths in messages: "$key"
  std::string compile_error;       // first message of the compiler
  std::vector<double> large;       // integers beyond 2^53 in this input
  std::string out;
};

Libjq::Libjq(std::unique_ptr<Rep> rep) : rep_(std::move(rep)) {}
Libjq::~Libjq() = default;

bool Libjq::usable() const { return rep_->state != nullptr; }

Result<std::unique_ptr<Libjq>> Libjq::Compile(std::string_view program, uint32_t names) {
  auto rep = std::make_unique<Rep>();
  std::string text;
  for (int i = 0; i < kNames; ++i) {
    if ((names >> i & 1) == 0) continue;
    rep->roots.push_back("$" + std::string(kNameText[i]));
    text += ".[" + std::to_string(rep->roots.size()) + "] as " + rep->roots.back() + " | ";
  }
  // The line end closes a comment at the program's end.
  if (!text.empty()) text += ".[0] | (" + std::string(program) + "\n)";
  if (text.empty()) text = program;
  text.insert(0, LibjqGuards(program));
  rep->state = jq_init();
  if (rep->state == nullptr) return Status::Expression("libjq cannot be set up");
  // Without this jq_next() installs whatever the state's memory happened to hold.
  jq_set_nomem_handler(rep->state, LeaveOnOutOfMemory, nullptr);
  const auto keep_first = [](void* to, jv message) {
    auto* kept = static_cast<std::string*>(to);
    if (kept->empty() && jv_get_kind(message) == JV_KIND_STRING) *kept = jv_string_value(message);
    jv_free(message);
  };
  jq_set_error_cb(rep->state, keep_first, &rep->compile_error);
  if (jq_compile(rep->state, text.c_str()) == 0) {
    return Status::Expression("jq: " + OneLine(rep->compile_error));
  }
  return std::unique_ptr<Libjq>(new Libjq(std::move(rep)));
}

Status Libjq::Run(Value input, std::span<const Value> values, Arena* arena,
                  const std::function<Status(std::string_view json)>& each) {
  rep_->large.clear();
  Exporter exporter(arena, &rep_->large);
  jv exported = exporter.Export(input, 0);
  if (!jv_is_valid(exported)) return exporter.Error("");
  if (!rep_->roots.empty()) exported = jv_array_append(jv_array(), exported);
  for (size_t i = 0; i < rep_->roots.size(); ++i) {
    jv value = exporter.Export(values[i], 0);
    if (!jv_is_valid(value)) {
      jv_free(exported);
      return exporter.Error(rep_->roots[i]);
    }
    exported = jv_array_append(exported, value);
  }
  jq_start(rep_->state, exported, 0);
  while (true) {
    jv result;
    if (!NextOutput(rep_->state, &result)) {
      rep_->state = nullptr;  // in the middle of something: it cannot even be freed
      return Status::Data("libjq ran out of memory");
    }
    if (!jv_is_valid(result)) {
      if (jv_invalid_has_msg(jv_copy(result))) return Status::Data(MessageOf(result));
      jv_free(result);
      return Status::Ok();
    }
    rep_->out.clear();
    Printer printer(rep_->large, &rep_->out);
    const bool printed = printer.Print(result);
    jv_free(result);
    if (!printed) return Status::Data(printer.problem());
    KSTREAM_RETURN_IF_ERROR(each(rep_->out));
  }
}

}  // namespace kstream::expr
