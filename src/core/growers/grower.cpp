// The best-first grower: large nodes by histograms, one at a time and all threads on each; the subtrees of
// smaller nodes one thread on each, from an excerpt of the table while they need histograms, then in sorted
// lists.
#include "growers/grower.hpp"

#include <array>
#include <memory>

#include "data/agreement.hpp"
#include "data/excerpt.hpp"
#include "growers/assembly.hpp"
#include "growers/frontier.hpp"
#include "growers/histogram_finder.hpp"
#include "growers/nodes.hpp"
#include "growers/significance.hpp"
#include "growers/small_nodes.hpp"

namespace treewright {

namespace {

/// Histograms kept for subtraction; beyond this a node's are built from its rows.
constexpr std::size_t max_kept_bytes = std::size_t{256} << 20;
/// Rows below which one thread divides a node faster than several.
constexpr std::size_t worth_threads = 30000;
/// Where at least so many levels may still grow, nodes up to so many rows are grown in lists; not where
/// columns are drawn, since lists are kept of all of them (100k × 20, 4 drawn: 59 ms instead of 71). Measured
/// at 1M × 20 to purity, bins made before: 4,096 rows 2.09 s, 8,192 1.94 s, 16,384 1.65 s, 32,768 1.74 s; at
/// 100k × 20 to depth 6, where it does not pay: 4,096 28 ms, 16,384 43 ms.
constexpr std::int64_t many_levels = 8, deep_small_rows = 16384;
/// Where there are several threads, one of them grows at most such a share of its part of the table, so that
/// the others find work too: a subtree in lists, or from an excerpt. Lists of fewer rows, or of fewer rows of
/// each class, are not worth the histograms. (CPU times of the tasks laid on two threads: 10k × 20 7.2 ms
/// with one subtree, 4.2 ms with several; 100k × 20 with 100 classes 410 ms and 300 ms.)
constexpr std::size_t list_share = 4, excerpt_share = 2;
constexpr std::int64_t least_shared_rows = 2048, least_shared_rows_of_class = 128;

class Grower {
  public:
    Grower(Problem& problem, const Agreement& agreement, const Criterion& criterion, Pool& pool)
        : problem_(problem),
          agreement_(agreement),
          limits_(problem.limits),
          criterion_(criterion),
          pool_(pool),
          small_(pool.size()),
          significance_(problem),
          spill_(problem.rows.size()) {
        if (!limits_.random_splits) large_ = make_histogram_finder(problem, agreement, criterion, pool);
        most_listed_ = agreement.word_rows;
        small_rows_ = small_rows_of(problem);
        is_budgeted_ = limits_.max_splits >= 0;
        frontier_ = Frontier<Open>(is_budgeted_);
        if (large_) excerpt_rows_ = agreement.most_excerpted(problem.rows.size());
        if (pool.size() > 1 && !is_budgeted_) share_rows();
    }

    /// Grows the tree of all rows; its root stands at `depth`, has the random key `key` and inherits `grids`.
    Nodes grow(std::int64_t depth, std::uint64_t key, const Grids& grids) {
        grown_.add(0, static_cast<std::uint32_t>(problem_.rows.size()));
        open(0, depth, key, grids, {});
        std::int64_t n_splits = 0;
        while (!frontier_.is_empty() && (!is_budgeted_ || n_splits < limits_.max_splits)) {
            problem_.interrupt->check();
            if (frontier_.next().job) {
                grow_next(limits_.max_splits - n_splits);
                continue;
            }
            ++n_splits;
            if (is_budgeted_) problem_.interrupt->advance(1);
            Open next = frontier_.take();
            if (next.large)
                split(*next.large, next.node);
            else
                for (const int side : {0, 1}) open_grown(grown_.nodes[next.node].left + side);
        }
        grow_waiting();
        return std::move(grown_);
    }

  private:
    using Histograms = std::vector<Sum>;

    /// Limits what one thread grows alone.
    void share_rows() {
        const auto& n_classes = problem_.targets.n_classes;
        const std::int64_t least = std::max(
            least_shared_rows, n_classes.empty() ? 0 : least_shared_rows_of_class * n_classes.front());
        const std::size_t part = problem_.rows.size() / pool_.size();
        if (limits_.small_rows <= 0)
            most_alone_ = std::max(least, static_cast<std::int64_t>(part / list_share));
        excerpt_rows_ = std::min(excerpt_rows_, part / excerpt_share);
    }

    /// A large leaf with its best split and the histograms its children will need.
    struct Large {
        std::int64_t depth;
        std::uint64_t key;
        Grids grids;
        Split split;
        Histograms histograms;
    };
    /// An entry of the frontier: a large leaf, a node of a subtree that has been grown ahead, or the root of
    /// a subtree that has yet to be grown.
    struct Open {
        double gain;         // or more, where the subtree has yet to be grown
        std::int64_t place;  // among all nodes, in the order of their making
        std::int32_t node;
        std::unique_ptr<Large> large{};
        std::unique_ptr<Job> job{};

        double worth() const { return gain; }
        std::int64_t made() const { return place; }
    };

    std::span<Row> rows_of(std::int32_t node) {
        return {problem_.rows.data() + grown_.nodes[node].begin,
                grown_.nodes[node].end - grown_.nodes[node].begin};
    }
    /// Whether a node is searched by histograms. To sort its rows by every column pays the more, the more
    /// levels will be grown from the sorted lists.
    bool is_large(std::size_t n_rows, std::int64_t depth) const {
        const bool is_deep = !is_budgeted_ && limits_.small_rows <= 0 && limits_.max_columns == 0 &&
                             (limits_.max_depth < 0 || limits_.max_depth - depth >= many_levels);
        const auto limit = std::min(
            {is_deep ? std::max(small_rows_, deep_small_rows) : small_rows_, most_alone_, most_listed_});
        return large_ && static_cast<std::int64_t>(n_rows) > limit;
    }

    /// Where no budget decides what comes next, subtrees are independent of each other.
    bool takes_excerpt(std::size_t n_rows) const { return !is_budgeted_ && n_rows <= excerpt_rows_; }

    /// A new leaf: searched if it is large; grown to the end if it is small, when its turn may have come
    /// where a budget decides what comes next, otherwise together with the others.
    void open(std::int32_t node, std::int64_t depth, std::uint64_t key, const Grids& grids,
              Histograms&& histograms) {
        const std::int64_t made = n_made_++;
        const auto rows = rows_of(node);
        if (!may_split(limits_, rows.size(), depth) || problem_.is_pure(rows)) return settle(rows.size());
        if (needs_histograms(rows.size(), depth)) {
            auto large = std::make_unique<Large>(Large{depth, key, grids, {}, std::move(histograms)});
            if (large_->place(rows, large->grids)) Histograms().swap(large->histograms);
            if (large->histograms.empty() && limits_.max_columns == 0) {
                large->histograms.resize(large_->histogram_size());
                large_->build(rows, large->histograms.data());
            }
            large->split = large_->search(rows, large->histograms.data(), large->grids, key);
            if (!large->split.found() || !is_significant(rows, large->split)) return settle(rows.size());
            kept_bytes_ += large->histograms.size() * sizeof(Sum);
            if (kept_bytes_ > max_kept_bytes) {
                kept_bytes_ -= large->histograms.size() * sizeof(Sum);
                Histograms().swap(large->histograms);
            }
            const double gain = large->split.gain;
            frontier_.push({gain, made, node, std::move(large)});
            return;
        }
        const Job job{node, depth, key, limits_.max_splits, grids};
        if (!is_budgeted_) {
            waiting_.push_back(job);
            return;
        }
        frontier_.push({most_gain(rows), made, node, nullptr, std::make_unique<Job>(job)});
    }
    /// No split gains more than the risk of its node: until then a subtree need not be grown.
    double most_gain(std::span<const Row> rows) const {
        if (!criterion_.of_classes() || problem_.targets.n_outputs > 1)
            return std::numeric_limits<double>::infinity();
        std::vector<double> weights;  // of the classes in the node, each a run of rows
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (i == 0 || problem_.label(rows[i]) != problem_.label(rows[i - 1])) weights.push_back(0.0);
            weights.back() += problem_.weight(rows[i]);
        }
        constexpr double room = 1 + 0x1p-20;  // for rounding
        return criterion_.risk(weights) * room;
    }
    /// Grows the subtrees that are next, one on each thread, to as many splits as are left at most.
    void grow_next(std::int64_t most_splits) {
        std::vector<Open> next;
        while (next.size() < pool_.size() && !frontier_.is_empty() && frontier_.next().job)
            next.push_back(frontier_.take());
        std::vector<Nodes> subtrees(next.size());
        pool_.run(next.size(), [&](std::size_t task, std::size_t thread) {
            next[task].job->max_splits = most_splits;
            subtrees[task] = grow_small(*next[task].job, thread);
        });
        for (std::size_t i = 0; i < next.size(); ++i) {
            const auto node = next[i].node;
            splice(node, std::move(subtrees[i]));
            if (!grown_.nodes[node].is_leaf()) frontier_.push({grown_.nodes[node].gain, next[i].place, node});
        }
    }
    /// Without a budget, progress is told by the rows that have found their leaf.
    void settle(std::size_t n_rows) {
        if (!is_budgeted_) problem_.interrupt->advance(n_rows);
    }
    void open_grown(std::int32_t node) {
        const std::int64_t made = n_made_++;
        if (!grown_.nodes[node].is_leaf()) frontier_.push({grown_.nodes[node].gain, made, node});
    }

    void split(Large& parent, std::int32_t node) {
        const std::uint32_t n_left = divide(rows_of(node), parent.split);
        grown_.cut(node, problem_, parent.split, n_left, parent.split.is_heavier_left);
        const std::int32_t left = grown_.nodes[node].left;
        Histograms children[2];
        share_histograms(parent, left, children);
        for (const int side : {0, 1})
            open(left + side, parent.depth + 1, Random::child(parent.key, side == 0), parent.grids,
                 std::move(children[side]));
    }
    bool needs_histograms(std::size_t n_rows, std::int64_t depth) const {
        return is_large(n_rows, depth) && !takes_excerpt(n_rows);
    }
    /// Builds the smaller child's histograms; the larger child's are the parent's less those. Sums are
    /// integers, so nothing is lost.
    void share_histograms(Large& parent, std::int32_t left, Histograms* children) {
        kept_bytes_ -= parent.histograms.size() * sizeof(Sum);
        const std::size_t sizes[2] = {rows_of(left).size(), rows_of(left + 1).size()};
        const int larger = sizes[1] > sizes[0], smaller = 1 - larger;
        if (parent.histograms.empty() || !needs_histograms(sizes[larger], parent.depth + 1)) return;
        children[smaller].resize(large_->histogram_size());
        large_->build(rows_of(left + smaller), children[smaller].data());
        children[larger] = std::move(parent.histograms);
        for (std::size_t i = 0; i < children[larger].size(); ++i) children[larger][i] -= children[smaller][i];
        if (!needs_histograms(sizes[smaller], parent.depth + 1)) children[smaller].clear();
    }
    /// Calls use(goes_left) with the function that tells whether a row goes left. The bins tell the side of
    /// nearly all rows; only in the bin of the cut the values have to be looked at.
    template <class Use>
    auto with_sides(const Split& split, Use use) const {
        const Column& column = problem_.columns[split.column];
        if (!column.fine_bins) {
            std::vector<std::uint8_t> goes_left(static_cast<std::size_t>(column.n_categories) + 1, 0);
            for (const auto code : split.left_codes) goes_left[code + 1] = 1;
            goes_left[0] = split.missing_left;
            return use([&](Row row) -> std::size_t {
                return goes_left[std::max(column.code(row), missing_code) + 1];
            });
        }
        std::array<std::uint8_t, 256> goes_left{};
        if (column.is_category())
            for (const auto code : split.left_codes) goes_left[code] = 1;
        else
            std::fill_n(goes_left.begin(), split.bin + split.at_border, 1);
        goes_left[missing_bin] = split.missing_left;
        return use([&](Row row) -> std::size_t {
            const int bin = column.bin(row);
            if (bin == split.bin && !split.at_border) return column.value(row) <= split.low;
            return goes_left[bin];
        });
    }
    bool is_significant(std::span<const Row> rows, const Split& split) {
        if (limits_.critical.empty()) return true;
        return with_sides(split, [&](auto goes_left) {
            return significance_.passes(rows, [](Row row) { return row; }, goes_left);
        });
    }
    /// Moves the rows that go left to the front, keeping the order on both sides.
    std::uint32_t divide(std::span<Row> rows, const Split& split) {
        return with_sides(split, [&](auto goes_left) { return divide_by(rows, goes_left); });
    }
    template <class Side>
    std::uint32_t divide_by(std::span<Row> rows, Side goes_left) {
        // Every part of the rows is divided by itself; then the parts are put together in order. More parts
        // than threads, because some take longer than others.
        constexpr std::size_t parts_per_thread = 4;
        const bool is_shared = pool_.size() > 1 && rows.size() >= worth_threads;
        const std::size_t n_parts = is_shared ? parts_per_thread * pool_.size() : 1;
        const auto start = [&](std::size_t part) { return rows.size() * part / n_parts; };
        std::vector<std::size_t> n_left(n_parts);
        pool_.run(n_parts, [&](std::size_t part, std::size_t) {
            std::size_t left = start(part), right = start(part);
            for (std::size_t i = start(part); i < start(part + 1); ++i) {
                const Row row = rows[i];
                const std::size_t is_left = goes_left(row);
                rows[left] = row;
                spill_[right] = row;
                left += is_left;
                right += 1 - is_left;
            }
            n_left[part] = left - start(part);
        });
        auto end = rows.begin() + static_cast<std::ptrdiff_t>(n_left[0]);
        for (std::size_t part = 1; part < n_parts; ++part)
            end = std::copy_n(rows.begin() + static_cast<std::ptrdiff_t>(start(part)), n_left[part], end);
        const auto total = static_cast<std::size_t>(end - rows.begin());
        std::vector<std::size_t> place{total};  // of each part's rows on the right
        for (std::size_t part = 0; part < n_parts; ++part)
            place.push_back(place[part] + start(part + 1) - start(part) - n_left[part]);
        pool_.run(n_parts, [&](std::size_t part, std::size_t) {
            std::copy_n(spill_.begin() + static_cast<std::ptrdiff_t>(start(part)),
                        place[part + 1] - place[part],
                        rows.begin() + static_cast<std::ptrdiff_t>(place[part]));
        });
        return static_cast<std::uint32_t>(total);
    }

    Nodes grow_small(const Job& job, std::size_t thread) {
        if (!small_[thread]) small_[thread] = std::make_unique<SmallNodeGrower>(problem_, criterion_);
        Nodes subtree;
        subtree.nodes.push_back(grown_.nodes[job.node]);
        Job local = job;
        local.node = 0;
        small_[thread]->grow(problem_.rows.data() + subtree.nodes[0].begin, local, subtree);
        return subtree;
    }
    Nodes grow_excerpt(const Job& job) {
        const auto rows = rows_of(job.node);
        Excerpt excerpt(problem_, rows);
        Pool alone(1, *problem_.interrupt);
        Nodes subtree =
            Grower(excerpt.problem, agreement_, criterion_, alone).grow(job.depth, job.key, job.grids);
        const std::uint32_t begin = grown_.nodes[job.node].begin;
        for (auto& node : subtree.nodes) {
            node.begin += begin;
            node.end += begin;
        }
        std::transform(excerpt.problem.rows.begin(), excerpt.problem.rows.end(), rows.begin(),
                       [&](Row row) { return excerpt.original(row); });
        return subtree;
    }
    void grow_waiting() {
        // Large ones first, so that no thread begins one when the others have nothing left to do.
        const auto size = [&](const Job& job) { return rows_of(job.node).size(); };
        std::stable_sort(waiting_.begin(), waiting_.end(),
                         [&](const Job& a, const Job& b) { return size(a) > size(b); });
        std::vector<Nodes> subtrees(waiting_.size());
        pool_.run(waiting_.size(), [&](std::size_t task, std::size_t thread) {
            const Job& job = waiting_[task];
            if (is_large(size(job), job.depth) || is_excerpted_) {
                subtrees[task] = grow_excerpt(job);
            } else {
                subtrees[task] = grow_small(job, thread);
                std::size_t n_left = size(job);
                for (const Job& rest : subtrees[task].pending)
                    n_left -= subtrees[task].nodes[rest.node].size();
                settle(n_left);
            }
        });
        const auto done = std::move(waiting_);
        waiting_.clear();
        std::size_t n_nodes = grown_.nodes.size();
        for (const Nodes& subtree : subtrees) n_nodes += subtree.nodes.size() - 1;
        grown_.nodes.reserve(n_nodes);
        for (std::size_t i = 0; i < done.size(); ++i) splice(done[i].node, std::move(subtrees[i]));
        if (!waiting_.empty()) grow_waiting();
    }
    /// Puts a subtree in the place of its root.
    void splice(std::int32_t node, Nodes&& subtree) {
        const auto shift = static_cast<std::int32_t>(grown_.nodes.size()) - 1;
        const auto first_byte = static_cast<std::int64_t>(grown_.subsets.size());
        for (auto& each : subtree.nodes) {
            if (each.left >= 0) each.left += shift;
            if (each.subset >= 0) each.subset += first_byte;
        }
        for (auto job : subtree.pending) {
            job.node += shift;
            waiting_.push_back(job);
            is_excerpted_ = true;
        }
        grown_.nodes[node] = subtree.nodes[0];
        grown_.nodes.insert(grown_.nodes.end(), subtree.nodes.begin() + 1, subtree.nodes.end());
        grown_.subsets.insert(grown_.subsets.end(), subtree.subsets.begin(), subtree.subsets.end());
    }

    Problem& problem_;
    const Agreement& agreement_;
    const Limits& limits_;
    const Criterion& criterion_;
    Pool& pool_;
    std::vector<std::unique_ptr<SmallNodeGrower>> small_;  // one per thread
    std::unique_ptr<LargeSearcher> large_;
    SignificanceTest significance_;
    std::int64_t small_rows_ = 0;
    std::int64_t most_alone_ = std::numeric_limits<std::int64_t>::max();  // rows of a list
    std::int64_t most_listed_;                                            // rows whose sums fit one word
    std::size_t excerpt_rows_ = 0;
    bool is_budgeted_ = false;
    bool is_excerpted_ = false;  // what is waiting is to be grown from excerpts
    Nodes grown_;
    Frontier<Open> frontier_;
    std::vector<Job> waiting_;
    std::vector<Row> spill_;
    std::size_t kept_bytes_ = 0;
    std::int64_t n_made_ = 0;
};

}  // namespace

NumberGrids number_grids(const Criterion& criterion, const Problem& problem) {
    if (!criterion.sum_gain || problem.targets.n_outputs > 1) return {};
    return {.are_made = true,
            .are_centred = criterion.is_centred,
            .bound_squares = criterion.make_split_search && problem.fine_bins};
}

namespace {

/// What all rows agree on. Where nodes of more rows than sums of one word hold are searched by histograms,
/// sums have two, so that grids need not be coarser.
Agreement agreement_for(const Problem& problem, const Criterion& criterion) {
    const auto grids = number_grids(criterion, problem);
    const auto& limits = problem.limits;
    const std::int64_t word_rows = limits.word_rows > 0 ? limits.word_rows : default_word_rows;
    Agreement agreement = agree_on(problem, grids, word_rows);
    if (!agreement.need_two_words(agreement.n_counted)) return agreement;
    if (!limits.random_splits && has_histograms(problem, agreement, criterion)) return agreement;
    return agree_on(problem, grids);
}

}  // namespace

GrownTree grow(Problem& problem, const Criterion& criterion, Pool& pool) {
    sort_rows(problem, pool);
    const auto max_splits =
        static_cast<std::size_t>(problem.limits.max_splits);  // the largest number if none
    problem.interrupt->expect(std::min(problem.rows.size(), max_splits));
    const auto key = Random{problem.limits.seed}.next();
    const Agreement agreement = agreement_for(problem, criterion);
    return assemble(problem, criterion,
                    Grower(problem, agreement, criterion, pool).grow(0, key, agreement.grids), pool);
}

}  // namespace treewright
