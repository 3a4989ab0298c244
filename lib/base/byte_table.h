// ByteTable: values that are found by bytes, as the groups of an aggregate and the rows of a store
// are: asked for once a record, from a table that no cache of the processor holds.
//
// What such a look-up costs is misses. Here there are two: the slot, which has the key's hash, and
// the entry, which has value and key side by side. std::unordered_map has its bucket, the node
// before the first of it, the node and, for a key of more than 15 bytes, its bytes; and unless the
// nodes keep hashes, it hashes keys again to find where a bucket ends. Slots are probed one after
// the other and closed up after an erasure, so there are no tombstones to pass.
//
// Keys are whatever users send, so their hash has a seed that nobody knows: two processes walk a
// table in different orders. Tested by tests/unit/base/byte_table_test.cc.
#ifndef KSTREAM_BASE_BYTE_TABLE_H_
#define KSTREAM_BASE_BYTE_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

namespace kstream {

// A hash for tables in memory; another in each process.
class BytesHash {
 public:
  static uint64_t Of(std::string_view bytes) {
    static const uint64_t seed = Seed();
    const char* at = bytes.data();
    size_t left = bytes.size();
    uint64_t hash = seed;
    for (; left > 16; left -= 16, at += 16) hash = Mix(Load<uint64_t>(at) ^ hash, Load8(at) ^ kB);
    uint64_t a = 0, b = 0;
    if (left >= 8) {
      a = Load<uint64_t>(at);
      b = Load<uint64_t>(at + left - 8);
    } else if (left >= 4) {
      a = Load<uint32_t>(at);
      b = Load<uint32_t>(at + left - 4);
    } else if (left > 0) {
      a = static_cast<unsigned char>(at[0]) | static_cast<uint64_t>(Byte(at[left / 2])) << 8 |
          static_cast<uint64_t>(Byte(at[left - 1])) << 16;
    }
    return Mix(Mix(a ^ hash, b ^ kA) ^ bytes.size(), hash ^ kB);
  }

 private:
  static constexpr uint64_t kA = 0x9e3779b97f4a7c15, kB = 0xe7037ed1a0b428db;

  static unsigned char Byte(char c) { return static_cast<unsigned char>(c); }
  static uint64_t Load8(const char* at) { return Load<uint64_t>(at + 8); }
  template <typename T>
  static T Load(const char* at) {
    T number;
    std::memcpy(&number, at, sizeof(T));
    return number;
  }
  // Both halves of the product, so that every bit of either tells in all of the hash.
  static uint64_t Mix(uint64_t a, uint64_t b) {
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(a) * b;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  }
  static uint64_t Seed() {
    std::random_device random;
    return static_cast<uint64_t>(random()) << 32 | random();
  }
};

// For one thread.
template <typename Value>
class ByteTable {
 public:
  // Stays where it is until it is erased.
  class Entry {
   public:
    std::string_view key() const { return {reinterpret_cast<const char*>(this + 1), size_}; }
    Value value{};

    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;

   private:
    friend class ByteTable;
    Entry(std::string_view key, uint64_t hash) : hash_(hash), size_(key.size()) {
      if (!key.empty()) std::memcpy(reinterpret_cast<char*>(this + 1), key.data(), key.size());
    }
    ~Entry() = default;

    const uint64_t hash_;
    const size_t size_;
  };

  // What an entry takes beside the bytes of its key: with slots that are half full on average, and
  // what the allocator adds.
  static constexpr size_t kEntryBytes = sizeof(Entry) + 48;

  ByteTable() = default;
  ~ByteTable() { clear(); }
  ByteTable(const ByteTable&) = delete;
  ByteTable& operator=(const ByteTable&) = delete;

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  // Null: it is not there.
  Entry* Find(std::string_view key) const {
    return size_ == 0 ? nullptr : Find(key, BytesHash::Of(key));
  }
  // The same where the key's hash is known, as it is of one that is looked for in several tables.
  Entry* Find(std::string_view key, uint64_t hash) const {
    if (size_ == 0) return nullptr;
    for (size_t at = hash & mask(); slots_[at].entry != nullptr; at = (at + 1) & mask()) {
      if (slots_[at].hash == hash && slots_[at].entry->key() == key) return slots_[at].entry;
    }
    return nullptr;
  }

  // The entry of a key, and whether it was made now, with an empty value.
  std::pair<Entry*, bool> Make(std::string_view key) { return Make(key, BytesHash::Of(key)); }
  std::pair<Entry*, bool> Make(std::string_view key, uint64_t hash) {
    if (Entry* const found = Find(key, hash)) return {found, false};
    if ((size_ + 1) * 8 > slots_.size() * 5) Grow();
    void* const place = ::operator new(sizeof(Entry) + key.size(), kAlignment);
    auto* const entry = new (place) Entry(key, hash);
    Place({hash, entry});
    size_++;
    return {entry, true};
  }

  void Erase(Entry* entry) {
    size_t hole = entry->hash_ & mask();
    while (slots_[hole].entry != entry) hole = (hole + 1) & mask();
    // Whoever would be nearer to its home in the hole moves there.
    for (size_t at = (hole + 1) & mask(); slots_[at].entry != nullptr; at = (at + 1) & mask()) {
      const size_t home = slots_[at].hash & mask();
      if (((at - home) & mask()) < ((at - hole) & mask())) continue;
      slots_[hole] = slots_[at];
      hole = at;
    }
    slots_[hole] = {};
    size_--;
    Delete(entry);
  }

  // `erase(entry)` for each, in no order: true erases it. It may not change the table otherwise.
  template <typename F>
  void EraseIf(F erase) {
    std::vector<Entry*> gone;
    for (const Slot& slot : slots_) {
      if (slot.entry != nullptr && erase(slot.entry)) gone.push_back(slot.entry);
    }
    for (Entry* const entry : gone) Erase(entry);
  }

  // All of them, in no order.
  std::vector<Entry*> Entries() const {
    std::vector<Entry*> entries;
    entries.reserve(size_);
    for (const Slot& slot : slots_) {
      if (slot.entry != nullptr) entries.push_back(slot.entry);
    }
    return entries;
  }

  void clear() {
    for (const Slot& slot : slots_) {
      if (slot.entry != nullptr) Delete(slot.entry);
    }
    slots_ = {};
    size_ = 0;
  }

 private:
  struct Slot {
    uint64_t hash = 0;
    Entry* entry = nullptr;
  };
  static constexpr std::align_val_t kAlignment{alignof(Entry)};
  static constexpr size_t kFirstSlots = 16;

  size_t mask() const { return slots_.size() - 1; }

  void Place(Slot slot) {
    size_t at = slot.hash & mask();
    while (slots_[at].entry != nullptr) at = (at + 1) & mask();
    slots_[at] = slot;
  }

  void Grow() {
    const std::vector<Slot> before = std::move(slots_);
    slots_ = std::vector<Slot>(before.empty() ? kFirstSlots : before.size() * 2);
    for (const Slot& slot : before) {
      if (slot.entry != nullptr) Place(slot);
    }
  }

  static void Delete(Entry* entry) {
    entry->~Entry();
    ::operator delete(static_cast<void*>(entry), kAlignment);
  }

  std::vector<Slot> slots_;  // a power of two of them, or none
  size_t size_ = 0;
};

}  // namespace kstream

#endif  // KSTREAM_BASE_BYTE_TABLE_H_
