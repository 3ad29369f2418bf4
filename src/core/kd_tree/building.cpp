// Builds a k-d tree. Each node reads its points in one place and writes its halves to another; a few large
// nodes are cut level by level, then their subtrees are built side by side.
#include <atomic>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "kd_tree/cutting.hpp"
#include "kd_tree/kd_tree.hpp"
#include "support/elementary.hpp"

namespace treewright {

namespace {

constexpr std::uint32_t guest = std::uint32_t{1} << 31;  // in an index while a tree is built
constexpr std::size_t most_points = guest - 1;
constexpr std::uint32_t nobody = std::numeric_limits<std::uint32_t>::max();

/// Room for points and which they are.
template <class T>
struct Room {
    T* values = nullptr;
    std::uint32_t* index = nullptr;

    Room after(std::size_t n, std::size_t n_columns) const { return {values + n * n_columns, index + n}; }
};

template <class T>
struct OwnedRoom {
    OwnedRoom(std::size_t n, std::size_t n_columns) : values(n * n_columns), index(n) {}
    Uninitialised<T> values;
    Uninitialised<std::uint32_t> index;
    Room<T> room() { return {values.data(), index.data()}; }
};

std::string too_many_copies(const KDOptions& options) {
    return "spill=" + std::to_string(options.spill) + " with leaf_size=" + std::to_string(options.leaf_size) +
           " would keep more than " + std::to_string(most_points) +
           " copies of points; take a smaller spill or a larger leaf_size";
}

/// How deep a tree may become: more than twice as deep as halves make it. Where nearly all points are equal
/// in nearly all columns, cuts part a few points at a time, and a tree without an end takes time without an
/// end.
std::size_t most_depth(std::size_t n_points, double spill) {
    const double halvings = 2.0 * elementary::log2(static_cast<double>(n_points)) + 16.0;
    return static_cast<std::size_t>(halvings / -elementary::log2(0.5 + spill));
}

/// A node to come.
template <class T>
struct Pending {
    Rows<T> rows;
    Room<T> spare;          // for its halves; in a spill tree they need more room and get their own
    std::size_t place = 0;  // its first point, in the order of the leaves (not in a spill tree)
    std::uint32_t depth = 0;
    std::uint32_t parent = nobody;
    bool is_left = false;
    std::shared_ptr<OwnedRoom<T>> owner = nullptr;  // of the rows, in a spill tree
};

template <class T>
struct Subtree {
    std::vector<KDNode<T>> nodes;
    std::vector<KDLeaf> leaves;
    std::vector<T> coordinates;  // these two in a spill tree; others know their places (and use one to copy)
    std::vector<std::uint32_t> index;
    std::size_t depth = 0;
};

/// A node of the top of the tree: with two children, or with the number of a subtree.
template <class T>
struct Top {
    KDNode<T> node{};
    std::uint32_t left = nobody, right = nobody, subtree = nobody;
};

template <class T, std::size_t Fixed>
class Builder {
  public:
    Builder(const T* points, std::size_t n_points, std::size_t n_columns, const KDOptions& options,
            Pool& pool, Interrupt& interrupt)
        : options_(options),
          pool_(pool),
          interrupt_(interrupt),
          room_(n_points, n_columns),
          most_depth_(most_depth(n_points, options.spill)) {
        tree_.n_points = n_points;
        tree_.n_columns = n_columns;
        look_at_all(points);
        final_ = room_.room();
    }

    KDTree<T> build(const T* points) {
        const std::size_t n = tree_.n_points;
        Pending<T> root{{points, final_.index, n}, {}};
        std::optional<OwnedRoom<T>> other;
        if (!spills()) root.spare = other.emplace(n, n_columns()).room();
        std::vector<Pending<T>> tasks = cut_top(std::move(root));
        std::vector<Subtree<T>> subtrees(tasks.size());
        pool_.run(tasks.size(),
                  [&](std::size_t task, std::size_t) { subtrees[task] = grow(std::move(tasks[task])); });
        assemble(std::move(subtrees));
        return std::move(tree_);
    }

  private:
    std::size_t n_columns() const { return Fixed ? Fixed : tree_.n_columns; }
    bool spills() const { return options_.spill > 0; }
    Cutter<T, Fixed> cutter() const { return {n_columns(), options_.rule}; }

    /// The box around all points; numbers them.
    void look_at_all(const T* points) {
        constexpr std::size_t portion = 1 << 14;
        const std::size_t n = tree_.n_points, d = n_columns(), n_portions = (n + portion - 1) / portion;
        std::vector<std::vector<T>> low(n_portions), high(n_portions);
        std::uint32_t* index = room_.index.data();
        in_portions(n, portion, pool_, [&](std::size_t first, std::size_t last, std::size_t task) {
            for (std::size_t i = first; i < last; ++i) index[i] = static_cast<std::uint32_t>(i);
            low[task].assign(points + first * d, points + (first + 1) * d);
            high[task] = low[task];
            cutter().widen(points + first * d, last - first, low[task].data(), high[task].data());
        });
        tree_.lowest = low[0];
        tree_.highest = high[0];
        for (std::size_t task = 1; task < n_portions; ++task)
            for (std::size_t c = 0; c < d; ++c) {
                tree_.lowest[c] = std::min(tree_.lowest[c], low[task][c]);
                tree_.highest[c] = std::max(tree_.highest[c], high[task][c]);
            }
    }

    /// Cuts large nodes level by level; what is left are tasks, one for each thread several times.
    std::vector<Pending<T>> cut_top(Pending<T>&& root) {
        const std::size_t n = tree_.n_points;
        const std::size_t grain = pool_.size() == 1 ? n : std::max<std::size_t>(8192, n / (8 * pool_.size()));
        std::vector<Pending<T>> tasks, level;
        level.push_back(std::move(root));
        tops_.resize(1);
        std::vector<std::uint32_t> place{0};  // of each node of the level among the tops
        while (!level.empty()) {
            std::vector<std::optional<std::pair<Pending<T>, Pending<T>>>> halves(level.size());
            pool_.run(level.size(), [&](std::size_t i, std::size_t) {
                if (level[i].rows.n <= grain) return;
                Cutter<T, Fixed> cutter = this->cutter();
                if (const auto cut = decide(cutter, level[i])) {
                    tops_[place[i]].node = {cut->at, {}, static_cast<std::uint32_t>(cut->column), 0};
                    halves[i] = divide(cutter, level[i], *cut);
                }
            });
            std::vector<Pending<T>> next;
            std::vector<std::uint32_t> next_place;
            for (std::size_t i = 0; i < level.size(); ++i) {
                if (!halves[i]) {
                    tops_[place[i]].subtree = static_cast<std::uint32_t>(tasks.size());
                    tasks.push_back(std::move(level[i]));
                    continue;
                }
                for (Pending<T>* half : {&halves[i]->first, &halves[i]->second}) {
                    const auto number = static_cast<std::uint32_t>(tops_.size());
                    (half->is_left ? tops_[place[i]].left : tops_[place[i]].right) = number;
                    if (half->is_left)
                        tops_[place[i]].node.low = highest_at_home(half->rows, tops_[place[i]].node.column);
                    half->parent = nobody;
                    tops_.emplace_back();
                    next_place.push_back(number);
                    next.push_back(std::move(*half));
                }
            }
            level = std::move(next);
            place = std::move(next_place);
        }
        return tasks;
    }

    Subtree<T> grow(Pending<T>&& start) {
        Subtree<T> grown;
        Cutter<T, Fixed> cutter = this->cutter();
        std::vector<Pending<T>> waiting;
        waiting.push_back(std::move(start));
        while (!waiting.empty()) {
            if (grown.nodes.size() % 64 == 0) interrupt_.check();
            const Pending<T> here = std::move(waiting.back());
            waiting.pop_back();
            const auto node = static_cast<std::uint32_t>(grown.nodes.size());
            grown.depth = std::max<std::size_t>(grown.depth, here.depth);
            const auto cut = decide(cutter, here);
            if (here.parent != nobody) {
                KDNode<T>& parent = grown.nodes[here.parent];
                if (!here.is_left)
                    parent.right = node;
                else if (cut && !spills())
                    parent.low = cutter.highest(parent.column);
                else
                    parent.low = highest_at_home(here.rows, parent.column);
            }
            if (!cut) {
                grown.nodes.push_back({{}, {}, no_column, static_cast<std::uint32_t>(grown.leaves.size())});
                add_leaf(grown, here);
                continue;
            }
            grown.nodes.push_back({cut->at, {}, static_cast<std::uint32_t>(cut->column), 0});
            auto [left, right] = divide(cutter, here, *cut);
            left.parent = right.parent = node;
            waiting.push_back(std::move(right));
            waiting.push_back(std::move(left));
        }
        return grown;
    }

    /// Where to cut a node, unless it is a leaf: small, or of equal points, or deep below cuts that part next
    /// to nothing.
    std::optional<Cut<T>> decide(Cutter<T, Fixed>& cutter, const Pending<T>& here) const {
        if (here.rows.n <= options_.leaf_size || here.depth >= most_depth_) return std::nullopt;
        if (here.depth == 0)
            cutter.set_box(tree_.lowest.data(), tree_.highest.data());
        else
            cutter.look(here.rows);
        const std::size_t column = cutter.choose(here.depth);
        if (column == no_column) return std::nullopt;
        return cutter.cut(here.rows, column);
    }

    std::pair<Pending<T>, Pending<T>> divide(Cutter<T, Fixed>& cutter, const Pending<T>& here,
                                             const Cut<T>& cut) const {
        if (spills()) return divide_with_guests(cutter, here, cut);
        const std::size_t d = n_columns(), n = here.rows.n;
        std::size_t n_left = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const T* row = here.rows.values + i * d;
            const std::size_t goes_left = row[cut.column] < cut.at, right = cut.n_left + i - n_left;
            const std::size_t to = right ^ ((right ^ n_left) & (0 - goes_left));  // chosen without a branch
            for (std::size_t c = 0; c < d; ++c) here.spare.values[to * d + c] = row[c];
            here.spare.index[to] = here.rows.index[i];
            n_left += goes_left;
        }
        const Room<T> right = here.spare.after(n_left, d);
        // what was read makes room for the next halves; the table itself is never written to
        const Room<T> freed = here.depth == 0 ? final_
                                              : Room<T>{const_cast<T*>(here.rows.values),
                                                        const_cast<std::uint32_t*>(here.rows.index)};
        return halves(here, {here.spare.values, here.spare.index, cut.n_left}, freed,
                      {right.values, right.index, n - cut.n_left}, freed.after(cut.n_left, d),
                      here.place + cut.n_left, nullptr);
    }

    /// A half takes over those points beyond the cut whose rank is less than a share `spill` of the node away
    /// from the middle. Each half leaves some point out, also where many values are equal.
    std::pair<Pending<T>, Pending<T>> divide_with_guests(Cutter<T, Fixed>& cutter, const Pending<T>& here,
                                                         const Cut<T>& cut) const {
        const std::size_t d = n_columns(), n = here.rows.n;
        const T* column = here.rows.values + cut.column;
        const auto size = static_cast<double>(n);
        const T above = cutter.value_at(column, n, static_cast<std::size_t>((0.5 - options_.spill) * size));
        const T below = cutter.value_at(column, n, static_cast<std::size_t>((0.5 + options_.spill) * size));
        std::size_t n_left = 0, n_right = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const T x = column[i * d];
            n_left += x < cut.at || x < below;
            n_right += x >= cut.at || x > above;
        }
        auto owner = std::make_shared<OwnedRoom<T>>(n_left + n_right, d);
        const Room<T> left = owner->room(), right = left.after(n_left, d);
        Room<T> to_left = left, to_right = right;
        const auto put = [d](Room<T>& room, const T* row, std::uint32_t index) {
            std::copy_n(row, d, room.values);
            *room.index = index;
            room = room.after(1, d);
        };
        for (std::size_t i = 0; i < n; ++i) {
            const T* row = here.rows.values + i * d;
            const T x = row[cut.column];
            const std::uint32_t index = here.rows.index[i];
            if (x < cut.at || x < below) put(to_left, row, x < cut.at ? index : index | guest);
            if (x >= cut.at || x > above) put(to_right, row, x >= cut.at ? index : index | guest);
        }
        return halves(here, {left.values, left.index, n_left}, {}, {right.values, right.index, n_right}, {},
                      0, owner);
    }

    static std::pair<Pending<T>, Pending<T>> halves(const Pending<T>& here, Rows<T> left, Room<T> left_spare,
                                                    Rows<T> right, Room<T> right_spare, std::size_t place,
                                                    const std::shared_ptr<OwnedRoom<T>>& owner) {
        return {{left, left_spare, here.place, here.depth + 1, nobody, true, owner},
                {right, right_spare, place, here.depth + 1, nobody, false, owner}};
    }

    T highest_at_home(const Rows<T>& rows, std::size_t column) const {
        const std::size_t d = n_columns();
        T highest = -std::numeric_limits<T>::infinity();
        for (std::size_t i = 0; i < rows.n; ++i) {
            const T x = rows.values[i * d + column];
            highest = x > highest && (rows.index[i] & guest) == 0 ? x : highest;
        }
        return highest;
    }

    void add_leaf(Subtree<T>& grown, const Pending<T>& here) {
        const std::size_t n = here.rows.n, d = n_columns();
        if (spills()) {
            add_leaf_with_guests(grown, here);
            return;
        }
        T* coordinates = final_.values + here.place * d;
        const T* values = here.rows.values;
        if (values == coordinates) {
            grown.coordinates.assign(values, values + n * d);
            values = grown.coordinates.data();
        } else {
            std::copy_n(here.rows.index, n, final_.index + here.place);
        }
        for (std::size_t c = 0; c < d; ++c)
            for (std::size_t i = 0; i < n; ++i) coordinates[c * n + i] = values[i * d + c];
        const auto size = static_cast<std::uint32_t>(n);
        grown.leaves.push_back({static_cast<std::uint32_t>(here.place), size, size});
    }

    void add_leaf_with_guests(Subtree<T>& grown, const Pending<T>& here) {
        const std::size_t n = here.rows.n, d = n_columns(), begin = grown.index.size();
        if (copies_.fetch_add(n) + n > most_points) throw std::invalid_argument(too_many_copies(options_));
        std::vector<std::uint32_t> order(n);
        for (std::size_t i = 0; i < n; ++i) order[i] = static_cast<std::uint32_t>(i);
        const auto end_of_home = std::stable_partition(
            order.begin(), order.end(), [&](std::uint32_t i) { return (here.rows.index[i] & guest) == 0; });
        for (std::size_t c = 0; c < d; ++c)
            for (const std::uint32_t i : order) grown.coordinates.push_back(here.rows.values[i * d + c]);
        for (const std::uint32_t i : order) grown.index.push_back(here.rows.index[i] & ~guest);
        grown.leaves.push_back({static_cast<std::uint32_t>(begin),
                                static_cast<std::uint32_t>(end_of_home - order.begin()),
                                static_cast<std::uint32_t>(n)});
    }

    /// Puts the top and the subtrees into preorder.
    void assemble(std::vector<Subtree<T>>&& subtrees) {
        std::vector<std::uint32_t> waiting{0};
        std::vector<std::uint32_t> parents{nobody};  // whose right child it is
        std::size_t n_stored = 0;
        for (const auto& subtree : subtrees) n_stored += subtree.index.size();
        OwnedRoom<T> spilled(spills() ? n_stored : 0, n_columns());
        std::size_t place = 0;
        while (!waiting.empty()) {
            Top<T>& top = tops_[waiting.back()];
            const std::uint32_t parent = parents.back();
            waiting.pop_back();
            parents.pop_back();
            const auto node = static_cast<std::uint32_t>(tree_.nodes.size());
            if (parent != nobody) tree_.nodes[parent].right = node;
            if (top.subtree != nobody) {
                Subtree<T>& subtree = subtrees[top.subtree];
                append(subtree, place);
                if (!spills()) continue;
                std::copy(subtree.index.begin(), subtree.index.end(), spilled.index.data() + place);
                std::copy(subtree.coordinates.begin(), subtree.coordinates.end(),
                          spilled.values.data() + place * n_columns());
                place += subtree.index.size();
                continue;
            }
            tree_.nodes.push_back(top.node);
            waiting.push_back(top.right);
            parents.push_back(node);
            waiting.push_back(top.left);
            parents.push_back(nobody);
        }
        OwnedRoom<T>& kept = spills() ? spilled : room_;
        tree_.coordinates = std::move(kept.values);
        tree_.index = std::move(kept.index);
    }

    void append(Subtree<T>& subtree, std::size_t place) {
        tree_.depth = std::max(tree_.depth, subtree.depth);
        if (tree_.nodes.empty()) {
            tree_.nodes = std::move(subtree.nodes);
            tree_.leaves = std::move(subtree.leaves);
            return;
        }
        const auto first_node = static_cast<std::uint32_t>(tree_.nodes.size());
        const auto first_leaf = static_cast<std::uint32_t>(tree_.leaves.size());
        for (KDNode<T> node : subtree.nodes) {
            node.right += node.column == no_column ? first_leaf : first_node;
            tree_.nodes.push_back(node);
        }
        for (KDLeaf leaf : subtree.leaves) {
            if (spills()) leaf.begin += static_cast<std::uint32_t>(place);
            tree_.leaves.push_back(leaf);
        }
    }

    KDOptions options_;
    Pool& pool_;
    Interrupt& interrupt_;
    KDTree<T> tree_;
    OwnedRoom<T> room_;
    std::size_t most_depth_;
    Room<T> final_;  // where the points of the leaves come to lie
    std::vector<Top<T>> tops_;
    std::atomic<std::size_t> copies_{0};
};

/// How many points the leaves of a spill tree hold, more or less.
double expected_copies(std::size_t n_points, const KDOptions& options) {
    auto size = static_cast<double>(n_points);
    double n_nodes = 1;
    for (; size > static_cast<double>(options.leaf_size) && size * n_nodes < 1e12; n_nodes *= 2)
        size *= 0.5 + options.spill;
    return size * n_nodes;
}

}  // namespace

template <class T>
void refuse_not_finite(const T* rows, std::size_t n_rows, std::size_t n_columns, Pool& pool) {
    constexpr std::size_t portion = 1 << 16;
    const std::size_t n = n_rows * n_columns;
    constexpr T most = std::numeric_limits<T>::max();
    std::vector<std::uint8_t> is_bad((n + portion - 1) / portion);
    in_portions(n, portion, pool, [&](std::size_t first, std::size_t last, std::size_t task) {
        bool all_finite = true;
        for (std::size_t i = first; i < last; ++i) all_finite &= std::abs(rows[i]) <= most;
        is_bad[task] = !all_finite;
    });
    const auto bad = std::find(is_bad.begin(), is_bad.end(), 1);
    if (bad == is_bad.end()) return;
    std::size_t i = (bad - is_bad.begin()) * portion;
    while (std::isfinite(rows[i])) ++i;
    throw NotFinite(i / n_columns, i % n_columns);
}

template <class T>
KDTree<T> build_kd_tree(const T* points, std::size_t n_points, std::size_t n_columns,
                        const KDOptions& options, Pool& pool, Interrupt& interrupt) {
    if (n_points > most_points) throw std::invalid_argument("a k-d tree takes fewer than 2**31 points");
    if (options.spill > 0 && expected_copies(n_points, options) > static_cast<double>(most_points))
        throw std::invalid_argument(too_many_copies(options));
    return with_few_columns(n_columns, [&](auto fixed) {
        return Builder<T, fixed.value>(points, n_points, n_columns, options, pool, interrupt).build(points);
    });
}

template void refuse_not_finite(const float*, std::size_t, std::size_t, Pool&);
template void refuse_not_finite(const double*, std::size_t, std::size_t, Pool&);
template KDTree<float> build_kd_tree(const float*, std::size_t, std::size_t, const KDOptions&, Pool&,
                                     Interrupt&);
template KDTree<double> build_kd_tree(const double*, std::size_t, std::size_t, const KDOptions&, Pool&,
                                      Interrupt&);

}  // namespace treewright
