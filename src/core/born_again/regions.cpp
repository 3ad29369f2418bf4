// Whether a region has one answer, and what its axes tell of the trees that answer alike.
#include "born_again/regions.hpp"

#include <algorithm>
#include <bit>

namespace treewright::born_again {

namespace {

constexpr double longest = 1e8;          // seconds; more is for ever
constexpr std::size_t patience = 20000;  // steps down trees between two looks at the clock, or some more
constexpr std::size_t parts = 10000;     // of the time, in which progress is told

/// Halves that a tree must make for so many leaves.
std::int32_t depth_for(std::int32_t leaves) {
    return static_cast<std::int32_t>(std::bit_width(static_cast<std::uint32_t>(leaves - 1)));
}

}  // namespace

Regions::Regions(const Forest& forest, std::size_t max_bytes, double seconds, Interrupt& interrupt)
    : forest_(forest),
      max_bytes_(max_bytes),
      memo_(key_words(forest), max_bytes),
      interrupt_(interrupt),
      seconds_(std::clamp(seconds, 1e-3, longest)),
      begin_(Clock::now()) {
    interrupt_.expect(parts);
    stop_after(seconds);
}

void Regions::stop_after(double seconds) {
    deadline_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                   std::chrono::duration<double>(std::min(seconds, longest)));
}

void Regions::check() {
    asked_ += forest_.roots.size();
    if (asked_ < patience) return;
    asked_ = 0;
    const auto now = Clock::now();
    const double share = std::chrono::duration<double>(now - begin_).count() / seconds_;
    const auto reached = static_cast<std::size_t>(share * static_cast<double>(parts));
    interrupt_.advance(reached - std::min(told_, reached));
    told_ = std::max(told_, reached);
    interrupt_.check();
    if (now >= deadline_) throw OutOfTime();
}

std::uint32_t Regions::enter(const Box& box, std::size_t level) {
    check();
    while (views_.size() <= level) views_.emplace_back();
    Place& place = views_[level];
    place.box = box;
    look(forest_, box, place.view);
    const std::uint32_t region = memo_.find(place.view.key).first;
    // One that was interrupted by the end of the time is still unknown.
    if (memo_[region].answer == Region::unknown) {
        const Region made = classified(level);
        memo_[region] = made;
    }
    return region;
}

Region Regions::classified(std::size_t level) {
    Place& place = views_[level];
    const auto n_columns = forest_.n_columns();
    place.cell.resize(n_columns);
    for (std::size_t column = 0; column < n_columns; ++column) {
        cuts_of(forest_, place.view, column, place.cuts);
        place.cell[column] = place.cuts.empty() ? place.box.low[column] : place.cuts[place.cuts.size() / 2];
    }
    Region region;
    const std::int32_t seen = answer(forest_, place.view.top, place.cell, sums_);
    if (surely_wins(forest_, place.view, seen)) {
        region.answer = seen;
        region.depth = 0;
        return region;
    }
    std::vector<std::int32_t> other;
    if (!scan(place, seen, region, other)) return divided(level, seen);
    region.answer = Region::several;
    place.cell = other;  // the place where the answer changed may know more
    scan(place, answer(forest_, place.view.top, other, sums_), region, other);
    region.least_depth = std::max(region.least_depth, depth_for(region.least_leaves));
    return region;
}

/// Points on the axes through a cell, one for each stretch of one answer, cannot share a leaf: the smallest
/// box around two of them holds a third answer, or the cell itself. And the leaf of the cell must be shut on
/// every side on which the answer changes, which takes a test for each.
bool Regions::scan(Place& place, std::int32_t seen, Region& region, std::vector<std::int32_t>& other) {
    std::int32_t leaves = 1, sides = 0;
    other = place.cell;
    bool found = false;
    for (std::size_t column = 0; column < forest_.n_columns(); ++column) {
        cuts_of(forest_, place.view, column, place.cuts);
        if (place.cuts.empty()) continue;
        asked_ += forest_.roots.size() * place.cuts.size();
        check();
        const std::int32_t own = place.cell[column];
        const std::size_t begin =
            std::lower_bound(place.cuts.begin(), place.cuts.end(), own) - place.cuts.begin();
        for (const bool upwards : {false, true}) {
            std::int32_t last = seen, changes = 0;
            const auto look_at = [&](std::int32_t cell) {
                place.cell[column] = cell;
                const std::int32_t here = answer(forest_, place.view.top, place.cell, sums_);
                if (here == last) return;
                if (changes++ == 0) {
                    other = place.cell;
                    found = true;
                }
                last = here;
            };
            if (upwards)
                for (std::size_t i = begin; i < place.cuts.size(); ++i) look_at(place.cuts[i] + 1);
            else
                for (std::size_t i = begin; i-- > 0;) look_at(place.cuts[i]);
            place.cell[column] = own;
            leaves += changes;
            sides += changes > 0;
        }
    }
    region.least_leaves = std::max(region.least_leaves, leaves);
    region.least_depth = std::max(region.least_depth, sides);
    return found;
}

/// All that was seen is one answer, but the votes do not tell so for sure: the halves of the box decide.
Region Regions::divided(std::size_t level, std::int32_t seen) {
    Box box = views_[level].box;
    std::size_t widest = 0, most = 0;
    std::int32_t middle = -1;
    for (std::size_t column = 0; column < forest_.n_columns(); ++column) {
        cuts_of(forest_, views_[level].view, column, views_[level].cuts);
        const auto& cuts = views_[level].cuts;
        if (cuts.size() <= most) continue;
        most = cuts.size();
        widest = column;
        middle = cuts[most / 2];
    }
    Region region;
    if (most == 0) {  // a single cell after all
        region.answer = seen;
        region.depth = 0;
        return region;
    }
    const std::int32_t low = box.low[widest], high = box.high[widest];
    box.high[widest] = middle;
    const Region left = memo_[enter(box, level + 1)];
    box.high[widest] = high;
    if (left.answer == seen) {
        box.low[widest] = middle + 1;
        const Region right = memo_[enter(box, level + 1)];
        box.low[widest] = low;
        if (right.answer == seen) {
            region.answer = seen;
            region.depth = 0;
            return region;
        }
        region.least_depth = std::max(1, right.least_depth);
        region.least_leaves = std::max(2, right.least_leaves);
    } else {
        region.least_depth = std::max(1, left.least_depth);
        region.least_leaves = std::max(2, left.least_leaves);
    }
    region.answer = Region::several;
    return region;
}

}  // namespace treewright::born_again
