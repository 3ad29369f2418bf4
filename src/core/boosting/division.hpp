// Rows on their way from a node to its children, by several threads.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "boosting/splits.hpp"
#include "data/columns.hpp"
#include "support/threads.hpp"

namespace treewright::boosting {

constexpr std::size_t chunk_size = 1024;                     // rows that a thread takes at a time
constexpr std::size_t worth_threads = std::size_t{1} << 14;  // simple steps that outweigh calling the threads

/// Rows [begin, end) of an order that is divided as the tree grows.
struct Segment {
    std::size_t begin = 0, end = 0;
    std::size_t size() const { return end - begin; }
};

/// Calls work(begin, end, thread) for chunks of [first, end); in this thread only where they are not `many`.
template <class Work>
void in_chunks(std::size_t first, std::size_t end, bool many, Pool& pool, const Work& work) {
    const std::size_t n_chunks = (end - first + chunk_size - 1) / chunk_size;
    const auto take = [&](std::size_t chunk, std::size_t thread) {
        const std::size_t begin = first + chunk * chunk_size;
        work(begin, std::min(end, begin + chunk_size), thread);
    };
    if (many) return pool.run(n_chunks, take);
    for (std::size_t chunk = 0; chunk < n_chunks; ++chunk) take(chunk, 0);
}

/// Each thread puts its chunks where there is room, those of the left child from the front and those of the
/// right one from the back. Their order does not matter, because nothing is added up that depends on it.
class Division {
  public:
    Division(const std::uint8_t* cells, const BoostedSplit& split, const Segment& rows, Row* to)
        : cells_(cells), goes_left_(split.goes_left.data()), to_(to), left_(rows.begin), right_(rows.end) {}

    struct Side {
        std::array<Row, chunk_size> rows;
        std::size_t n = 0, at = 0;  // how many, and where they are put
    };
    struct Sides {
        Side left, right;
    };
    /// Divides at most chunk_size rows.
    void divide(const Row* rows, std::size_t n, Sides& sides) {
        std::size_t n_left = 0, n_right = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const Row row = rows[i];
            const std::size_t left = goes_left_[cells_[row]];
            sides.left.rows[n_left] = row;
            sides.right.rows[n_right] = row;
            n_left += left;
            n_right += 1 - left;
        }
        sides.left.n = n_left;
        sides.right.n = n_right;
        sides.left.at = left_.fetch_add(n_left, std::memory_order_relaxed);
        sides.right.at = right_.fetch_sub(n_right, std::memory_order_relaxed) - n_right;
        for (const Side* side : {&sides.left, &sides.right})
            std::copy_n(side->rows.begin(), side->n, to_ + side->at);
    }
    /// Where the rows of the left child end, as soon as all are divided.
    std::size_t left_end() const { return left_; }

  private:
    const std::uint8_t* cells_;
    const std::uint8_t* goes_left_;
    Row* to_;
    std::atomic<std::size_t> left_, right_;
};

}  // namespace treewright::boosting
