// The best subset of categories beside all subsets of them.
#include <algorithm>
#include <limits>
#include <vector>

#include "growers/subsets.hpp"
#include "harness.hpp"
#include "tables.hpp"

using namespace treewright;

namespace {

/// Σ of squares over the weight of each side; a statistic is the weight and sums of as many numbers as there
/// are dimensions.
class Squares final : public GroupScorer {
  public:
    Squares(std::vector<Sum> total, std::size_t refused_below = 0)
        : total_(std::move(total)), refused_below_(static_cast<Sum>(refused_below)) {}

    std::size_t width() const override { return total_.size(); }
    double weight() const override { return static_cast<double>(total_[0]); }
    double weight_of(const Sum* statistic) const override { return static_cast<double>(statistic[0]); }
    double score_of(const Sum* left) override {
        double score = 0;
        for (std::size_t i = 1; i < width(); ++i) {
            const auto of_left = static_cast<double>(left[i]),
                       of_right = static_cast<double>(total_[i] - left[i]);
            score += of_left * of_left / static_cast<double>(left[0]) +
                     of_right * of_right / static_cast<double>(total_[0] - left[0]);
        }
        return score;
    }
    double chance_score(const Chance&) const override { return 0; }
    std::size_t dimensions() const override { return width() - 1; }
    void point(const Sum* statistic, double* out) const override {
        for (std::size_t i = 1; i < width(); ++i)
            out[i - 1] = static_cast<double>(statistic[i]) / static_cast<double>(statistic[0]);
    }
    bool may_refuse() const override { return refused_below_ > 0; }
    bool allows(const Sum* left) override { return std::min(left[0], total_[0] - left[0]) >= refused_below_; }

  private:
    std::vector<Sum> total_;
    Sum refused_below_;
};

struct Drawn {
    Groups groups;
    std::size_t width, n_rows = 0;
    std::vector<Sum> total;

    Drawn(std::size_t n, std::size_t dimensions, bool has_missing, Random& random) : width(dimensions + 1) {
        groups.n = n;
        total.assign(width, 0);
        groups.missing.assign(width, 0);
        for (std::size_t g = 0; g < n; ++g) groups.counts.push_back(draw(groups.statistics, random));
        if (!has_missing) return;
        groups.missing.clear();
        groups.n_missing = draw(groups.missing, random);
    }
    std::size_t draw(std::vector<Sum>& to, Random& random) {
        const std::size_t count = 1 + random.below(9);
        to.push_back(static_cast<Sum>(count));
        for (std::size_t i = 1; i < width; ++i) to.push_back(static_cast<Sum>(random.below(20)));
        for (std::size_t i = 0; i < width; ++i) total[i] += to[to.size() - width + i];
        n_rows += count;
        return count;
    }
    /// What a division puts on the left.
    std::vector<Sum> left_of(const std::vector<char>& is_left, bool missing_left) const {
        std::vector<Sum> left(width, 0);
        for (std::size_t i = 0; i < width; ++i) {
            for (std::size_t g = 0; g < groups.n; ++g)
                if (is_left[g]) left[i] += groups.statistics[g * width + i];
            if (missing_left) left[i] += groups.missing[i];
        }
        return left;
    }
};

constexpr double none = -std::numeric_limits<double>::infinity();

/// The best score of all divisions with rows on both sides that limits and the scorer allow.
double best_of_all(const Drawn& drawn, Squares& scorer, const Limits& limits) {
    double best = none;
    for (std::size_t bits = 0; bits < std::size_t{1} << drawn.groups.n; ++bits)
        for (const bool missing_left : {false, true}) {
            if (missing_left && drawn.groups.n_missing == 0) continue;
            std::vector<char> is_left(drawn.groups.n);
            for (std::size_t g = 0; g < drawn.groups.n; ++g) is_left[g] = bits >> g & 1;
            const auto left = drawn.left_of(is_left, missing_left);
            // a row weighs 1 here
            if (std::min(left[0], drawn.total[0] - left[0]) < std::max<Sum>(1, limits.min_rows_leaf))
                continue;
            if (scorer.allows(left.data())) best = std::max(best, scorer.score_of(left.data()));
        }
    return best;
}

void compare(const Drawn& drawn, Squares& scorer, const Limits& limits) {
    SubsetSearch search(scorer, limits, drawn.groups, drawn.n_rows, 0.0, none);
    const double expected = best_of_all(drawn, scorer, limits);
    const bool found = search.run();
    CHECK_EQUAL(found, expected > none);
    if (!found) return;
    CHECK(std::abs(search.score() - expected) <= 1e-11 * expected);
    const auto left = drawn.left_of(search.found.is_left, search.found.missing_left);
    CHECK(std::abs(scorer.score_of(left.data()) - search.score()) <= 1e-12 * expected);
    CHECK_EQUAL(search.found.weight_left, static_cast<double>(left[0]));
    CHECK(std::min(left[0], drawn.total[0] - left[0]) >= limits.min_rows_leaf);
    // What does not beat the best is of no interest.
    SubsetSearch beaten(scorer, limits, drawn.groups, drawn.n_rows, 0.0, search.score());
    CHECK(!beaten.run());
}

}  // namespace

TEST("subsets: groups that are one number, more of them than all subsets are tried of") {
    Random random{81};
    for (int i = 0; i < 60; ++i) {
        const Drawn drawn(2 + random.below(12), 1, i % 2 == 0, random);
        Squares scorer(drawn.total);
        compare(drawn, scorer, {});
    }
}

TEST("subsets: groups of several numbers, with limits and refusals") {
    Random random{82};
    for (int i = 0; i < 120; ++i) {
        const Drawn drawn(2 + random.below(exact_groups - 2), 1 + random.below(3), i % 2 == 0, random);
        Limits limits;
        limits.min_rows_leaf = static_cast<std::int64_t>(random.below(12));
        Squares scorer(drawn.total, i % 3 == 0 ? random.below(15) : 0);
        compare(drawn, scorer, limits);
    }
}

TEST("subsets: of many groups of several numbers a legal one, as good as any single move away") {
    Random random{83};
    for (int i = 0; i < 20; ++i) {
        const Drawn drawn(exact_groups + 5 + random.below(20), 3, i % 2 == 0, random);
        Squares scorer(drawn.total);
        const Limits limits;
        SubsetSearch search(scorer, limits, drawn.groups, drawn.n_rows, 0.0, none);
        CHECK(search.run());
        auto is_left = search.found.is_left;
        for (std::size_t g = 0; g < is_left.size(); ++g) {
            is_left[g] = !is_left[g];
            const bool has_both = std::ranges::find(is_left, is_left[g] ? 0 : 1) != is_left.end();
            const auto left = drawn.left_of(is_left, search.found.missing_left);
            CHECK(!has_both || scorer.score_of(left.data()) <= search.score() * (1 + 1e-11));
            is_left[g] = !is_left[g];
        }
    }
}

TEST("subsets: the group of the lowest number goes left") {
    Random random{84};
    for (int i = 0; i < 30; ++i) {
        const Drawn drawn(3 + random.below(15), 1, false, random);
        Squares scorer(drawn.total);
        const Limits limits;
        SubsetSearch search(scorer, limits, drawn.groups, drawn.n_rows, 0.0, none);
        CHECK(search.run());
        std::vector<double> number(drawn.groups.n);
        for (std::size_t g = 0; g < number.size(); ++g)
            scorer.point(&drawn.groups.statistics[g * drawn.width], &number[g]);
        CHECK(search.found
                  .is_left[static_cast<std::size_t>(std::ranges::min_element(number) - number.begin())]);
    }
}

TEST("subsets: a random one leaves groups on both sides") {
    Random random{85};
    for (int i = 0; i < 50; ++i) {
        const Drawn drawn(2 + random.below(5), 2, i % 2 == 0, random);
        Squares scorer(drawn.total);
        const Limits limits;
        SubsetSearch search(scorer, limits, drawn.groups, drawn.n_rows, 0.0, none);
        CHECK(search.run_random(random));
        const auto& is_left = search.found.is_left;
        CHECK(std::ranges::count(is_left, 0) > 0 && std::ranges::count(is_left, 0) < std::ssize(is_left));
    }
}
