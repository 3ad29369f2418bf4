// Queries go in the order of the leaves they fall into: neighbours need the same points, which are in cache.
#include "kd_tree/searching.hpp"

#include <numeric>

#include "kd_tree/walking.hpp"

namespace treewright {

namespace {

/// How many queries one thread takes at once.
std::size_t portion_of(std::size_t n_queries, const Pool& pool) {
    return std::clamp<std::size_t>(n_queries / (8 * pool.size()), 1, 256);
}

/// The leaves of some queries, which go down together, step by step: none waits for another's line of cache.
template <class T>
void go_down(const KDTree<T>& tree, const double* queries, std::size_t n, std::uint32_t* node) {
    std::fill_n(node, n, 0u);
    for (bool any = true; any;) {
        any = false;
        for (std::size_t i = 0; i < n; ++i) {
            const KDNode<T>& here = tree.nodes[node[i]];
            if (here.column == no_column) continue;
            const std::uint32_t goes_left = queries[i * tree.n_columns + here.column] < here.cut;
            node[i] = here.right ^ ((here.right ^ (node[i] + 1)) & (0 - goes_left));
            any = true;
        }
    }
    for (std::size_t i = 0; i < n; ++i) node[i] = tree.nodes[node[i]].right;
}

/// The numbers of the queries, ordered by their leaves.
template <class T>
std::vector<std::uint32_t> in_order_of_leaves(const KDTree<T>& tree, const KDQueries& queries, Pool& pool) {
    std::vector<std::uint32_t> order(queries.n);
    if (queries.n < 64 || tree.leaves.size() == 1) {
        std::iota(order.begin(), order.end(), 0u);
        return order;
    }
    std::vector<std::uint32_t> leaf(queries.n), start(tree.leaves.size() + 1);
    in_portions(queries.n, 256, pool, [&](std::size_t first, std::size_t last, std::size_t) {
        go_down(tree, queries.values + first * tree.n_columns, last - first, leaf.data() + first);
    });
    for (const std::uint32_t each : leaf) ++start[each + 1];
    std::partial_sum(start.begin(), start.end(), start.begin());
    for (std::size_t i = 0; i < queries.n; ++i) order[start[leaf[i]]++] = static_cast<std::uint32_t>(i);
    return order;
}

/// The k nearest among all points of the smallest node around a query that holds so many.
template <class T, class Metric>
class Climber {
  public:
    Climber(const KDTree<T>& tree, const Metric& metric) : tree_(tree), metric_(metric) {}

    const std::vector<Candidate>& find(const double* query, std::size_t k) {
        way_.clear();
        for (std::uint32_t node = 0;;) {
            way_.push_back(node);
            const KDNode<T>& here = tree_.nodes[node];
            if (here.column == no_column) break;
            node = query[here.column] < here.cut ? node + 1 : here.right;
        }
        do {
            collect(way_.back(), query);
            way_.pop_back();
        } while (found_.size() < k);
        return found_;
    }

  private:
    void collect(std::uint32_t node, const double* query) {
        std::uint32_t first = node, last = node;
        while (tree_.nodes[first].column != no_column) ++first;
        while (tree_.nodes[last].column != no_column) last = tree_.nodes[last].right;
        found_.clear();
        for (std::uint32_t leaf = tree_.nodes[first].right; leaf <= tree_.nodes[last].right; ++leaf)
            add(tree_.leaves[leaf], query);
        std::sort(found_.begin(), found_.end());
        found_.erase(std::unique(found_.begin(), found_.end()), found_.end());  // guests are there twice
    }
    void add(const KDLeaf& leaf, const double* query) {
        const T* block = tree_.coordinates.data() + leaf.begin * tree_.n_columns;
        for (std::size_t i = 0; i < leaf.size; ++i) {
            double sum = 0;
            for (std::size_t c = 0; c < tree_.n_columns; ++c)
                sum = metric_.join(sum, metric_.term(query[c] - block[c * leaf.size + i]));
            found_.push_back({sum, tree_.index[leaf.begin + i]});
        }
    }

    const KDTree<T>& tree_;
    [[no_unique_address]] const Metric metric_;
    std::vector<std::uint32_t> way_;
    std::vector<Candidate> found_;
};

template <class T, class Metric, std::size_t Fixed, class Keeper>
void find_nearest_by(const KDTree<T>& tree, const KDQueries& queries, const Metric& metric, std::size_t k,
                     bool is_defeatist, Pool& pool, Interrupt& interrupt, Nearest& nearest) {
    const auto order = in_order_of_leaves(tree, queries, pool);
    const std::size_t portion = portion_of(queries.n, pool);
    in_portions(queries.n, portion, pool, [&](std::size_t first, std::size_t last, std::size_t) {
        interrupt.check();
        Walker<T, Metric, Fixed> walker(tree, metric, interrupt);
        Climber<T, Metric> climber(tree, metric);
        Keeper keeper(k, slack_of(tree));
        for (std::size_t i = first; i < last; ++i) {
            const std::size_t query = order[i];
            const double* values = queries.values + query * tree.n_columns;
            const Candidate* found = nullptr;
            keeper.begin();
            if (!is_defeatist) {
                walker.find(values, keeper);
                found = keeper.in_order();
                nearest.visited[query] = walker.visited();
            } else if (const KDLeaf& leaf = tree.leaves[leaf_of(tree, values)]; leaf.size >= k) {
                walker.scan(leaf, leaf.size, values, keeper);
                found = keeper.in_order();
                nearest.visited[query] = leaf.size;
            } else {
                interrupt.check();
                const auto& all = climber.find(values, k);
                found = all.data();
                nearest.visited[query] = std::ssize(all);
            }
            for (std::size_t j = 0; j < k; ++j) {
                nearest.distance[query * k + j] = metric.root(found[j].sum);
                nearest.index[query * k + j] = found[j].index;
            }
        }
    });
}

/// What one portion of queries has found: candidates, and how many there are for each.
struct Portion {
    std::vector<Candidate> found;
    std::vector<std::size_t> n;
};

template <class Keeper, class T, class Metric, std::size_t Fixed>
std::vector<Portion> find_portions(const KDTree<T>& tree, const KDQueries& queries, const Metric& metric,
                                   const double* radius, const std::vector<std::uint32_t>& order,
                                   bool in_order, Pool& pool, Interrupt& interrupt) {
    const std::size_t portion = portion_of(queries.n, pool);
    std::vector<Portion> portions((queries.n + portion - 1) / portion);
    in_portions(queries.n, portion, pool, [&](std::size_t first, std::size_t last, std::size_t task) {
        interrupt.check();
        Walker<T, Metric, Fixed> walker(tree, metric, interrupt);
        Keeper keeper(slack_of(tree));
        for (std::size_t i = first; i < last; ++i) {
            const std::size_t before = keeper.size(), query = order[i];
            keeper.begin(metric.power(radius[query]));
            walker.find(queries.values + query * tree.n_columns, keeper);
            portions[task].n.push_back(keeper.size() - before);
            if constexpr (requires { keeper.found; }) {
                if (in_order) std::sort(keeper.found.begin() + before, keeper.found.end());
            }
        }
        if constexpr (requires { keeper.found; }) portions[task].found = std::move(keeper.found);
    });
    return portions;
}

template <class T, class Metric, std::size_t Fixed>
Within find_within_by(const KDTree<T>& tree, const KDQueries& queries, const Metric& metric,
                      const double* radius, bool only_count, bool in_order, Pool& pool,
                      Interrupt& interrupt) {
    const auto order = in_order_of_leaves(tree, queries, pool);
    auto portions = only_count ? find_portions<CountWithin, T, Metric, Fixed>(
                                     tree, queries, metric, radius, order, in_order, pool, interrupt)
                               : find_portions<AllWithin, T, Metric, Fixed>(tree, queries, metric, radius,
                                                                            order, in_order, pool, interrupt);
    Within within;
    within.start.resize(queries.n + 1);
    const std::size_t portion = portion_of(queries.n, pool);
    for (std::size_t i = 0; i < queries.n; ++i)
        within.start[order[i] + 1] = portions[i / portion].n[i % portion];
    std::partial_sum(within.start.begin(), within.start.end(), within.start.begin());
    if (only_count) return within;
    within.distance.resize(within.start.back());
    within.index.resize(within.distance.size());
    in_portions(queries.n, portion, pool, [&](std::size_t first, std::size_t last, std::size_t task) {
        const Candidate* found = portions[task].found.data();
        for (std::size_t i = first; i < last; ++i) {
            std::size_t place = within.start[order[i]];
            for (std::size_t j = 0; j < portions[task].n[i - first]; ++j, ++place, ++found) {
                within.distance[place] = metric.root(found->sum);
                within.index[place] = found->index;
            }
        }
        portions[task] = {};
    });
    return within;
}

/// Calls work with the metric and the number of columns as types: Euclid's few columns have their own code.
template <class Work>
decltype(auto) with_types(KDMetric metric, std::size_t n_columns, Work&& work) {
    return std::visit(
        [&]<class Metric>(Metric each) {
            if constexpr (std::is_same_v<Metric, Euclidean>)
                return with_few_columns(n_columns, [&](auto fixed) { return work(each, fixed); });
            else
                return work(each, std::integral_constant<std::size_t, 0>{});
        },
        metric);
}

}  // namespace

template <class T>
Nearest find_nearest(const KDTree<T>& tree, const KDQueries& queries, std::size_t k, bool is_defeatist,
                     Pool& pool, Interrupt& interrupt) {
    Nearest nearest;
    nearest.distance.resize(queries.n * k);
    nearest.index.resize(queries.n * k);
    nearest.visited.resize(queries.n);
    with_types(queries.metric, tree.n_columns, [&]<class Metric, class Fixed>(const Metric& metric, Fixed) {
        const auto by = [&]<class Keeper>(std::type_identity<Keeper>) {
            find_nearest_by<T, Metric, Fixed::value, Keeper>(tree, queries, metric, k, is_defeatist, pool,
                                                             interrupt, nearest);
        };
        if (k == 1)
            by(std::type_identity<NearestOne>{});
        else if (k <= NearestFew::few)
            by(std::type_identity<NearestFew>{});
        else
            by(std::type_identity<NearestMany>{});
    });
    return nearest;
}

template <class T>
Within find_within(const KDTree<T>& tree, const KDQueries& queries, const double* radius, bool only_count,
                   bool in_order, Pool& pool, Interrupt& interrupt) {
    return with_types(queries.metric, tree.n_columns,
                      [&]<class Metric, class Fixed>(const Metric& metric, Fixed) {
                          return find_within_by<T, Metric, Fixed::value>(
                              tree, queries, metric, radius, only_count, in_order, pool, interrupt);
                      });
}

template Nearest find_nearest(const KDTree<float>&, const KDQueries&, std::size_t, bool, Pool&, Interrupt&);
template Nearest find_nearest(const KDTree<double>&, const KDQueries&, std::size_t, bool, Pool&, Interrupt&);
template Within find_within(const KDTree<float>&, const KDQueries&, const double*, bool, bool, Pool&,
                            Interrupt&);
template Within find_within(const KDTree<double>&, const KDQueries&, const double*, bool, bool, Pool&,
                            Interrupt&);

}  // namespace treewright
