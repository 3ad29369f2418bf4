// Every node holds its rows as bits of every view, the rows of a class together; a child's bits are those of
// its rows, drawn together. Two levels follow from the counts of all pairs of views. Deeper nodes are bounded
// by what was found of row sets that are nearly the same, and remembered.
#include "optimising/packed_search.hpp"

#include <algorithm>
#include <bit>
#include <memory>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "support/portable.hpp"

namespace treewright::optimising {

namespace {

using Word = std::uint64_t;
using Bits = std::vector<Word>;

struct BitsHash {
    std::size_t operator()(const Bits& bits) const {
        Word hash = 0;
        for (const Word word : bits) hash = (hash ^ word) * 0x9e3779b97f4a7c15ULL + (hash >> 29);
        return static_cast<std::size_t>(hash ^ hash >> 32);
    }
};

/// Rows with the bits of all views, as often as they weigh; the words of a class follow those of the class
/// before.
struct Node {
    Bits rows;                        // among those of the table
    std::vector<std::size_t> starts;  // first word of each class, and the end
    Bits words;                       // view by view
    std::vector<Loss> counts;         // rows of each class

    std::size_t n_words() const { return starts.back(); }
    const Word* of(std::size_t view) const { return words.data() + view * n_words(); }
};

/// What is known of a row set.
struct Known {
    Loss bound = 0;
    FoundTree tree;  // that reaches it, if it has nodes
};

}  // namespace

struct PackedSearch::Engine {
    Engine(const Table& table, Loss leaf_price, Budget& budget, int depth)
        : n_views(table.n_views),
          n_classes(table.n_classes),
          price(leaf_price),
          budget(budget),
          known(static_cast<std::size_t>(depth) + 1),
          recent(static_cast<std::size_t>(depth) + 1) {
        pack(table);
    }

    void pack(const Table& table) {
        std::vector<std::vector<std::size_t>> by_class(n_classes);
        for (std::size_t row = 0; row < table.n_rows; ++row)
            by_class[static_cast<std::size_t>(table.labels[row])].insert(
                by_class[static_cast<std::size_t>(table.labels[row])].end(),
                static_cast<std::size_t>(table.weight(row)), row);
        root.starts.assign(1, 0);
        for (const auto& rows : by_class) {
            root.starts.push_back(root.starts.back() + (rows.size() + 63) / 64);
            root.counts.push_back(static_cast<Loss>(rows.size()));
        }
        root.words.assign(n_views * root.n_words(), 0);
        root.rows.assign(root.n_words(), 0);
        for (std::size_t k = 0; k < n_classes; ++k)
            for (std::size_t i = 0; i < by_class[k].size(); ++i) {
                const std::size_t word = root.starts[k] + i / 64;
                const Word bit = Word{1} << (i % 64);
                root.rows[word] |= bit;
                for (std::size_t view = 0; view < n_views; ++view)
                    if (table.codes_of(view)[by_class[k][i]] != 0)
                        root.words[view * root.n_words() + word] |= bit;
            }
    }

    Loss leaf_loss(const std::vector<Loss>& counts) const {
        return std::accumulate(counts.begin(), counts.end(), Loss{0}) -
               *std::max_element(counts.begin(), counts.end());
    }

    /// The least loss of trees of so many levels, or a bound of at least `target`. A tree comes with it if
    /// its loss is below.
    Known solve(const Node& node, int depth, Loss target) {
        const Loss leaf = leaf_loss(node.counts) + price;
        if (depth == 0 || leaf <= 2 * price || leaf == price) return {leaf, {leaf, {TreeNode{}}}};
        if (depth == 1) return solve_stump(node, leaf);
        if (budget.is_spent()) return {};
        Loss bound = 0;
        if (const auto found = known[static_cast<std::size_t>(depth)].find(node.rows);
            found != known[static_cast<std::size_t>(depth)].end()) {
            if (!found->second.tree.nodes.empty() || found->second.bound >= target) return found->second;
            bound = found->second.bound;
        }
        bound = std::max(bound, bound_by_others(node, depth));
        if (bound >= target) return {bound, {}};
        budget.work(1);
        Known out = depth == 2 ? solve_pairs(node, leaf) : solve_deep(node, depth, leaf, target);
        out.bound = std::max(out.bound, std::min(bound, out.tree.nodes.empty() ? bound : out.tree.loss));
        remember(node, depth, out);
        return out;
    }

    // --- one level, and two ---

    TREEWRIGHT_BIT_COUNTS void count_views(const Node& node) {
        singles.resize(n_views * n_classes);
        live.clear();
        for (std::size_t view = 0; view < n_views; ++view) {
            const Word* const bits = node.of(view);
            Loss all = 0, n = 0;
            for (std::size_t k = 0; k < n_classes; ++k) {
                Loss count = 0;
                for (std::size_t word = node.starts[k]; word < node.starts[k + 1]; ++word)
                    count += std::popcount(bits[word]);
                singles[view * n_classes + k] = count;
                all += count;
                n += node.counts[k];
            }
            if (all > 0 && all < n) live.push_back(view);
        }
    }
    /// The loss of rows whose counts are given by class.
    template <class Count>
    Loss loss_of(Count count) const {
        Loss all = 0, most = 0;
        for (std::size_t k = 0; k < n_classes; ++k) {
            const Loss own = count(k);
            all += own;
            most = std::max(most, own);
        }
        return all - most;
    }

    Known solve_stump(const Node& node, Loss leaf) {
        count_views(node);
        Known out{leaf, {leaf, {TreeNode{}}}};
        for (const std::size_t view : live) {
            const Loss* const ones = singles.data() + view * n_classes;
            const Loss loss = 2 * price + loss_of([&](std::size_t k) { return ones[k]; }) +
                              loss_of([&](std::size_t k) { return node.counts[k] - ones[k]; });
            if (loss < out.bound) out = {loss, {loss, {{static_cast<std::int32_t>(view), 0}, {}, {}}}};
        }
        return out;
    }

    /// The best stumps of both sides of every first view.
    struct Sides {
        Loss loss[2];  // of rows without the view's bit, and with it
        std::int32_t view[2];
    };
    TREEWRIGHT_BIT_COUNTS Known solve_pairs(const Node& node, Loss leaf) {
        count_views(node);
        sides.resize(n_views);
        for (const std::size_t view : live) {
            const Loss* const ones = singles.data() + view * n_classes;
            sides[view] = {{loss_of([&](std::size_t k) { return node.counts[k] - ones[k]; }) + price,
                            loss_of([&](std::size_t k) { return ones[k]; }) + price},
                           {-1, -1}};
        }
        if (n_classes == 2)
            try_pairs<2>(node);
        else
            try_pairs<0>(node);
        Known out{leaf, {leaf, {TreeNode{}}}};
        std::size_t best = n_views;
        for (const std::size_t view : live)
            if (const Loss loss = sides[view].loss[0] + sides[view].loss[1]; loss < out.bound) {
                out.bound = loss;
                best = view;
            }
        if (best == n_views) return out;
        out.tree = {out.bound, {{static_cast<std::int32_t>(best), 0}}};
        for (const std::int32_t view : sides[best].view) {
            if (view >= 0) out.tree.nodes.insert(out.tree.nodes.end(), {{view, 0}, {}});
            out.tree.nodes.push_back({});
        }
        return out;
    }
    template <std::size_t k>
    TREEWRIGHT_BIT_COUNTS void try_pairs(const Node& node) {
        for (std::size_t i = 0; i < live.size(); ++i)
            for (std::size_t j = i + 1; j < live.size(); ++j) {
                const std::size_t one = live[i], other = live[j];
                const Word *const a = node.of(one), *const b = node.of(other);
                const Loss *const ones = singles.data() + one * n_classes, *const others = singles.data() +
                                                                                           other * n_classes;
                Loss all[4] = {0, 0, 0, 0}, most[4] = {0, 0, 0, 0};  // by the bits of both views
                for (std::size_t c = 0; c < (k > 0 ? k : n_classes); ++c) {
                    Loss both = 0;
                    for (std::size_t word = node.starts[c]; word < node.starts[c + 1]; ++word)
                        both += std::popcount(a[word] & b[word]);
                    const Loss cell[4] = {node.counts[c] - ones[c] - others[c] + both, others[c] - both,
                                          ones[c] - both, both};
                    for (int q = 0; q < 4; ++q) {
                        all[q] += cell[q];
                        most[q] = std::max(most[q], cell[q]);
                    }
                }
                Loss loss[4];
                for (int q = 0; q < 4; ++q) loss[q] = all[q] - most[q] + price;  // of a leaf
                take(one, other, loss[0] + loss[1], loss[2] + loss[3]);
                take(other, one, loss[0] + loss[2], loss[1] + loss[3]);
            }
    }
    void take(std::size_t first, std::size_t second, Loss without, Loss with) {
        Sides& own = sides[first];
        const auto view = static_cast<std::int32_t>(second);
        if (without < own.loss[0]) {
            own.loss[0] = without;
            own.view[0] = view;
        }
        if (with < own.loss[1]) {
            own.loss[1] = with;
            own.view[1] = view;
        }
    }

    // --- three levels and more ---

    /// The rows of a node that have a view's bit, or those that have not.
    TREEWRIGHT_BIT_COUNTS void divide(const Node& node, std::size_t view, bool with, Node& out) const {
        const std::size_t n = node.n_words();
        Bits keep(n);
        out.starts.assign(1, 0);
        out.counts.assign(n_classes, 0);
        for (std::size_t k = 0; k < n_classes; ++k) {
            Loss count = 0;
            for (std::size_t word = node.starts[k]; word < node.starts[k + 1]; ++word) {
                keep[word] = with ? node.of(view)[word] : valid(node, k, word) & ~node.of(view)[word];
                count += std::popcount(keep[word]);
            }
            out.counts[k] = count;
            out.starts.push_back(out.starts.back() + static_cast<std::size_t>(count + 63) / 64);
        }
        const std::size_t m = out.n_words();
        out.words.assign(n_views * m, 0);
        for (std::size_t each = 0; each < n_views; ++each)
            for (std::size_t k = 0; k < n_classes; ++k)
                draw(node.of(each), keep, node.starts[k], node.starts[k + 1],
                     out.words.data() + each * m + out.starts[k]);
        out.rows.resize(root.n_words());
        const Word* const bits = root.of(view);
        for (std::size_t word = 0; word < out.rows.size(); ++word)
            out.rows[word] = node.rows[word] & (with ? bits[word] : ~bits[word]);
    }
    TREEWRIGHT_BIT_COUNTS static void draw(const Word* bits, const Bits& keep, std::size_t first,
                                           std::size_t last, Word* out) {
        std::size_t filled = 0;
        for (std::size_t word = first; word < last; ++word) {
            const Word mask = keep[word];
            const Word drawn = drawn_bits(bits[word], mask);
            const std::size_t n = static_cast<std::size_t>(std::popcount(mask)), shift = filled % 64;
            if (n == 0) continue;
            out[filled / 64] |= drawn << shift;
            if (shift + n > 64) out[filled / 64 + 1] |= drawn >> (64 - shift);
            filled += n;
        }
    }
    /// The bits of a word that are rows.
    static Word valid(const Node& node, std::size_t k, std::size_t word) {
        const auto left = static_cast<std::size_t>(node.counts[k]) - 64 * (word - node.starts[k]);
        return left >= 64 ? ~Word{0} : (Word{1} << left) - 1;
    }

    /// Views by what their stumps lose, the best first: good trees early leave less to prove.
    std::vector<std::size_t> order_of(const Node& node) {
        count_views(node);
        std::vector<std::pair<Loss, std::size_t>> ranked;
        for (const std::size_t view : live) {
            const Loss* const ones = singles.data() + view * n_classes;
            ranked.emplace_back(loss_of([&](std::size_t k) { return ones[k]; }) +
                                    loss_of([&](std::size_t k) { return node.counts[k] - ones[k]; }),
                                view);
        }
        std::sort(ranked.begin(), ranked.end());
        std::vector<std::size_t> order;
        for (const auto& each : ranked) order.push_back(each.second);
        return order;
    }
    Known solve_deep(const Node& node, int depth, Loss leaf, Loss target) {
        Known out{0, {}};
        Loss limit = target, least = leaf;
        if (leaf < limit) {
            limit = leaf;
            out.tree = {leaf, {TreeNode{}}};
        }
        for (const std::size_t view : order_of(node)) {
            const Known tried = try_view(node, view, depth, limit);
            least = std::min(least, tried.bound);
            if (tried.tree.nodes.empty()) continue;
            limit = tried.tree.loss;
            out.tree = tried.tree;
        }
        out.bound = least;
        return out;
    }
    /// Trees that test a view first.
    Known try_view(const Node& node, std::size_t view, int depth, Loss target) {
        Node side[2];
        Loss bound[2];
        for (const int with : {0, 1}) {
            divide(node, view, with == 1, side[with]);
            bound[with] = bound_by_others(side[with], depth - 1);
        }
        if (bound[0] + bound[1] >= target) return {bound[0] + bound[1], {}};
        const int first = side[0].n_words() < side[1].n_words();
        Known found[2];
        for (const int with : {first, 1 - first}) {
            found[with] = solve(side[with], depth - 1, target - bound[1 - with]);
            bound[with] = std::max(bound[with], found[with].bound);
            if (bound[0] + bound[1] >= target || found[with].tree.nodes.empty())
                return {bound[0] + bound[1], {}};
        }
        Known out{bound[0] + bound[1],
                  {found[0].tree.loss + found[1].tree.loss, {{static_cast<std::int32_t>(view), 0}}}};
        for (const auto& each : found)
            out.tree.nodes.insert(out.tree.nodes.end(), each.tree.nodes.begin(), each.tree.nodes.end());
        return out;
    }

    /// What the last row sets of this depth lose at least, less what of them is not here.
    TREEWRIGHT_BIT_COUNTS Loss bound_by_others(const Node& node, int depth) const {
        Loss bound = 0;
        for (const auto& [rows, other] : recent[static_cast<std::size_t>(depth)]) {
            if (other <= bound) continue;
            Loss gone = 0;
            for (std::size_t word = 0; word < rows.size(); ++word)
                gone += std::popcount(rows[word] & ~node.rows[word]);
            bound = std::max(bound, other - gone);
        }
        return bound;
    }
    void remember(const Node& node, int depth, const Known& out) {
        constexpr std::size_t n_recent = 4;
        auto& last = recent[static_cast<std::size_t>(depth)];
        if (last.size() < n_recent)
            last.emplace_back(node.rows, out.bound);
        else
            last[next_recent++ % n_recent] = {node.rows, out.bound};
        bytes += static_cast<std::int64_t>(8 * node.rows.size() + 16 * out.tree.nodes.size() + 96);
        budget.hold(bytes);
        known[static_cast<std::size_t>(depth)].insert_or_assign(node.rows, out);
    }

    std::size_t n_views, n_classes;
    Loss price;
    Budget& budget;
    Node root;
    std::vector<std::unordered_map<Bits, Known, BitsHash>> known;  // by depth
    std::vector<std::vector<std::pair<Bits, Loss>>> recent;
    std::size_t next_recent = 0;
    std::int64_t bytes = 0;
    std::vector<Loss> singles;
    std::vector<std::size_t> live;
    std::vector<Sides> sides;
};

PackedSearch::PackedSearch(const Table& table, int depth, Loss leaf_price, Budget& budget, FoundTree first,
                           std::vector<Loss> root_bounds)
    : engine_(std::make_shared<Engine>(table, leaf_price, budget, depth)),
      best_(std::move(first)),
      root_bounds_(std::move(root_bounds)),
      depth_(depth) {
    order_ = engine_->order_of(engine_->root);
}

bool PackedSearch::step() {
    while (next_ < order_.size() && root_bounds_[order_[next_]] >= best_.loss) ++next_;
    if (next_ == order_.size()) return false;
    const std::size_t view = order_[next_];
    Known tried = engine_->try_view(engine_->root, view, depth_, best_.loss);
    root_bounds_[view] = std::max(root_bounds_[view], tried.bound);
    if (!tried.tree.nodes.empty() && tried.tree.loss < best_.loss) best_ = std::move(tried.tree);
    ++next_;
    return next_ < order_.size();
}

Facts PackedSearch::facts() const {
    Loss bound = best_.loss;
    for (const std::size_t view : order_) bound = std::min(bound, root_bounds_[view]);
    return {bound, best_.loss};
}

bool is_packable(const Table& table, std::size_t min_rows) {
    if (!has_bit_counts() || table.are_numbers() || table.has_gains() || min_rows > 1) return false;
    constexpr Loss most_copies = 16;  // of a row, on average
    Loss weight = 0;
    for (std::size_t row = 0; row < table.n_rows; ++row) weight += table.weight(row);
    if (weight > most_copies * static_cast<Loss>(table.n_rows)) return false;
    const std::size_t n = table.n_rows * table.n_views;
    return std::all_of(table.codes, table.codes + n, [](Code code) { return code <= 1; });
}

}  // namespace treewright::optimising
