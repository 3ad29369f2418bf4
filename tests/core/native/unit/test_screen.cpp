// Cuts that are passed over unseen: blocks of a list, and lists of a node of few rows.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "data/problem.hpp"
#include "harness.hpp"
#include "scanners/block_seek.hpp"
#include "scanners/screen.hpp"

using namespace treewright;

namespace {

using Id = std::uint16_t;

/// Rows with distances that add up to nothing, and weights.
struct Rows {
    std::vector<double> distance, weight;
    double total = 0;

    Rows(std::size_t n, std::uint64_t seed, bool is_weighted) {
        Random random{seed};
        double sum = 0;
        for (std::size_t i = 0; i < n; ++i) {
            weight.push_back(is_weighted ? 1 + static_cast<double>(random.below(9)) : 1.0);
            const double wild = random.below(10) == 0 ? 100 : 1;
            distance.push_back(i + 1 < n ? std::nearbyint(1000 * wild * (random.uniform() - 0.5)) : -sum);
            sum += distance.back();
            total += weight.back();
        }
    }
    std::vector<Id> shuffled(std::uint64_t seed) const {
        Random random{seed};
        std::vector<Id> ids(distance.size());
        std::iota(ids.begin(), ids.end(), Id{0});
        for (std::size_t i = 0; i + 1 < ids.size(); ++i)
            std::swap(ids[i], ids[i + random.below(ids.size() - i)]);
        return ids;
    }
};

struct Sums {
    const Rows* rows;
    double sum = 0, left = 0;

    void add(Id id) {
        sum += rows->distance[id];
        left += rows->weight[id];
    }
    double difference() const { return sum; }
    double sides() const { return left * (rows->total - left); }
    double score() const { return sum * sum / sides(); }
};

double best_score(const Rows& rows, const std::vector<Id>& list) {
    Sums sums{&rows};
    double best = 0;
    for (std::size_t i = 0; i + 1 < list.size(); ++i) {
        sums.add(list[i]);
        best = std::max(best, sums.score());
    }
    return best;
}

}  // namespace

TEST("blocks: seeking finds the cut that looking at all of them finds") {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        const Rows rows(3 + seed * 7, seed, seed % 2 == 1);
        const auto list = rows.shuffled(seed + 1000);
        double step = 0;
        for (const double distance : rows.distance) step = std::max(step, std::abs(distance));
        const double best = best_score(rows, list), none = -std::numeric_limits<double>::infinity();
        for (const double least : {none, 0.0, best / 4, best / 2, best * 0.999999, best}) {
            Sums plain{&rows}, sums{&rows};
            std::size_t expected = 1;
            for (; expected < list.size(); ++expected) {
                plain.add(list[expected - 1]);
                if (plain.score() > least) break;
            }
            const auto found = seek_in_blocks(sums, list.data(), std::size_t{1}, list.size() - 1, least, step,
                                              [&](std::size_t) { return sums.score() > least; });
            CHECK_EQUAL(found, expected);
            CHECK_EQUAL(sums.sum, plain.sum);
            CHECK_EQUAL(sums.left, plain.left);
        }
    }
}

TEST("screen: a list that holds a better cut stays, and those that are clearly worse go") {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        const bool is_weighted = seed % 2 == 1;
        const Rows rows(3 + seed % 94, seed, is_weighted);
        const std::size_t n = rows.distance.size();
        std::vector<Id> ids(n);
        std::iota(ids.begin(), ids.end(), Id{0});
        Screen<Id> screen;
        screen.load(n, is_weighted);
        screen.enter(ids, rows.total, [&](Id id) { return std::pair(rows.distance[id], rows.weight[id]); });
        std::vector<std::vector<Id>> lists;
        Screen<Id>::Lists starts{};
        for (std::size_t k = 0; k < starts.size(); ++k) lists.push_back(rows.shuffled(seed * 10 + k));
        for (std::size_t k = 0; k < starts.size(); ++k) starts[k] = lists[k].data();
        // With weights a score is D²·W/(L·R).
        const double scale = is_weighted ? rows.total : 1.0;
        const double least = best_score(rows, rows.shuffled(seed * 10 + 7)) * scale;
        const unsigned above = screen.above(starts, n, least);
        for (std::size_t k = 0; k < starts.size(); ++k) {
            const double best = best_score(rows, lists[k]) * scale;
            const bool is_kept = (above >> k & 1) != 0;
            CHECK(is_kept || best <= least);
            CHECK(!is_kept || best > least * (1 - 1e-6));
        }
    }
}
