// Reader: simdjson's first stage, then one pass over the token positions that it found.
//
// What the first stage promises carries the second. Without an error of it, every token is an
// operator (one of ,:[]{} or two control characters that the grammar refuses), the opening quote of
// a string that is closed and holds neither control characters nor bad UTF-8, or the first byte of
// a run of other bytes; between the end of a string and the next token there is only white space.
// So a string needs no look at all (but for escapes, which memchr finds), and only numbers and
// literals are read byte by byte.
//
// The pass checks no bounds token by token: what it walks ends in a closing bracket somewhere
// (Index::limit), which the grammar cannot step over unseen, and at which every number and literal
// before it stops. A text that is a lone scalar has no such bracket and takes a careful path. Depth
// costs an array of ours, not the machine's stack.
//
// Whatever is odd about a text in a region (a flaw, bounds that cut a token, an error elsewhere in
// the region) is decided, and told, by indexing that text alone: a region never changes an answer.
// Tested by tests/unit/record/json_document_test.cc; its cost by tests/bench/json_bench.cc.
#include "record/json_document.h"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <new>

#include "fmt/format.h"
#include "record/json_scan.h"

namespace kstream::json {
namespace {

constexpr size_t kMaxText = size_t{1} << 30;

// The tokens of one buffer.
class Index {
 public:
  // Runs the first stage. After an error there are no tokens.
  simdjson::error_code Build(std::string_view buffer) {
    count = limit = 0;
    if (buffer.empty()) return simdjson::EMPTY;
    if (buffer.size() > kMaxText) return simdjson::CAPACITY;
    base = buffer.data();
    size = static_cast<uint32_t>(buffer.size());
    searched_ = backslash_ = size;
    if (auto error = Reserve(buffer.size())) return error;
    if (auto error = impl_->stage1(reinterpret_cast<const uint8_t*>(base), size,
                                   simdjson::stage1_mode::regular)) {
      return error;
    }
    const uint32_t found = impl_->n_structural_indexes;
    if (close_capacity_ < found) {
      close_.reset(new (std::nothrow) uint32_t[found]);
      close_capacity_ = close_ ? found : 0;
      if (!close_) return simdjson::MEMALLOC;
    }
    count = found;
    token = impl_->structural_indexes.get();
    token[count] = size;  // simdjson leaves room for three sentinels
    close = close_.get();
    limit = count;
    while (limit > 0 && base[token[limit - 1]] != '}' && base[token[limit - 1]] != ']') --limit;
    return simdjson::SUCCESS;
  }

  // One past the last byte of token t, which is not the start of a container.
  uint32_t EndOf(uint32_t t) const {
    uint32_t end = token[t + 1];
    while (IsSpace(base[end - 1])) --end;
    return end;
  }

  // The first backslash at or after `from`, or size. Remembered, so that texts in rising order cost
  // one search of the buffer.
  uint32_t BackslashFrom(uint32_t from) {
    if (from < searched_ || from > backslash_) {
      const void* hit = std::memchr(base + from, '\\', size - from);
      searched_ = from;
      backslash_ =
          hit == nullptr ? size : static_cast<uint32_t>(static_cast<const char*>(hit) - base);
    }
    return backslash_;
  }

  const char* base = nullptr;
  uint32_t size = 0;
  uint32_t count = 0;
  uint32_t limit = 0;  // one past the last closing bracket
  uint32_t* token = nullptr;
  uint32_t* close = nullptr;

 private:
  simdjson::error_code Reserve(size_t size) {
    if (size <= capacity_) return simdjson::SUCCESS;
    const size_t wanted = std::max<size_t>(4096, std::min(size * 2, kMaxText));
    auto error = impl_ ? impl_->set_capacity(wanted)
                       : simdjson::get_active_implementation()->create_dom_parser_implementation(
                             wanted, /*max_depth=*/1, impl_);
    capacity_ = error ? 0 : wanted;
    return error;
  }

  std::unique_ptr<simdjson::internal::dom_parser_implementation> impl_;
  size_t capacity_ = 0;
  std::unique_ptr<uint32_t[]> close_;
  size_t close_capacity_ = 0;
  uint32_t searched_ = 0;
  uint32_t backslash_ = 0;
};

// The grammar over the tokens of an array or object.
class Walker {
 public:
  // Walks the container at token `first` < index.limit, of a text that ends at `end`; on success
  // *last is its closing token, which may lie beyond `end`.
  Flaw Walk(const Index& index, uint32_t first, uint32_t end, uint32_t* last) {
    const char* const base = index.base;
    const char* const end_of_bytes = base + index.size;
    const auto number = [&](const uint32_t* t) { return static_cast<uint32_t>(t - index.token); };
    const uint32_t* const limit = index.token + index.limit;
    const uint32_t* token = index.token + first;
    int depth = 0;
    char closer = 0;  // of the innermost container

    for (;;) {  // a value starts at *token
      const char c = base[*token];
      if (c == '{' || c == '[') {
        // Keeps the work linear: no unclosed line walks through all that follow it.
        if (*token >= end) return {kEndsEarly, end};
        if (depth == kMaxDepth) return {"nested too deep", *token};
        open_[depth++] = number(token);
        closer = CloserOf(c);
        if (base[token[1]] != closer) {
          ++token;
          if (closer == '}') {
            if (Flaw flaw = Name(base, &token); flaw.what != nullptr) return flaw;
          }
          continue;
        }
      } else if (c != '"') {
        if (Flaw flaw = Scalar(base, token[0], token[1], end_of_bytes); flaw.what != nullptr)
          return flaw;
      }
      ++token;
      while (base[*token] == closer) {
        index.close[open_[--depth]] = number(token);
        if (depth == 0) {
          *last = number(token);
          return {};
        }
        if (++token == limit) return {kEndsEarly, index.size};
        closer = CloserOf(base[index.token[open_[depth - 1]]]);
      }
      if (base[*token] != ',') {
        return {closer == '}' ? "expected ',' or '}'" : "expected ',' or ']'", *token};
      }
      ++token;
      if (closer == '}') {
        if (Flaw flaw = Name(base, &token); flaw.what != nullptr) return flaw;
      }
    }
  }

  static constexpr const char* kEndsEarly = "the text ends early";

 private:
  static char CloserOf(char opener) { return static_cast<char>(opener + 2); }  // as ASCII has it

  // Steps over a name and its colon.
  static Flaw Name(const char* base, const uint32_t** token) {
    const uint32_t* const name = *token;
    if (base[name[0]] != '"') return {"expected a name in quotes", name[0]};
    if (base[name[1]] != ':') return {"expected ':'", name[1]};
    *token = name + 2;
    return {};
  }

  // A number or literal, which ends where its run of bytes ends: at the next token or white space.
  static Flaw Scalar(const char* base, uint32_t begin, uint32_t next, const char* end_of_bytes) {
    const char* const from = base + begin;
    const Scanned scan = ScanScalar(from, end_of_bytes);
    const size_t end = static_cast<size_t>(scan.end - base);
    if (scan.flaw == nullptr && (end == next || IsSpace(*scan.end))) return {};
    return {scan.flaw != nullptr ? scan.flaw : "expected ',' or the end of the value", end};
  }

  std::array<uint32_t, kMaxDepth> open_;
};

Status NotJson(const char* what, size_t at) {
  return Status::Data(fmt::format("not JSON: {} at byte {}", what, at));
}

}  // namespace

struct Reader::Rep {
  bool InRegion(std::string_view text, Document* document);
  Status Alone(std::string_view text, Document* document);
  Flaw Check(Index& index, uint32_t first, uint32_t begin, uint32_t end, uint32_t* next);
  uint32_t RegionTokenFrom(uint32_t position);
  static void View(const Index& index, uint32_t first, Document* document);

  Index region;
  Index single;
  Walker walker;
  uint32_t cursor = 0;  // the region's token at which the next text probably starts
};

// Checks the value that starts at token `first`, of the text [begin, end) of the index. On success
// *next is the token after it.
Flaw Reader::Rep::Check(Index& index, uint32_t first, uint32_t begin, uint32_t end,
                        uint32_t* next) {
  const uint32_t start = index.token[first];
  const char c = index.base[start];
  if (c == '{' || c == '[') {
    if (first >= index.limit) return {Walker::kEndsEarly, end};
    uint32_t last;
    if (Flaw flaw = walker.Walk(index, first, end, &last); flaw.what != nullptr) return flaw;
    if (index.token[last] >= end) return {Walker::kEndsEarly, end};
    *next = last + 1;
  } else {
    const uint32_t stop = index.EndOf(first);
    if (stop > end) return {Walker::kEndsEarly, end};
    if (c != '"') {
      const std::string run(index.base + start, stop - start);  // its final zero ends any number
      const Scanned scan = ScanScalar(run.c_str(), run.c_str() + run.size());
      const size_t at = static_cast<size_t>(scan.end - run.c_str());
      if (scan.flaw != nullptr) return {scan.flaw, start + at};
      if (at != run.size()) return {"expected the end of the value", start + at};
    }
    *next = first + 1;
  }
  if (*next < index.count && index.token[*next] < end) {
    return {"more after the value", index.token[*next]};
  }
  const uint32_t backslash = index.BackslashFrom(begin);
  if (backslash >= end) return {};
  return FindBadEscape({index.base, end}, backslash);
}

// The first token of the region at or after `position`.
uint32_t Reader::Rep::RegionTokenFrom(uint32_t position) {
  const uint32_t* const token = region.token;
  const uint32_t* const stop = token + region.count;
  const bool after = cursor == 0 || token[cursor - 1] < position;
  if (after && (cursor == region.count || token[cursor] >= position)) return cursor;
  const uint32_t* const from = after ? token + cursor : token;
  return static_cast<uint32_t>(std::lower_bound(from, after ? stop : token + cursor, position) -
                               token);
}

void Reader::Rep::View(const Index& index, uint32_t first, Document* document) {
  document->base_ = index.base;
  document->token_ = index.token;
  document->close_ = index.close;
  document->root_ = first;
}

// False: nothing is known of the text yet.
bool Reader::Rep::InRegion(std::string_view text, Document* document) {
  if (region.count == 0) return false;
  const auto offset =
      reinterpret_cast<uintptr_t>(text.data()) - reinterpret_cast<uintptr_t>(region.base);
  if (offset > region.size || text.size() > region.size - offset) return false;
  const auto begin = static_cast<uint32_t>(offset);
  const auto end = static_cast<uint32_t>(offset + text.size());

  const uint32_t first = RegionTokenFrom(begin);
  if (first == region.count || region.token[first] >= end) return false;
  for (uint32_t at = begin; at < region.token[first]; ++at) {
    if (!IsSpace(region.base[at])) return false;  // the end of a token that the text cuts
  }
  uint32_t next;
  if (Check(region, first, begin, end, &next).what != nullptr) return false;
  cursor = next;
  View(region, first, document);
  document->escapes_ = region.BackslashFrom(begin) < end;
  return true;
}

Status Reader::Rep::Alone(std::string_view text, Document* document) {
  switch (single.Build(text)) {
    case simdjson::SUCCESS:
      break;
    case simdjson::EMPTY:
      return Status::Data("not JSON: empty");
    case simdjson::CAPACITY:
    case simdjson::MEMALLOC:
      return Status::Data(fmt::format("not JSON: too large ({} bytes)", text.size()));
    default:
      const Flaw flaw = ExplainRefusal(text);
      return NotJson(flaw.what, flaw.at);
  }
  uint32_t next;
  const Flaw flaw = Check(single, 0, 0, single.size, &next);
  if (flaw.what != nullptr) return NotJson(flaw.what, flaw.at);
  View(single, 0, document);
  document->escapes_ = single.BackslashFrom(0) < single.size;
  return Status::Ok();
}

Reader::Reader() : rep_(std::make_unique<Rep>()) {}
Reader::~Reader() = default;

void Reader::Prepare(std::string_view region) {
  rep_->cursor = 0;
  // Without an index every text is parsed alone, which tells what is wrong where.
  (void)rep_->region.Build(region);
}

Status Reader::Parse(std::string_view text, Document* document) {
  if (rep_->InRegion(text, document)) return Status::Ok();
  return rep_->Alone(text, document);
}

bool Reader::Lasts(const Document& document) const {
  return rep_->region.count > 0 && document.token_ == rep_->region.token;
}

}  // namespace kstream::json
