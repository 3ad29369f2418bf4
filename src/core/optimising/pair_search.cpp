// Trees of two levels.
//
// For every view that may be asked first, the rows are added in its order to running histograms of all views; at
// borders between bins both sides are bounded. The intervals between borders that could hold a better tree are
// then scanned exactly, the weakest first.
#include "optimising/pair_search.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <span>

#include "optimising/bins.hpp"
#include "optimising/lanes.hpp"

namespace treewright::optimising {

namespace {

/// A side of a first cut: what a leaf and the best stump lose, with the price of the leaves.
struct SideLoss {
    Loss leaf = 0, stump = 0;
};

/// Cuts of a view from row `low` to row `high` of its list, both included as far as they are cuts.
struct Interval {
    Loss bound = 0;
    std::size_t view = 0;
    std::size_t low = 0, high = 0;
    SideLoss left{}, right{};  // at least: of the left side at `low`, of the right side at `high`
    std::shared_ptr<const std::vector<Loss>> left_by_view{}, right_by_view{};  // of their stumps

    bool operator<(const Interval& other) const {  // the weakest is on top of a heap
        if (bound != other.bound) return bound > other.bound;
        return view != other.view ? view > other.view : low > other.low;
    }
};

template <class Count>
class Pairs final : public NodeSearch {
  public:
    Pairs(const Table& table, Loss leaf_price, Budget& budget)
        : table_(table), price_(leaf_price), budget_(budget), k_(table.n_answers) {}

    void enter(const NodeRows& rows, const Ask& ask, std::vector<Loss>& by_view) override {
        rows_ = &rows;
        ask_ = ask;
        bins_.make(rows, table_.n_classes);
        sum_up();
        intervals_.clear();
        settled_.assign(rows.n_views(), no_tree);
        leaf_ = side_loss(all_, 0).leaf;
        best_ = {leaf_, rows.n_views(), 0};
        for (std::size_t view = 0; view < rows.n_views(); ++view) {
            if (bins_.starts(view).size() <= 2) {
                settled_[view] = constant;
                continue;
            }
            if (ask.max_leaves < 2 || by_view[view] >= limit(ask.target) || budget_.is_spent()) {
                settled_[view] = by_view[view];
                continue;
            }
            scan_borders(view);
        }
        std::make_heap(intervals_.begin(), intervals_.end());
        raise(by_view);
    }

    void refine(Loss target, std::int64_t, std::vector<Loss>& by_view) override {
        while (!intervals_.empty() && intervals_.front().bound < limit(target) && !budget_.is_spent()) {
            std::pop_heap(intervals_.begin(), intervals_.end());
            Interval next = std::move(intervals_.back());
            intervals_.pop_back();
            open(next);
        }
        raise(by_view);
    }

    Facts facts() const override { return {std::min(bound_, best_.loss), best_.loss}; }

    FoundTree tree() override {
        if (best_.view == rows_->n_views()) return {leaf_, {TreeNode{}}};
        mark(best_.view, best_.place);
        FoundTree out;
        out.nodes.push_back({static_cast<std::int32_t>(best_.view), code_before(best_.view, best_.place)});
        Stump best[2];
        Loss leaf[2];
        for (int side = 0; side < 2; ++side) {
            leaf[side] = leaf_loss(totals_[side].data()) + price_;
            best[side] = {leaf[side], rows_->n_views(), 0};
        }
        for (std::size_t view = 0; view < rows_->n_views(); ++view) {
            if (bins_.starts(view).size() <= 2) continue;
            const auto found = scan_stumps(view);
            for (int side = 0; side < 2; ++side)
                if (found.loss[side] + 2 * price_ < best[side].loss)
                    best[side] = {found.loss[side] + 2 * price_, view, found.code[side]};
        }
        // a budget of three leaves has one stump
        if (ask_.max_leaves == 3) {
            const bool on_left = best[0].loss + leaf[1] <= leaf[0] + best[1].loss;
            best[on_left] = {leaf[on_left], rows_->n_views(), 0};
        }
        for (const auto& stump : best) {
            out.loss += stump.loss;
            const bool is_leaf = stump.view == rows_->n_views();
            if (!is_leaf) {
                out.nodes.push_back({static_cast<std::int32_t>(stump.view), stump.code});
                out.nodes.push_back({});
            }
            out.nodes.push_back({});
        }
        return out;
    }

  private:
    /// Of a view that cannot divide the rows, of which nothing follows for more rows.
    static constexpr Loss constant = no_tree + 1;

    struct Stump {
        Loss loss;
        std::size_t view;
        Code code;
    };
    struct Best {
        Loss loss = no_tree;
        std::size_t view = 0, place = 0;  // the first `place` rows of the view go left
    };
    struct TwoStumps {
        Loss loss[2];
        Code code[2];
    };

    /// Nothing at or above is of interest.
    Loss limit(Loss target) const { return std::min(target, best_.loss); }

    void sum_up() {
        const std::size_t size = bins_.n_bins() * k_ * bins_.stride();
        histogram_.resize(size);
        kept_.resize(size);
        all_histogram_.assign(size, 0);
        all_.assign(k_, 0);
        mixed_.assign(bins_.n_bins() * bins_.stride(), 0);
        for (std::size_t bin = 0; bin < bins_.n_bins(); ++bin)
            for (std::size_t view = 0; view < rows_->n_views(); ++view)
                if (bins_.is_mixed(view, bin)) mixed_[bin * bins_.stride() + view] = static_cast<Count>(-1);
        for (std::size_t row = 0; row < rows_->size(); ++row) {
            add(all_histogram_.data(), row);
            add_total(all_.data(), row);
        }
    }
    template <class Work>
    void for_each_gain(std::size_t row, Work work) const {
        const auto label = static_cast<std::size_t>(rows_->label(row));
        const auto weight = static_cast<Count>(rows_->weight(row));
        if (!table_.has_gains()) return work(label, weight);
        for (std::size_t answer = 0; answer < k_; ++answer)
            work(answer, static_cast<Count>(weight * static_cast<Count>(table_.gains[label * k_ + answer])));
    }
    void add(Count* histogram, std::size_t row) const {
        const std::size_t stride = bins_.stride(), step = k_ * stride, n_views = rows_->n_views();
        const std::uint8_t* const own = bins_.of_row(row);
        for_each_gain(row, [&](std::size_t answer, Count gain) {
            Count* const cells = histogram + answer * stride;
            for (std::size_t view = 0; view < n_views; ++view)
                cells[own[view] * step + view] = static_cast<Count>(cells[own[view] * step + view] + gain);
        });
    }
    void add_total(Count* total, std::size_t row) const {
        for_each_gain(row, [&](std::size_t answer, Count gain) {
            total[answer] = static_cast<Count>(total[answer] + gain);
        });
    }

    // --- losses ---

    Loss most_gain(std::size_t row) const {
        if (!table_.has_gains()) return rows_->weight(row);
        const auto gains = table_.gains.subspan(static_cast<std::size_t>(rows_->label(row)) * k_, k_);
        return rows_->weight(row) * *std::max_element(gains.begin(), gains.end());
    }
    /// Without gains, what all rows of a side could save is the sum of its totals.
    Loss base_of(const Count* total, Loss base) const {
        if (table_.has_gains()) return base;
        Loss sum = 0;
        for (std::size_t answer = 0; answer < k_; ++answer) sum += total[answer];
        return sum;
    }
    Loss leaf_loss(const Count* total, Loss base = 0) const {
        return base_of(total, base) - *std::max_element(total, total + k_);
    }
    SideLoss side_loss(const std::vector<Count>& total, Loss base) const {
        return {leaf_loss(total.data(), base) + price_, 0};
    }
    /// The loss of a stump or leaf, with prices.
    Loss priced(Loss stump, Loss leaf) const { return std::min(stump + 2 * price_, leaf); }
    Loss joined(const SideLoss& left, const SideLoss& right) const {
        if (ask_.max_leaves >= 4) return left.stump + right.stump;
        if (ask_.max_leaves == 3) return std::min(left.stump + right.leaf, left.leaf + right.stump);
        return left.leaf + right.leaf;
    }

    // --- histograms ---

    struct Border {
        SideLoss left, right;                        // at least
        std::vector<Loss> left_by_view, right_by_view;
    };

    /// What the stumps of one side lose at least, by view, and the least of it; and what one of them loses.
    template <bool of_right>
    Loss bound_side(const std::vector<Count>& total, SideLoss& side, std::vector<Loss>& by_view) {
        const SideCounts<Count> counts{histogram_.data(), of_right ? all_histogram_.data() : nullptr,
                                       total.data(),      mixed_.data(),
                                       bins_.n_bins(),    k_,
                                       bins_.stride()};
        savings_.most.resize(bins_.stride());
        savings_.least.resize(bins_.stride());
        if (k_ == 2)
            two_answers<Count, of_right>(counts, savings_);
        else
            many_answers<Count, of_right>(counts, savings_);
        const Loss base = base_of(total.data(), 0);
        side.leaf = leaf_loss(total.data()) + price_;
        by_view.resize(rows_->n_views());
        Count most = 0, least = 0;
        for (std::size_t view = 0; view < rows_->n_views(); ++view) {
            by_view[view] = base - savings_.most[view];
            most = std::max(most, savings_.most[view]);
            least = std::max(least, savings_.least[view]);
        }
        side.stump = priced(base - most, side.leaf);
        return priced(base - least, side.leaf);
    }
    Border bound_border(std::size_t view, std::size_t place) {
        Border border;
        right_total_.resize(k_);
        for (std::size_t answer = 0; answer < k_; ++answer)
            right_total_[answer] = static_cast<Count>(all_[answer] - left_total_[answer]);
        SideLoss left, right;
        left.stump = bound_side<false>(left_total_, border.left, border.left_by_view);
        right.stump = bound_side<true>(right_total_, border.right, border.right_by_view);
        left.leaf = border.left.leaf;
        right.leaf = border.right.leaf;
        if (place > 0 && place < rows_->size()) offer(joined(left, right), view, place);
        return border;
    }
    void offer(Loss loss, std::size_t view, std::size_t place) {
        if (loss < best_.loss) best_ = {loss, view, place};
    }

    void add_bin(std::span<const Cell> list, std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) {
            add(histogram_.data(), list[i].row);
            add_total(left_total_.data(), list[i].row);
        }
    }
    /// Bounds at every eighth border first; between two of them only where that leaves something open.
    void scan_borders(std::size_t view) {
        constexpr std::size_t block = 8;
        const auto list = rows_->list(view);
        const auto starts = bins_.starts(view);
        const std::size_t n_bins = starts.size() - 1;
        std::fill(histogram_.begin(), histogram_.end(), Count{0});
        left_total_.assign(k_, 0);
        Border low = bound_border(view, 0);
        for (std::size_t first = 0; first < n_bins; first += block) {
            const std::size_t last = std::min(first + block, n_bins);
            kept_ = histogram_;
            kept_total_ = left_total_;
            add_bin(list, starts[first], starts[last]);
            Border high = bound_border(view, starts[last]);
            if (const Loss bound = joined(low.left, high.right); bound >= limit(ask_.target)) {
                settled_[view] = std::min(settled_[view], bound);
            } else {
                std::swap(histogram_, kept_);
                std::swap(left_total_, kept_total_);
                Border before = std::move(low);
                for (std::size_t bin = first; bin < last; ++bin) {
                    add_bin(list, starts[bin], starts[bin + 1]);
                    const bool is_last = bin + 1 == last;
                    Border after = is_last ? high : bound_border(view, starts[bin + 1]);
                    take_interval(view, starts[bin], starts[bin + 1], before, after);
                    before = std::move(after);
                }
            }
            low = std::move(high);
        }
    }
    void take_interval(std::size_t view, std::size_t low, std::size_t high, const Border& before,
                       const Border& after) {
        const Loss bound = joined(before.left, after.right);
        if (bound >= limit(ask_.target)) {
            settled_[view] = std::min(settled_[view], bound);
            return;
        }
        intervals_.push_back({bound, view, std::max<std::size_t>(low, 1), std::min(high, rows_->size() - 1),
                              before.left, after.right,
                              std::make_shared<const std::vector<Loss>>(before.left_by_view),
                              std::make_shared<const std::vector<Loss>>(after.right_by_view)});
    }
    void raise(std::vector<Loss>& by_view) {
        std::vector<Loss> own = settled_;
        for (const auto& interval : intervals_) own[interval.view] = std::min(own[interval.view], interval.bound);
        bound_ = leaf_;
        for (std::size_t view = 0; view < own.size(); ++view) {
            if (own[view] == constant) continue;
            by_view[view] = std::max(by_view[view], own[view]);
            bound_ = std::min(bound_, by_view[view]);
        }
    }

    // --- exact scans ---

    Code code_before(std::size_t view, std::size_t place) const { return rows_->list(view)[place - 1].code; }
    bool is_cut(std::size_t view, std::size_t place) const {
        const auto list = rows_->list(view);
        return list[place - 1].code != list[place].code;
    }
    /// The cut of the interval that is nearest to its middle; `high` + 1 if there is none.
    std::size_t middle_cut(const Interval& interval) const {
        const std::size_t middle = interval.low + (interval.high - interval.low) / 2;
        for (std::size_t step = 0; step <= interval.high - interval.low; ++step) {
            if (middle + step <= interval.high && is_cut(interval.view, middle + step)) return middle + step;
            if (middle >= interval.low + step && is_cut(interval.view, middle - step)) return middle - step;
        }
        return interval.high + 1;
    }
    void settle(const Interval& interval) {
        settled_[interval.view] = std::min(settled_[interval.view], interval.bound);
    }

    void open(const Interval& interval) {
        const std::size_t place = middle_cut(interval);
        if (place > interval.high) return;
        budget_.work(1);
        const Loss wanted = limit(ask_.target);
        mark(interval.view, place);
        // Views whose stumps cannot be part of a better tree are not scanned.
        SideLoss side[2], found[2];
        for (int s = 0; s < 2; ++s) {
            side[s].leaf = found[s].leaf = leaf_loss(totals_[s].data()) + price_;
            side[s].stump = found[s].stump = side[s].leaf;
        }
        const Loss room_left = wanted - std::min(interval.right.stump, interval.right.leaf),
                   room_right = wanted - std::min(interval.left.stump, interval.left.leaf);
        for (std::size_t view = 0; view < rows_->n_views(); ++view) {
            if (bins_.starts(view).size() <= 2) continue;
            const Loss bounds[2] = {(*interval.left_by_view)[view] + 2 * price_,
                                    (*interval.right_by_view)[view] + 2 * price_};
            if (bounds[0] >= room_left && bounds[1] >= room_right) {
                for (int s = 0; s < 2; ++s) side[s].stump = std::min(side[s].stump, bounds[s]);
                continue;
            }
            const auto stumps = scan_stumps(view);
            for (int s = 0; s < 2; ++s) {
                const Loss loss = stumps.loss[s] + 2 * price_;
                side[s].stump = std::min(side[s].stump, loss);
                found[s].stump = std::min(found[s].stump, loss);
            }
        }
        offer(joined(found[0], found[1]), interval.view, place);
        const Loss here = joined(side[0], side[1]);
        settled_[interval.view] = std::min(settled_[interval.view], here);
        divide_interval(interval, place, side, std::max<Loss>(0, here - limit(ask_.target)));
    }
    /// What is left of an interval on both sides of a cut that is known; cuts so near that the rows between
    /// weigh no more than `slack` cannot be better.
    void divide_interval(const Interval& interval, std::size_t place, const SideLoss* side, Loss slack) {
        const auto list = rows_->list(interval.view);
        Interval part = interval;
        std::size_t near = place;
        for (Loss passed = 0; near > interval.low; --near)
            if ((passed += most_gain(list[near - 1].row)) > slack) break;
        if (near > interval.low) {
            part.low = interval.low;
            part.high = near - 1;
            part.right = side[1];
            put_back(part);
        }
        part = interval;
        near = place;
        for (Loss passed = 0; near < interval.high; ++near)
            if ((passed += most_gain(list[near].row)) > slack) break;
        if (near < interval.high) {
            part.low = near + 1;
            part.high = interval.high;
            part.left = side[0];
            put_back(part);
        }
    }
    void put_back(Interval& part) {
        part.bound = std::max(part.bound, joined(part.left, part.right));
        if (part.bound >= limit(ask_.target)) return settle(part);
        intervals_.push_back(part);
        std::push_heap(intervals_.begin(), intervals_.end());
    }

    /// Which rows lie left of a cut.
    void mark(std::size_t view, std::size_t place) {
        const auto list = rows_->list(view);
        side_.resize(rows_->size());
        for (auto& total : totals_) total.assign(k_, 0);
        for (std::size_t i = 0; i < list.size(); ++i) {
            const bool is_right = i >= place;
            side_[list[i].row] = is_right;
            add_total(totals_[is_right].data(), list[i].row);
        }
        if (k_ == 2) mark_changes();
    }
    /// What a row adds to the differences (one − zero) and (zero − one) of the left and of the right side.
    void mark_changes() {
        changes_.resize(rows_->size());
        for (std::size_t row = 0; row < rows_->size(); ++row) {
            Loss difference = 0;
            for_each_gain(row, [&](std::size_t answer, Count gain) { difference += answer == 1 ? gain : -gain; });
            const auto change = static_cast<Count>(difference);
            Count* const own = changes_[row].by_side;
            const std::size_t at = side_[row] ? 2 : 0;
            own[0] = own[1] = own[2] = own[3] = 0;
            own[at] = change;
            own[at + 1] = static_cast<Count>(-change);
        }
    }
    struct Changes {
        Count by_side[4];
    };

    /// The best stumps of both sides by one view.
    TwoStumps scan_stumps(std::size_t view) { return k_ == 2 ? scan_two(view) : scan_many(view); }

    TwoStumps scan_two(std::size_t view) {
        const auto list = rows_->list(view);
        Count now[4] = {0, 0, 0, 0}, most[4] = {0, 0, 0, 0};
        Code code[4] = {0, 0, 0, 0};
        const std::size_t n = list.size();
        for (std::size_t i = 0; i < n; ++i) {
            const Count* const change = changes_[list[i].row].by_side;
            for (int j = 0; j < 4; ++j) now[j] = static_cast<Count>(now[j] + change[j]);
            if (i + 1 < n && list[i].code == list[i + 1].code) continue;
            for (int j = 0; j < 4; ++j)
                if (now[j] > most[j]) {
                    most[j] = now[j];
                    code[j] = list[i].code;
                }
        }
        TwoStumps out{};
        for (int s = 0; s < 2; ++s) {
            // ones first: of the rows before the cut the ones are saved, behind it the zeros
            const Count zeros = totals_[s][0], ones = totals_[s][1];
            const Loss ones_first = Loss{zeros} + most[2 * s], zeros_first = Loss{ones} + most[2 * s + 1];
            out.loss[s] = base_of(totals_[s].data(), 0) - std::max(ones_first, zeros_first);
            out.code[s] = ones_first >= zeros_first ? code[2 * s] : code[2 * s + 1];
        }
        return out;
    }
    TwoStumps scan_many(std::size_t view) {
        const auto list = rows_->list(view);
        const std::size_t n = list.size();
        TwoStumps out{};
        behind_.resize(2 * n);
        std::vector<Count> count(2 * k_, 0);
        Count largest[2] = {0, 0};
        for (std::size_t i = n; i-- > 0;) {
            const std::size_t s = side_[list[i].row];
            for_each_gain(list[i].row, [&](std::size_t answer, Count gain) {
                Count& own = count[s * k_ + answer];
                own = static_cast<Count>(own + gain);
                largest[s] = std::max(largest[s], own);
            });
            behind_[2 * i] = largest[0];
            behind_[2 * i + 1] = largest[1];
        }
        Loss most[2] = {behind_[0], behind_[1]};
        std::fill(count.begin(), count.end(), Count{0});
        largest[0] = largest[1] = 0;
        for (std::size_t i = 0; i + 1 < n; ++i) {
            const std::size_t s = side_[list[i].row];
            for_each_gain(list[i].row, [&](std::size_t answer, Count gain) {
                Count& own = count[s * k_ + answer];
                own = static_cast<Count>(own + gain);
                largest[s] = std::max(largest[s], own);
            });
            if (list[i].code == list[i + 1].code) continue;
            for (std::size_t t = 0; t < 2; ++t)
                if (const Loss saved = Loss{largest[t]} + behind_[2 * i + 2 + t]; saved > most[t]) {
                    most[t] = saved;
                    out.code[t] = list[i].code;
                }
        }
        for (std::size_t t = 0; t < 2; ++t) out.loss[t] = base_of(totals_[t].data(), 0) - most[t];
        return out;
    }

    const Table& table_;
    const Loss price_;
    Budget& budget_;
    const std::size_t k_;
    const NodeRows* rows_ = nullptr;
    Ask ask_;
    Bins bins_;
    std::vector<Count> histogram_, kept_, all_histogram_, all_, left_total_, kept_total_, right_total_, mixed_;
    Savings<Count> savings_;
    std::vector<Interval> intervals_;  // a heap
    std::vector<Loss> settled_;
    Loss bound_ = 0, leaf_ = 0;
    Best best_;
    std::vector<std::uint8_t> side_;
    std::vector<Changes> changes_;
    std::vector<Count> totals_[2];
    std::vector<Count> behind_;
};

}  // namespace

std::unique_ptr<NodeSearch> make_pair_search(const Table& table, Loss leaf_price, Budget& budget) {
    Loss most = 0;
    for (std::size_t row = 0; row < table.n_rows; ++row) most += table.weight(row);
    if (most < std::numeric_limits<std::int16_t>::max())
        return std::make_unique<Pairs<std::int16_t>>(table, leaf_price, budget);
    if (most < std::numeric_limits<std::int32_t>::max())
        return std::make_unique<Pairs<std::int32_t>>(table, leaf_price, budget);
    return std::make_unique<Pairs<std::int64_t>>(table, leaf_price, budget);
}

}  // namespace treewright::optimising
