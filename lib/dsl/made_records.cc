#include "dsl/made_records.h"

#include <functional>

namespace kstream::dsl {
namespace {

// Whether `part` lies within `whole`, as pointers into one and the same memory.
bool LiesIn(std::string_view part, std::string_view whole) {
  constexpr std::less_equal<> before;
  return before(whole.data(), part.data()) &&
         before(part.data() + part.size(), whole.data() + whole.size());
}

}  // namespace

Status TooMuch() { return Status::Data("one record becomes more than 256 MB of records"); }

void MadeRecords::Begin(const Record& source) {
  source_ = &source;
  arena_.Reset();
  made_.clear();
  headers_.clear();
  bytes_ = 0;
}

Status MadeRecords::Add(const Record& made) {
  bytes_ += sizeof(Made);
  if (too_much()) return TooMuch();
  made_.push_back({made, headers_.size()});
  Made& kept = made_.back();
  Record& record = kept.record;
  record.cluster = Keep(record.cluster, source_->cluster);
  record.topic = Keep(record.topic, source_->topic);
  if (record.key != source_->key) record.partition_key.reset();
  record.key = Keep(record.key, source_->key);
  record.value = Keep(record.value, source_->value);
  if (!HasSourceHeaders(record)) KeepHeaders(&kept);
  if (!too_much()) return Status::Ok();
  made_.pop_back();
  return TooMuch();
}

const Record& MadeRecords::At(size_t i) {
  Made& made = made_[i];
  Record& record = made.record;
  if (!HasSourceHeaders(record)) {
    record.headers = std::span(headers_).subspan(made.first_header, record.headers.size());
  }
  record.cache = HasSourceValue(record) ? source_->cache : cache_.Next(false);
  return record;
}

std::string_view MadeRecords::Keep(std::string_view bytes, std::string_view source) {
  if (LiesIn(bytes, source)) return bytes;
  bytes_ += bytes.size();
  // What is too much is dropped as a whole, so no more memory need be taken for it.
  return too_much() ? std::string_view() : arena_.Copy(bytes);
}

Bytes MadeRecords::Keep(const Bytes& bytes, const Bytes& source) {
  return bytes ? Bytes(Keep(*bytes, source.value_or(""))) : bytes;
}

void MadeRecords::KeepHeaders(Made* made) {
  for (const Header& header : made->record.headers) {
    bytes_ += sizeof(Header);
    headers_.push_back({Keep(header.name, {}), Keep(header.value, {})});
  }
}

bool MadeRecords::HasSourceHeaders(const Record& record) const {
  return record.headers.data() == source_->headers.data() &&
         record.headers.size() == source_->headers.size();
}

bool MadeRecords::HasSourceValue(const Record& record) const {
  return record.value && source_->value && record.value->data() == source_->value->data() &&
         record.value->size() == source_->value->size();
}

}  // namespace kstream::dsl
