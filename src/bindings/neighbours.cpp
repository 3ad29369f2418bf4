// Python's door to k-d trees: an object that holds one, so that nobody can hand in a wrong one.
#include <nanobind/stl/string.h>

#include <cmath>
#include <variant>

#include "arrays.hpp"
#include "kd_tree/searching.hpp"

namespace treewright {

namespace {

std::invalid_argument not_finite(const std::string& what, const NotFinite& found, double value) {
    const char* name = std::isnan(value) ? "NaN" : value > 0 ? "inf" : "-inf";
    return std::invalid_argument("row " + std::to_string(found.row) + ", column " +
                                 std::to_string(found.column) + " of " + what + " is " + name +
                                 "; all numbers must be finite");
}

template <class T>
void refuse_not_finite(const T* values, std::size_t n, std::size_t d, const std::string& what, Pool& pool) {
    try {
        refuse_not_finite(values, n, d, pool);
    } catch (const NotFinite& found) {
        throw not_finite(what, found, values[found.row * d + found.column]);
    }
}

KDRule rule_named(const std::string& name) {
    if (name == "widest") return KDRule::widest;
    if (name == "cycle") return KDRule::cycle;
    throw std::invalid_argument("rule is '" + name + "'; it must be 'widest' or 'cycle'");
}

nb::tuple metric_names() {
    return []<class... Metric>(const std::variant<Metric...>&) {
        return nb::make_tuple(nb::str(Metric::name.data(), Metric::name.size())...);
    }(KDMetric{});
}

/// Threads where there is something to do for them.
std::size_t worth_threads(std::size_t work, std::size_t n_threads) {
    constexpr std::size_t much = 100'000;
    return work < much ? 1 : n_threads;
}

/// One tree of either type of numbers.
class KDTreeObject {
  public:
    KDTreeObject(const AnyArray& points, std::size_t leaf_size, const std::string& rule, double spill,
                 std::size_t n_threads) {
        if (points.ndim() != 2 || points.shape(0) < 1 || points.shape(1) < 1)
            throw std::invalid_argument("points must be a matrix with at least one row and one column");
        if (leaf_size < 1) throw std::invalid_argument("leaf_size must be at least 1");
        if (!(spill >= 0 && spill < 0.5)) throw std::invalid_argument("spill must be in [0, 0.5)");
        const KDOptions options{leaf_size, rule_named(rule), spill};
        if (points.dtype() == nb::dtype<float>())
            tree_ = built<float>(points, options, n_threads);
        else if (points.dtype() == nb::dtype<double>())
            tree_ = built<double>(points, options, n_threads);
        else
            throw std::invalid_argument("points must be float32 or float64");
    }

    nb::object nearest(const Matrix<double>& queries, std::size_t k, const std::string& metric, double p,
                       bool is_defeatist, std::size_t n_threads) const {
        if (k < 1 || k > n_points()) throw std::invalid_argument("k must be from 1 to the number of points");
        const KDQueries asked = read(queries, metric, p);
        Nearest found;
        without_gil([&](Interrupt& interrupt) {
            Pool pool(worth_threads(asked.n * (k + 64), n_threads), interrupt);
            refuse_not_finite(asked.values, asked.n, n_columns(), "the queries", pool);
            std::visit(
                [&](const auto& tree) {
                    found = find_nearest(tree, asked, k, is_defeatist, pool, interrupt);
                },
                tree_);
        });
        return nb::make_tuple(to_numpy(std::move(found.distance), {asked.n, k}),
                              to_numpy(std::move(found.index), {asked.n, k}),
                              to_numpy(std::move(found.visited)));
    }

    nb::object within(const Matrix<double>& queries, const Vector<double>& radius, const std::string& metric,
                      double p, bool only_count, bool in_order, std::size_t n_threads) const {
        const KDQueries asked = read(queries, metric, p);
        if (radius.shape(0) != asked.n) throw std::invalid_argument("radius must have one number per query");
        for (std::size_t i = 0; i < asked.n; ++i)
            if (!(radius.data()[i] >= 0)) throw std::invalid_argument("a radius must be a number >= 0");
        Within found;
        without_gil([&](Interrupt& interrupt) {
            Pool pool(worth_threads(asked.n * 64, n_threads), interrupt);
            refuse_not_finite(asked.values, asked.n, n_columns(), "the queries", pool);
            std::visit(
                [&](const auto& tree) {
                    found = find_within(tree, asked, radius.data(), only_count, in_order, pool, interrupt);
                },
                tree_);
        });
        return nb::make_tuple(to_numpy(std::move(found.start)), to_numpy(std::move(found.distance)),
                              to_numpy(std::move(found.index)));
    }

    /// The points as they were given.
    nb::object points() const {
        return std::visit([](const auto& tree) { return points_of(tree); }, tree_);
    }

    /// The tree as arrays in preorder; places are those of `order`, which tells the points.
    nb::dict arrays() const {
        return std::visit([](const auto& tree) { return arrays_of(tree); }, tree_);
    }

    std::size_t n_points() const {
        return std::visit([](const auto& tree) { return tree.n_points; }, tree_);
    }
    std::size_t n_columns() const {
        return std::visit([](const auto& tree) { return tree.n_columns; }, tree_);
    }
    std::size_t n_nodes() const {
        return std::visit([](const auto& tree) { return tree.nodes.size(); }, tree_);
    }
    std::size_t n_leaves() const {
        return std::visit([](const auto& tree) { return tree.leaves.size(); }, tree_);
    }
    std::size_t n_stored() const {
        return std::visit([](const auto& tree) { return tree.index.size(); }, tree_);
    }
    std::size_t depth() const {
        return std::visit([](const auto& tree) { return tree.depth; }, tree_);
    }

  private:
    template <class T>
    static KDTree<T> built(const AnyArray& points, const KDOptions& options, std::size_t n_threads) {
        const auto rows = nb::cast<Matrix<T>>(nb::cast(points));
        const std::size_t n = rows.shape(0), d = rows.shape(1);
        KDTree<T> tree;
        without_gil([&](Interrupt& interrupt) {
            Pool pool(worth_threads(n * d, n_threads), interrupt);
            refuse_not_finite(rows.data(), n, d, "the points", pool);
            tree = build_kd_tree(rows.data(), n, d, options, pool, interrupt);
        });
        return tree;
    }

    KDQueries read(const Matrix<double>& queries, const std::string& metric, double p) const {
        if (queries.shape(1) != n_columns())
            throw std::invalid_argument("queries must have as many columns as the points");
        if (!(p >= 1)) throw std::invalid_argument("p must be at least 1");
        const auto known = metric_named(metric, p);
        if (!known) throw std::invalid_argument("there is no metric '" + metric + "'");
        return {queries.data(), queries.shape(0), *known};
    }

    template <class T>
    static nb::object points_of(const KDTree<T>& tree) {
        const std::size_t d = tree.n_columns;
        std::vector<T> points(tree.n_points * d);
        for (const KDLeaf& leaf : tree.leaves)
            for (std::size_t i = 0; i < leaf.home; ++i)
                for (std::size_t c = 0; c < d; ++c)
                    points[tree.index[leaf.begin + i] * d + c] =
                        tree.coordinates[leaf.begin * d + c * leaf.size + i];
        return to_numpy(std::move(points), {tree.n_points, d});
    }

    template <class T>
    static nb::dict arrays_of(const KDTree<T>& tree) {
        const std::size_t n = tree.nodes.size();
        std::vector<std::int64_t> column(n, -1), left(n, -1), right(n, -1), begin(n, -1), home(n), size(n);
        std::vector<T> cut(n, std::numeric_limits<T>::quiet_NaN());
        for (std::size_t i = 0; i < n; ++i) {
            const KDNode<T>& node = tree.nodes[i];
            if (node.column != no_column) {
                column[i] = node.column;
                cut[i] = node.cut;
                left[i] = i + 1;
                right[i] = node.right;
                continue;
            }
            const KDLeaf& leaf = tree.leaves[node.right];
            begin[i] = leaf.begin;
            home[i] = leaf.home;
            size[i] = leaf.size;
        }
        nb::dict arrays;
        arrays["column"] = to_numpy(std::move(column));
        arrays["cut"] = to_numpy(std::move(cut));
        arrays["left"] = to_numpy(std::move(left));
        arrays["right"] = to_numpy(std::move(right));
        arrays["begin"] = to_numpy(std::move(begin));
        arrays["home"] = to_numpy(std::move(home));
        arrays["size"] = to_numpy(std::move(size));
        const std::uint32_t* index = tree.index.data();
        arrays["order"] = to_numpy(std::vector<std::int64_t>(index, index + tree.index.size()));
        return arrays;
    }

    std::variant<KDTree<float>, KDTree<double>> tree_;
};

}  // namespace

void bind_neighbours(nb::module_& module) {
    using namespace nb::literals;
    module.attr("kd_metrics") = metric_names();
    nb::class_<KDTreeObject>(module, "KDTree")
        .def(nb::init<const AnyArray&, std::size_t, const std::string&, double, std::size_t>(), "points"_a,
             "leaf_size"_a, "rule"_a, "spill"_a, "n_threads"_a)
        .def("nearest", &KDTreeObject::nearest, "queries"_a, "k"_a, "metric"_a, "p"_a, "is_defeatist"_a,
             "n_threads"_a)
        .def("within", &KDTreeObject::within, "queries"_a, "radius"_a, "metric"_a, "p"_a, "only_count"_a,
             "in_order"_a, "n_threads"_a)
        .def("points", &KDTreeObject::points)
        .def("arrays", &KDTreeObject::arrays)
        .def_prop_ro("n_points", &KDTreeObject::n_points)
        .def_prop_ro("n_columns", &KDTreeObject::n_columns)
        .def_prop_ro("n_nodes", &KDTreeObject::n_nodes)
        .def_prop_ro("n_leaves", &KDTreeObject::n_leaves)
        .def_prop_ro("n_stored", &KDTreeObject::n_stored)
        .def_prop_ro("depth", &KDTreeObject::depth);
}

}  // namespace treewright
