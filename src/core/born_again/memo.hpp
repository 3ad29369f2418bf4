// What is known of every part of a forest that was looked at: a hash table of keys that grows in blocks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

namespace treewright::born_again {

/// More would be remembered than may be.
struct OutOfMemory : std::runtime_error {
    OutOfMemory() : std::runtime_error("the search needs more memory than it may take") {}
};

/// Keys of a fixed number of words, each with a value. Entries keep their place.
template <class Value>
class Memo {
  public:
    Memo(std::size_t n_words, std::size_t max_bytes)
        : n_words_(n_words), max_bytes_(max_bytes), slots_(64, empty) {}

    std::size_t size() const { return size_; }
    Value& operator[](std::uint32_t entry) { return values_[entry / block][entry % block]; }

    /// The entry of a key, and whether it is new.
    std::pair<std::uint32_t, bool> find(std::span<const std::uint64_t> key) {
        if (2 * (size_ + 1) > slots_.size()) resize(2 * slots_.size());
        std::size_t slot = hash(key) & (slots_.size() - 1);
        while (slots_[slot] != empty) {
            if (std::ranges::equal(key_of(slots_[slot]), key)) return {slots_[slot], false};
            slot = (slot + 1) & (slots_.size() - 1);
        }
        slots_[slot] = append(key);
        return {slots_[slot], true};
    }

  private:
    static constexpr std::uint32_t empty = 0xffffffff;
    static constexpr std::size_t block = 4096;

    std::span<const std::uint64_t> key_of(std::uint32_t entry) const {
        return {keys_[entry / block].get() + (entry % block) * n_words_, n_words_};
    }

    static std::uint64_t hash(std::span<const std::uint64_t> key) {
        std::uint64_t h = 0x9e3779b97f4a7c15;
        for (const std::uint64_t word : key) {  // the finaliser of splitmix64, word after word
            h += word + 0x9e3779b97f4a7c15;
            h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9;
            h = (h ^ (h >> 27)) * 0x94d049bb133111eb;
            h ^= h >> 31;
        }
        return h;
    }

    std::uint32_t append(std::span<const std::uint64_t> key) {
        if (size_ == empty - 1) throw OutOfMemory();
        if (size_ % block == 0) {
            take(block * (n_words_ * sizeof(std::uint64_t) + sizeof(Value)));
            keys_.push_back(std::make_unique<std::uint64_t[]>(block * n_words_));
            values_.push_back(std::make_unique<Value[]>(block));
        }
        const auto entry = static_cast<std::uint32_t>(size_++);
        std::ranges::copy(key, keys_[entry / block].get() + (entry % block) * n_words_);
        return entry;
    }

    void resize(std::size_t n_slots) {
        take(n_slots * sizeof(std::uint32_t));
        slots_.assign(n_slots, empty);
        for (std::uint32_t entry = 0; entry < size_; ++entry) {
            std::size_t slot = hash(key_of(entry)) & (n_slots - 1);
            while (slots_[slot] != empty) slot = (slot + 1) & (n_slots - 1);
            slots_[slot] = entry;
        }
    }

    void take(std::size_t bytes) {
        if (bytes > max_bytes_ - taken_) throw OutOfMemory();
        taken_ += bytes;
    }

    std::size_t n_words_, max_bytes_, taken_ = 0, size_ = 0;
    std::vector<std::uint32_t> slots_;
    std::vector<std::unique_ptr<std::uint64_t[]>> keys_;
    std::vector<std::unique_ptr<Value[]>> values_;
};

}  // namespace treewright::born_again
