// How few leaves a tree can have that answers like the forest in a box: branch and bound over its cuts.
#include "born_again/sizes.hpp"

#include <algorithm>
#include <array>

namespace treewright::born_again {

namespace {

/// More leaves on the left of a cut further right, more on the right of one further left: bounds pass on.
template <class Choices>
void pass_on(Choices& choices) {
    for (std::size_t i = 1; i < choices.size(); ++i)
        if (choices[i].split.column == choices[i - 1].split.column)
            choices[i].left = std::max(choices[i].left, choices[i - 1].left);
    for (std::size_t i = choices.size(); i-- > 1;)
        if (choices[i].split.column == choices[i - 1].split.column)
            choices[i - 1].right = std::max(choices[i - 1].right, choices[i].right);
}

}  // namespace

Sizes::Sizes(Regions& regions, std::size_t max_bytes, std::int32_t max_depth, Depths* depths)
    : regions_(regions),
      max_depth_(max_depth),
      has_limit_(depths != nullptr),
      depths_(depths),
      found_(1, max_bytes) {}

std::uint32_t Sizes::entry(std::uint32_t region, std::int32_t depth) {
    const std::array key{std::uint64_t{region} << 32 | static_cast<std::uint32_t>(depth)};
    return found_.find(key).first;
}

Split Sizes::split_of(std::uint32_t region, std::int32_t depth) {
    return found_[entry(region, has_limit_ ? depth : max_depth_)].split;
}

std::int32_t Sizes::fewest(Box& box, std::int32_t& known) {
    known = std::max(known, bound(regions_.enter(box, 0), max_depth_));
    while (true) {
        const std::int32_t leaves = within(box, max_depth_, known, 0);
        if (leaves <= known) return known = leaves;
        known = leaves;
    }
}

/// What is known without a search: the leaves that the region needs at least.
std::int32_t Sizes::bound(std::uint32_t region, std::int32_t depth) {
    const Region& known = regions_[region];
    if (known.answer != Region::several) return 1;
    if (has_limit_ && known.least_depth > depth) return none;
    return std::max(known.least_leaves, found_[entry(region, depth)].least);
}

std::vector<Sizes::Choice> Sizes::choices(Box& box, std::int32_t depth, std::size_t level) {
    std::vector<Choice> all;
    std::vector<std::int32_t> cuts;
    for (std::size_t column = 0; column < regions_.forest().n_columns(); ++column) {
        cuts_of(regions_.forest(), regions_.view(level), column, cuts);
        for (const std::int32_t cut : cuts) {
            const Split split{static_cast<std::int32_t>(column), cut};
            const auto [left, right] = halves(regions_, box, split, level + 1);
            all.push_back({split, bound(left, below(depth)), bound(right, below(depth))});
        }
    }
    pass_on(all);
    return all;
}

std::int32_t Sizes::side(Box& box, Split split, bool is_left, std::int32_t depth, std::int32_t budget,
                         std::size_t level) {
    const std::size_t column = split.column;
    std::int32_t& border = is_left ? box.high[column] : box.low[column];
    const std::int32_t before = border;
    border = is_left ? split.cut : split.cut + 1;
    const std::int32_t leaves = within(box, depth, budget, level);
    border = before;
    return leaves;
}

std::int32_t Sizes::within(Box& box, std::int32_t depth, std::int32_t budget, std::size_t level) {
    const std::uint32_t region = regions_.enter(box, level);
    if (regions_[region].answer != Region::several) return 1;
    const std::uint32_t place = entry(region, depth);
    const std::int32_t least = bound(region, depth);
    if (least > budget) return least;
    if (found_[place].leaves <= budget) return found_[place].leaves;
    if (has_limit_ && !depths_->is_within(box, depth, level)) {
        found_[place].least = none;
        return none;
    }
    regions_.enter(box, level);  // the question of depth looked elsewhere
    std::vector<Choice> all = choices(box, depth, level);
    std::int32_t best = budget + 1, rest = none;
    while (true) {
        const auto next = std::min_element(all.begin(), all.end(), [](const Choice& a, const Choice& b) {
            return a.left + a.right < b.left + b.right;
        });
        rest = next->left + next->right;
        if (rest >= best) break;
        next->left = std::max(next->left,
                              side(box, next->split, true, below(depth), best - 1 - next->right, level + 1));
        if (next->left + next->right < best)
            next->right = std::max(
                next->right, side(box, next->split, false, below(depth), best - 1 - next->left, level + 1));
        if (next->left + next->right < best) {
            best = next->left + next->right;
            found_[place].leaves = best;
            found_[place].split = next->split;
        }
        pass_on(all);
    }
    const std::int32_t leaves = std::min(best <= budget ? best : rest, none);
    found_[place].least = std::max(found_[place].least, leaves);
    return leaves;
}

}  // namespace treewright::born_again
