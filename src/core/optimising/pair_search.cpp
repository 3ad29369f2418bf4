// Trees of two levels.
//
// For every view that may be asked first, the rows are added in its order to running histograms of all views;
// at borders between bins both sides are bounded. The intervals between borders that could hold a better tree
// are then scanned exactly, the weakest first.
#include "optimising/pair_search.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <span>

#include "optimising/bins.hpp"
#include "optimising/class_measure.hpp"
#include "optimising/square_measure.hpp"

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

    bool operator<(const Interval& other) const {  // the weakest is on top of a heap
        if (bound != other.bound) return bound > other.bound;
        return view != other.view ? view > other.view : low > other.low;
    }
};

template <class Measure>
class Pairs final : public NodeSearch {
    using Count = typename Measure::Count;

  public:
    Pairs(const Table& table, Loss leaf_price, Budget& budget)
        : table_(table), price_(leaf_price), budget_(budget), measure_(table), width_(measure_.width()) {}

    void enter(const NodeRows& rows, const Ask& ask, std::vector<Loss>& by_view) override {
        rows_ = &rows;
        ask_ = ask;
        bins_.make(table_, rows);
        sum_up();
        intervals_.clear();
        snapshots_.resize(rows.n_views());
        for (auto& kept : snapshots_)
            if (!kept.histograms.empty()) free_.push_back(std::move(kept));
        for (auto& kept : snapshots_) kept = {};
        settled_.assign(rows.n_views(), no_tree);
        leaf_ = measure_.leaf_loss(all_.data()) + price_;
        best_ = {leaf_, rows.n_views(), 0};
        for (std::size_t view = 0; view < rows.n_views(); ++view) {
            if (bins_.starts(view).size() <= 2 || ask.max_leaves < 2) {
                settled_[view] = constant;
                continue;
            }
            if (by_view[view] >= limit(ask.target) || budget_.is_spent()) {
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
            open(next, limit(target));
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
        const std::size_t n_rows[2] = {best_.place, rows_->size() - best_.place};
        for (std::size_t s = 0; s < 2; ++s) {
            leaf[s] = measure_.leaf_loss(totals_[s].data()) + price_;
            best[s] = {leaf[s], rows_->n_views()};
        }
        for (std::size_t view = 0; view < rows_->n_views() && ask_.max_leaves > 2; ++view) {
            if (bins_.starts(view).size() <= 2) continue;
            const auto found = scan_legal(view, n_rows);
            for (std::size_t s = 0; s < 2; ++s)
                if (found.loss[s] + 2 * price_ < best[s].loss) best[s] = {found.loss[s] + 2 * price_, view};
        }
        if (ask_.max_leaves == 3) {  // one stump only
            const std::size_t leaf_side = best[0].loss + leaf[1] <= leaf[0] + best[1].loss ? 1 : 0;
            best[leaf_side] = {leaf[leaf_side], rows_->n_views()};
        }
        for (std::size_t s = 0; s < 2; ++s) {
            out.loss += best[s].loss;
            if (best[s].view != rows_->n_views()) {
                const Code code = code_of_stump(best[s].view, s, best[s].loss - 2 * price_);
                out.nodes.push_back({static_cast<std::int32_t>(best[s].view), code});
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
    };
    /// What the best stumps of both sides lose.
    struct TwoStumps {
        Loss loss[2] = {0, 0};
    };
    struct Best {
        Loss loss = no_tree;
        std::size_t view = 0, place = 0;  // the first `place` rows of the view go left
    };

    /// Nothing at or above is of interest.
    Loss limit(Loss target) const { return std::min(target, best_.loss); }

    void sum_up() {
        const std::size_t size = bins_.n_bins() * width_ * bins_.stride();
        histogram_.resize(size);
        all_histogram_.assign(size, 0);
        all_.assign(width_ + 1, 0);
        mixed_.assign(bins_.n_bins() * bins_.stride(), 0);
        for (std::size_t bin = 0; bin < bins_.n_bins(); ++bin)
            for (std::size_t view = 0; view < rows_->n_views(); ++view)
                if (bins_.is_mixed(view, bin)) mixed_[bin * bins_.stride() + view] = static_cast<Count>(-1);
        for (std::size_t row = 0; row < rows_->size(); ++row) {
            add(all_histogram_.data(), row);
            add_total(all_.data(), row);
        }
    }
    void add(Count* histogram, std::size_t row) const {
        const std::size_t stride = bins_.stride(), step = width_ * stride, n_views = rows_->n_views();
        const std::uint8_t* const own = bins_.of_row(row);
        measure_.for_each_part(*rows_, row, [&](std::size_t answer, Count gain) {
            Count* const cells = histogram + answer * stride;
            for (std::size_t view = 0; view < n_views; ++view)
                cells[own[view] * step + view] = static_cast<Count>(cells[own[view] * step + view] + gain);
        });
    }
    /// Totals are what each answer saves, and behind them what all rows could save.
    void add_total(Count* total, std::size_t row) const {
        measure_.for_each_part(*rows_, row, [&](std::size_t answer, Count gain) {
            total[answer] = static_cast<Count>(total[answer] + gain);
        });
        total[width_] = static_cast<Count>(total[width_] + most_gain(row));
    }

    // --- losses ---

    Loss most_gain(std::size_t row) const {
        return table_.most_gain(static_cast<std::size_t>(rows_->target(row)), rows_->weight(row));
    }
    /// The loss of a stump or leaf, with prices.
    Loss priced(Loss stump, Loss leaf) const { return std::min(stump + 2 * price_, leaf); }
    Loss joined(const SideLoss& left, const SideLoss& right) const {
        if (ask_.max_leaves >= 4) return left.stump + right.stump;
        if (ask_.max_leaves == 3) return std::min(left.stump + right.leaf, left.leaf + right.stump);
        return left.leaf + right.leaf;
    }

    // --- histograms ---

    /// What both sides of a border lose at least.
    struct Border {
        SideLoss left, right;
        Loss left_base = 0, right_base = 0;
    };

    /// The bounds of one side, and what one of its stumps or a leaf loses.
    template <bool of_right>
    Loss bound_side(const std::vector<Count>& total, SideLoss& side, Count* most_of_views) {
        const SideCounts<Count> counts{here_,          of_right ? all_histogram_.data() : nullptr,
                                       total.data(),   mixed_.data(),
                                       bins_.n_bins(), width_,
                                       bins_.stride()};
        least_.resize(bins_.stride());
        measure_.template save<of_right>(counts, most_of_views, least_.data());
        const Loss base = total[width_];
        side.leaf = measure_.leaf_loss(total.data()) + price_;
        const std::size_t n = rows_->n_views();
        side.stump = priced(base - *std::max_element(most_of_views, most_of_views + n), side.leaf);
        return priced(
            base - *std::max_element(least_.begin(), least_.begin() + static_cast<std::ptrdiff_t>(n)),
            side.leaf);
    }
    Border bound_border(std::size_t view, std::size_t place) {
        Border border;
        right_total_.resize(width_ + 1);
        for (std::size_t answer = 0; answer <= width_; ++answer)
            right_total_[answer] = static_cast<Count>(all_[answer] - left_total_[answer]);
        SideLoss left, right;
        Count* const most = most_.data();
        left.stump = bound_side<false>(left_total_, border.left, most);
        right.stump = bound_side<true>(right_total_, border.right, most + bins_.stride());
        left.leaf = border.left.leaf;
        right.leaf = border.right.leaf;
        border.left_base = left_total_[width_];
        border.right_base = right_total_[width_];
        if (place > 0 && place < rows_->size() && ask_.min_rows <= 1) offer(joined(left, right), view, place);
        return border;
    }
    void offer(Loss loss, std::size_t view, std::size_t place) {
        if (loss < best_.loss) best_ = {loss, view, place};
    }

    void add_rows(std::span<const Cell> list, std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) {
            add(histogram_.data(), list[i].row);
            add_total(left_total_.data(), list[i].row);
        }
    }
    static constexpr std::size_t block = 8;  // bins

    /// Bounds at some borders, at more of them only where those leave something open. The histograms of every
    /// eighth border are kept on the way through the rows.
    void scan_borders(std::size_t view) {
        const auto list = rows_->list(view);
        const auto starts = bins_.starts(view);
        const std::size_t n_bins = starts.size() - 1, size = histogram_.size();
        most_.resize(2 * bins_.stride());
        if (free_.empty()) free_.emplace_back();
        Snapshots& kept = snapshots_[view] = std::move(free_.back());
        free_.pop_back();
        kept.histograms.resize((n_bins / block + 1) * size);
        kept.totals.resize((n_bins / block + 1) * (width_ + 1));
        std::fill(histogram_.begin(), histogram_.end(), Count{0});
        here_ = histogram_.data();
        left_total_.assign(width_ + 1, 0);
        for (std::size_t bin = 0; bin < n_bins; ++bin) {
            if (bin % block == 0) keep_snapshot(kept, bin / block);
            add_rows(list, starts[bin], starts[bin + 1]);
        }
        const Border high = bound_border(view, rows_->size());
        go_to(view, 0);
        const std::size_t n_before = intervals_.size();
        scan_bins(view, 0, n_bins, bound_border(view, 0), high);
        if (intervals_.size() == n_before) free_.push_back(std::move(kept));
    }
    /// The histograms and totals of every eighth border of a view.
    struct Snapshots {
        std::vector<Count> histograms, totals;
    };
    void keep_snapshot(Snapshots& kept, std::size_t place) const {
        std::copy(histogram_.begin(), histogram_.end(),
                  kept.histograms.begin() + static_cast<std::ptrdiff_t>(place * histogram_.size()));
        std::copy(left_total_.begin(), left_total_.end(),
                  kept.totals.begin() + static_cast<std::ptrdiff_t>(place * (width_ + 1)));
    }
    /// Looks at the rows before a place of a view's list: at a border that is kept, or from there on.
    void go_to(std::size_t view, std::size_t place) {
        const auto starts = bins_.starts(view);
        const auto next = std::upper_bound(starts.begin(), starts.end() - 1, place);
        const auto first = static_cast<std::size_t>(next - starts.begin() - 1) / block;
        const Snapshots& kept = snapshots_[view];
        here_ = kept.histograms.data() + first * histogram_.size();
        std::copy_n(kept.totals.data() + first * (width_ + 1), width_ + 1, left_total_.begin());
        if (starts[first * block] == place) return;
        std::copy_n(here_, histogram_.size(), histogram_.begin());
        here_ = histogram_.data();
        add_rows(rows_->list(view), starts[first * block], place);
    }
    void scan_bins(std::size_t view, std::size_t first, std::size_t last, const Border& low,
                   const Border& high) {
        const auto starts = bins_.starts(view);
        const Loss bound = joined(low.left, high.right);
        if (bound >= limit(ask_.target)) {
            settled_[view] = std::min(settled_[view], bound);
        } else if (last - first == 1) {
            take_interval(view, starts[first], starts[last], low, high, bound);
        } else {
            std::size_t middle = first + (last - first) / 2;
            if (last - first > block) middle = std::max(first + 1, middle / block * block);
            go_to(view, starts[middle]);
            const Border border = bound_border(view, starts[middle]);
            scan_bins(view, first, middle, low, border);
            scan_bins(view, middle, last, border, high);
        }
    }
    void take_interval(std::size_t view, std::size_t low, std::size_t high, const Border& before,
                       const Border& after, Loss bound) {
        intervals_.push_back({bound, view, std::max<std::size_t>(low, 1), std::min(high, rows_->size() - 1),
                              before.left, after.right});
    }
    void raise(std::vector<Loss>& by_view) {
        std::vector<Loss> own = settled_;
        for (const auto& interval : intervals_)
            own[interval.view] = std::min(own[interval.view], interval.bound);
        bound_ = leaf_;
        for (std::size_t view = 0; view < own.size(); ++view) {
            if (own[view] == constant) continue;
            by_view[view] = std::max(by_view[view], own[view]);
            bound_ = std::min(bound_, by_view[view]);
        }
    }

    // --- exact scans ---

    Code code_before(std::size_t view, std::size_t place) const { return rows_->list(view)[place - 1].code; }
    void settle(const Interval& interval) {
        settled_[interval.view] = std::min(settled_[interval.view], interval.bound);
    }

    void open(const Interval& interval, Loss wanted) {
        const std::size_t place = rows_->middle_cut(interval.view, interval.low, interval.high);
        if (place == 0) return;
        budget_.work(1);
        go_to(interval.view, place);
        const Border border = bound_border(interval.view, place);
        SideLoss side[2] = {border.left, border.right};
        Loss here = joined(side[0], side[1]);
        if (here < wanted) {
            const Loss legal = scan_cut(interval.view, place, border, wanted, side);
            here = joined(side[0], side[1]);
            if (ask_.min_rows > 1 && here < wanted) return divide_settled(interval, place, side, legal);
        }
        divide_interval(interval, place, side, here);
    }
    /// Raises the bounds of both sides of a cut: views whose stumps could be part of a better tree are
    /// scanned. Returns the least loss with leaves as large as asked for.
    Loss scan_cut(std::size_t tested, std::size_t place, const Border& border, Loss wanted, SideLoss* side) {
        note_sides(tested, place);
        totals_[0] = left_total_;
        totals_[1] = right_total_;
        const std::size_t n_rows[2] = {place, rows_->size() - place};
        const Loss bases[2] = {border.left_base, border.right_base};
        const Loss room[2] = {wanted - std::min(border.right.stump, border.right.leaf),
                              wanted - std::min(border.left.stump, border.left.leaf)};
        SideLoss found[2];
        for (std::size_t s = 0; s < 2; ++s) {
            side[s].stump = side[s].leaf;
            const bool is_large = n_rows[s] >= ask_.min_rows;
            found[s].leaf = found[s].stump = is_large ? side[s].leaf : no_tree;
        }
        for (std::size_t view = 0; view < rows_->n_views(); ++view) {
            if (bins_.starts(view).size() <= 2) continue;
            for (std::size_t s = 0; s < 2; ++s) {
                Loss bound = bases[s] - most_[s * bins_.stride() + view] + 2 * price_;
                const Loss limit = std::min(room[s], found[s].stump);
                if (bound < limit && ask_.max_leaves > 2) {
                    const Scanned scanned = scan_open_bins(view, s, limit - 2 * price_);
                    bound = std::min(scanned.loss, scanned.bound) + 2 * price_;
                    const Loss legal = ask_.min_rows > 1 ? scan_legal(view, n_rows).loss[s] : scanned.loss;
                    found[s].stump = std::min(found[s].stump, legal + 2 * price_);
                }
                side[s].stump = std::min(side[s].stump, bound);
            }
        }
        const Loss loss = joined(found[0], found[1]);
        offer(loss, tested, place);
        return loss;
    }
    /// What is left of an interval on both sides of a cut of which `here` is a bound; cuts so near that the
    /// rows between weigh no more than what it exceeds the target by cannot be better.
    void divide_interval(const Interval& interval, std::size_t place, const SideLoss* side, Loss here) {
        const Loss slack = here - limit(ask_.target);
        if (slack >= 0) {
            settled_[interval.view] = std::min(settled_[interval.view], here);
        } else {
            Interval cut{here, interval.view, place, place, side[0], side[1]};
            put_back(cut);
        }
        divide_around(interval, place, side, std::max<Loss>(0, slack));
    }
    /// The same where the cut itself is known to lose `legal`, with leaves as large as asked for.
    void divide_settled(const Interval& interval, std::size_t place, const SideLoss* side, Loss legal) {
        settled_[interval.view] = std::min(settled_[interval.view], legal);
        divide_around(interval, place, side, 0);
    }
    /// What a row that changes sides can lose more; of numbers, nothing bounds that.
    Loss most_moved(std::uint32_t row) const { return table_.are_numbers() ? no_tree : most_gain(row); }
    void divide_around(const Interval& interval, std::size_t place, const SideLoss* side, Loss slack) {
        const auto list = rows_->list(interval.view);
        Interval part = interval;
        std::size_t near = place;
        for (Loss passed = 0; near > interval.low; --near)
            if ((passed += most_moved(list[near - 1].row)) > slack) break;
        if (near > interval.low) {
            part.low = interval.low;
            part.high = near - 1;
            part.right = side[1];
            put_back(part);
        }
        part = interval;
        near = place;
        for (Loss passed = 0; near < interval.high; ++near)
            if ((passed += most_moved(list[near].row)) > slack) break;
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
        note_sides(view, place);
        for (auto& total : totals_) total.assign(width_ + 1, 0);
        for (std::size_t row = 0; row < rows_->size(); ++row) add_total(totals_[is_right_[row]].data(), row);
    }
    void note_sides(std::size_t view, std::size_t place) {
        const auto list = rows_->list(view);
        is_right_.resize(list.size());
        for (std::size_t i = 0; i < list.size(); ++i) is_right_[list[i].row] = i >= place;
    }
    /// The least loss of the stumps of a side by one view, as far as it is below a limit; and what those that
    /// were not looked at lose at least.
    struct Scanned {
        Loss loss = no_tree, bound = no_tree;
    };
    /// Scans the bins that could hide such a stump. The histograms are those of the cut.
    Scanned scan_open_bins(std::size_t view, std::size_t side, Loss limit) {
        const Count* const total = totals_[side].data();
        const Count* left = here_ + view;
        const Count* all = all_histogram_.data() + view;
        before_.assign(width_, 0);
        cell_.resize(width_);
        Scanned out;
        const auto take = [&](Loss saved) { out.loss = std::min(out.loss, total[width_] - saved); };
        for (std::size_t bin = 0; bin + 1 < bins_.starts(view).size(); ++bin) {
            bool is_empty = true;
            for (std::size_t part = 0; part < width_; ++part, left += bins_.stride(), all += bins_.stride()) {
                cell_[part] = side == 0 ? *left : static_cast<Count>(*all - *left);
                is_empty &= cell_[part] == 0;
            }
            if (is_empty) continue;
            if (bins_.is_mixed(view, bin)) {
                const Loss bound = total[width_] - measure_.most_inside(before_.data(), cell_.data(), total);
                if (bound < limit)
                    scan_bin(view, bin, side, take);
                else
                    out.bound = std::min(out.bound, bound);
            }
            for (std::size_t part = 0; part < width_; ++part)
                before_[part] = static_cast<Count>(before_[part] + cell_[part]);
            take(measure_.saved(before_.data(), total));
        }
        return out;
    }
    /// Every cut inside a bin, before which lie the rows of `before_`.
    template <class Take>
    void scan_bin(std::size_t view, std::size_t bin, std::size_t side, const Take& take) {
        const auto list = rows_->list(view);
        const std::size_t last = bins_.starts(view)[bin + 1] - 1;
        inside_ = before_;
        bool has_moved = false;
        for (std::size_t i = bins_.starts(view)[bin]; i < last; ++i) {
            if (is_right_[list[i].row] == side) {
                measure_.for_each_part(*rows_, list[i].row, [&](std::size_t part, Count count) {
                    inside_[part] = static_cast<Count>(inside_[part] + count);
                });
                has_moved = true;
            }
            if (!has_moved || list[i].code == list[i + 1].code) continue;
            take(measure_.saved(inside_.data(), totals_[side].data()));
            has_moved = false;
        }
    }
    /// The best stumps whose leaves are as large as asked for.
    TwoStumps scan_legal(std::size_t view, const std::size_t* n_rows) const {
        TwoStumps out{};
        for (std::size_t s = 0; s < 2; ++s) {
            out.loss[s] = no_tree;
            if (n_rows[s] >= 2 * ask_.min_rows)
                for_each_stump(view, s, [&](Loss loss, Code) {
                    out.loss[s] = std::min(out.loss[s], loss);
                    return false;
                });
        }
        return out;
    }
    /// Calls `work` with the loss and the code of each stump of a side that is allowed, until it returns
    /// true.
    template <class Work>
    void for_each_stump(std::size_t view, std::size_t side, Work work) const {
        const auto list = rows_->list(view);
        std::vector<Count> before(width_ + 1, 0), behind = totals_[side];
        std::size_t n_before = 0, n_behind = 0;
        for (const Cell& cell : list) n_behind += is_right(cell.row) == (side == 1);
        for (std::size_t i = 0; i + 1 < list.size(); ++i) {
            if (is_right(list[i].row) == (side == 1)) {
                ++n_before;
                --n_behind;
                add_total(before.data(), list[i].row);
                for (std::size_t part = 0; part <= width_; ++part)
                    behind[part] = static_cast<Count>(totals_[side][part] - before[part]);
            }
            if (list[i].code == list[i + 1].code || n_before < ask_.min_rows || n_behind < ask_.min_rows)
                continue;
            const Loss loss = measure_.leaf_loss(before.data()) + measure_.leaf_loss(behind.data());
            if (work(loss, list[i].code)) return;
        }
    }
    bool is_right(std::uint32_t row) const { return is_right_[row] != 0; }
    /// The first cut of a view at which the stump of a side loses so much.
    Code code_of_stump(std::size_t view, std::size_t side, Loss wanted) const {
        Code found = 0;
        for_each_stump(view, side, [&](Loss loss, Code code) {
            found = code;
            return loss <= wanted;
        });
        return found;
    }

    const Table& table_;
    const Loss price_;
    Budget& budget_;
    const NodeRows* rows_ = nullptr;
    Ask ask_;
    Measure measure_;
    const std::size_t width_;  // parts of a cell of the histograms
    Bins bins_;
    const Count* here_ = nullptr;  // the histograms of the left side
    std::vector<Count> histogram_, all_histogram_, all_, left_total_, right_total_, mixed_;
    std::vector<Count> most_, least_;
    std::vector<Snapshots> snapshots_, free_;  // by view; and those that no view needs
    std::vector<Interval> intervals_;          // a heap
    std::vector<Loss> settled_;
    Loss bound_ = 0, leaf_ = 0;
    Best best_;
    std::vector<std::uint8_t> is_right_;  // by row
    std::vector<Count> totals_[2], before_, cell_, inside_;
};

}  // namespace

std::unique_ptr<NodeSearch> make_pair_search(const Table& table, Loss leaf_price, Budget& budget) {
    if (table.are_numbers()) return std::make_unique<Pairs<SquareMeasure>>(table, leaf_price, budget);
    Loss most = 0;
    for (std::size_t row = 0; row < table.n_rows; ++row)
        most += table.most_gain(static_cast<std::size_t>(table.labels[row]), table.weight(row));
    if (table.has_gains()) most *= 2;  // a row may save something with two answers
    if (most < std::numeric_limits<std::int16_t>::max())
        return std::make_unique<Pairs<ClassMeasure<std::int16_t>>>(table, leaf_price, budget);
    if (most < std::numeric_limits<std::int32_t>::max())
        return std::make_unique<Pairs<ClassMeasure<std::int32_t>>>(table, leaf_price, budget);
    return std::make_unique<Pairs<ClassMeasure<std::int64_t>>>(table, leaf_price, budget);
}

}  // namespace treewright::optimising
