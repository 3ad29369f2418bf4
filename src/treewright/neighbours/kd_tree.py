"""The k-d tree: points in nested halves, so that nearest neighbours are found without comparing with all."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from treewright import _core
from treewright._arrays import Array, Floats, Ints
from treewright._suggestions import checked_keywords, choices_text
from treewright.growing import n_threads, whole_number
from treewright.neighbours.kernels import kernel_density
from treewright.parameters.neighbours import (
    METRIC_ALIASES,
    METRICS,
    MINKOWSKI,
    KDTreeParameters,
    NeighbourParameters,
)
from treewright.parameters.spec import documented

Rule = Literal["widest", "cycle"]
Search = Literal["exact", "defeatist"]


class _CoreNumber:
    """A number that the tree of the core has under the same name, as a read-only attribute."""

    def __init__(self, doc: str) -> None:
        self.__doc__ = doc

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, tree: KDTree | None, owner: type) -> int:
        return self if tree is None else getattr(tree._core, self.name)  # type: ignore[return-value]


@partial(documented, arguments=KDTreeParameters.parameters)
class KDTree:
    """A k-d tree: finds nearest neighbours among points with few columns.

    A node cuts its points at the median of one column: those below it go left, the others right, until a leaf
    holds at most `leaf_size` points. Exact search descends to the leaf of a query and returns to each other
    leaf that may hold a point near enough; its result is that of comparing with all points. Defeatist search
    does not return.

    The parameters and methods are those of scikit-learn's class of the same name, and a few more.

    Parameters
    ----------
    X : array of shape (n_points, n_columns)
        The points, finite numbers. float32 is kept as it is, which takes half the memory; all other numbers
        are kept as float64. They are copied.

    Notes
    -----
    Distances are summed in float64, column by column in their order, also those of float32 points. Among
    points at the same distance the one with the lower index comes first.

    A leaf has more points where they are all equal, or not separated after 2 log2(n_points) + 16 cuts,
    because nearly all of them are equal in nearly all columns. With `spill` each half of a node also keeps
    the points beyond the cut that are among this share of the node next to it: each level makes the tree
    1 + 2 * spill times as large.

    Examples
    --------
    >>> from treewright import KDTree
    >>> tree = KDTree([[0, 0], [3, 4], [1, 0], [6, 8]])
    >>> distance, index = tree.query([[0, 0]], k=3)
    >>> distance, index
    (array([[0., 1., 5.]]), array([[0, 2, 1]]))
    >>> tree.query_radius([[0, 0], [6, 8]], r=5, count_only=True)
    array([3, 2])
    """

    __slots__ = ("_core", "leaf_size", "metric", "n_jobs", "p", "rule", "spill")
    valid_metrics: ClassVar[list[str]] = list(METRICS)

    def __init__(
        self,
        X: Any,
        leaf_size: int = 40,
        metric: str = "minkowski",
        *,
        p: float = 2,
        rule: Rule = "widest",
        spill: float = 0.0,
        n_jobs: int | None = None,
    ) -> None:
        options = {"leaf_size": leaf_size, "rule": rule, "spill": spill, "n_jobs": n_jobs}
        for name, value in options.items():
            KDTreeParameters.parameters[name].check("KDTree", value)
        self.leaf_size, self.rule, self.spill, self.n_jobs = int(leaf_size), rule, float(spill), n_jobs
        self.metric = metric_name(metric, p)
        self.p = next((power for power, name in MINKOWSKI.items() if name == self.metric), float(p))
        points = as_matrix(X, "X")
        if not points.size:
            raise ValueError(f"X has the shape {points.shape}; it must have at least one row and one column")
        self._core = _core.KDTree(points, self.leaf_size, rule, self.spill, n_threads(n_jobs))

    n_points = _CoreNumber("The number of points.")
    n_columns = _CoreNumber("The number of columns.")
    n_nodes = _CoreNumber("The number of nodes, leaves included.")
    n_leaves = _CoreNumber("The number of leaves.")
    depth = _CoreNumber("The number of cuts on the longest path from the root to a leaf.")

    @property
    def data(self) -> NDArray[np.floating]:
        """A copy of the points."""
        return self._core.points()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """The points; what takes tables takes the tree."""
        return self.data if dtype is None else self.data.astype(dtype, copy=False)

    @property
    def copies(self) -> float:
        """How often a point is kept, on average: 1 without spill."""
        return self._core.n_stored / self._core.n_points

    @property
    def arrays(self) -> _core.KDArrays:
        """The nodes as arrays, parents first, left before right; made on each access.

        `column` (-1 in a leaf) and `cut`: a point with ``x[column] < cut`` goes left; `left`, `right`: the
        children. A leaf holds the points ``order[begin : begin + size]``, of which the first `home` belong
        there, and the others to the other side of some cut above.

        Examples
        --------
        >>> arrays = KDTree([[1.0], [2.0], [3.0], [4.0]], leaf_size=2).arrays
        >>> arrays["column"], arrays["cut"]
        (array([ 0, -1, -1]), array([ 3., nan, nan]))
        >>> arrays["order"]
        array([0, 1, 2, 3])
        """
        arrays = self._core.arrays()
        for name in ("column", "left", "right", "begin", "home", "size", "order"):
            arrays[name] = _native(arrays[name])
        return arrays

    @checked_keywords
    def query(
        self,
        X: Any,
        k: int = 1,
        return_distance: bool = True,
        dualtree: bool = False,
        breadth_first: bool = False,
        sort_results: bool = True,
        *,
        search: Search = "exact",
        n_jobs: int | None = None,
    ) -> Any:
        """The k nearest points of each query.

        Parameters
        ----------
        X : array of shape (n_queries, n_columns)
            The queries.
        k : int, default=1
            The number of neighbours; at most the number of points.
        return_distance : bool, default=True
            Whether to return the distances as well.
        dualtree, breadth_first, sort_results
            Without effect, for scikit-learn's signature: the nearest always comes first.
        search : {"exact", "defeatist"}, default="exact"
            Defeatist search looks only into the leaf that the query falls into, or into the smallest node
            around it that holds k points.
        n_jobs : int, default=None
            The number of threads; None is that of the tree.

        Returns
        -------
        distance : ndarray of shape (n_queries, k)
            The distances, the smallest first; only with `return_distance`.
        index : ndarray of shape (n_queries, k)
            The positions of the points; among equal distances the lower one comes first.
        """
        distance, index, _ = self._nearest(X, k, search, n_jobs)
        return (distance, index) if return_distance else index

    @checked_keywords
    def n_visited(
        self, X: Any, k: int = 1, *, search: Search = "exact", n_jobs: int | None = None
    ) -> NDArray[np.intp]:
        """How many points `query` compares with each query: the cost of the search, on any machine.

        Parameters
        ----------
        X, k, search, n_jobs
            As for `query`.

        Returns
        -------
        ndarray of shape (n_queries,)
            The number of distances computed.
        """
        return self._nearest(X, k, search, n_jobs)[2]

    @checked_keywords
    def query_radius(
        self,
        X: Any,
        r: Any,
        return_distance: bool = False,
        count_only: bool = False,
        sort_results: bool = False,
        *,
        n_jobs: int | None = None,
    ) -> Any:
        """All points within a distance of each query.

        Parameters
        ----------
        X, n_jobs
            As for `query`.
        r : float, or array of shape (n_queries,)
            The distance, for all queries or for each; points at exactly this distance, as `query` computes
            it, are included.
        return_distance : bool, default=False
            Whether to return the distances as well.
        count_only : bool, default=False
            Whether to return only the numbers of points.
        sort_results : bool, default=False
            Whether the nearest come first; with `return_distance` only. Otherwise the order is arbitrary.

        Returns
        -------
        count : ndarray of shape (n_queries,)
            With `count_only`; otherwise:
        index : ndarray of shape (n_queries,) of ndarrays
            The positions of the points.
        distance : ndarray of shape (n_queries,) of ndarrays
            Their distances; only with `return_distance`.
        """
        if count_only and return_distance:
            raise ValueError("count_only and return_distance are both True; counts have no distances")
        if sort_results and not return_distance:
            raise ValueError("sort_results is True, but return_distance is not; sorting needs both")
        queries = self._queries(X)
        radius = _radii(r, len(queries))
        start, distance, index = self._within(queries, radius, count_only, sort_results, n_jobs)
        if count_only:
            return np.diff(_native(start))
        positions = _by_query(index, start)
        return (positions, _by_query(distance, start)) if return_distance else positions

    @checked_keywords
    def two_point_correlation(
        self, X: Any, r: Any, dualtree: bool = False, *, n_jobs: int | None = None
    ) -> NDArray[np.intp]:
        """The number of pairs of a query and a point within each of some distances.

        Parameters
        ----------
        X, n_jobs
            As for `query`.
        r : array
            The distances.
        dualtree
            Without effect, for scikit-learn's signature.

        Returns
        -------
        ndarray of the shape of `r`
            The counts.
        """
        radii = np.asarray(r, dtype=np.float64)
        counts = [self.query_radius(X, each, count_only=True, n_jobs=n_jobs).sum() for each in radii.ravel()]
        return np.array(counts, np.intp).reshape(radii.shape)

    @checked_keywords
    def kernel_density(
        self,
        X: Any,
        h: float,
        kernel: str = "gaussian",
        atol: float = 0,
        rtol: float = 1e-8,
        breadth_first: bool = True,
        return_log: bool = False,
        *,
        n_jobs: int | None = None,
    ) -> Floats:
        """The sum of kernels of bandwidth `h` around the points, at each query.

        Divided by the number of points it is a kernel density estimate.

        Parameters
        ----------
        X, n_jobs
            As for `query`.
        h : float
            The bandwidth.
        kernel : {"gaussian", "tophat", "epanechnikov", "exponential", "linear", "cosine"}
            The kernel, which integrates to 1 with Euclidean distances.
        atol, rtol : float
            The absolute and the relative error that is allowed: points so far away that they do not matter
            are left out.
        breadth_first
            Without effect, for scikit-learn's signature.
        return_log : bool, default=False
            Whether to return the logarithms, which do not underflow far from all points.

        Returns
        -------
        ndarray of shape (n_queries,)
            The sums.
        """
        queries = self._queries(X)
        log_density = kernel_density(self, queries, h, kernel, atol=atol, rtol=rtol, n_jobs=n_jobs)
        return log_density if return_log else np.exp(log_density)

    def _within(
        self, queries: Floats, radius: Floats, count_only: bool, sort_results: bool, n_jobs: int | None
    ) -> tuple[Ints, Floats, NDArray[np.intp]]:
        """Where the points of each query begin, their distances and their positions, one after the other."""
        start, distance, index = self._core.within(
            queries, radius, self.metric, self.p, count_only, sort_results, self._threads(n_jobs)
        )
        return start, distance, _native(index)

    def _nearest(
        self, X: Any, k: int, search: str, n_jobs: int | None
    ) -> tuple[Floats, NDArray[np.intp], NDArray[np.intp]]:
        NeighbourParameters.parameters["search"].check("KDTree", search)
        if isinstance(k, bool | np.bool_):
            raise ValueError(f"k is {k}; it must be a whole number")
        count = whole_number("k", k, 1)
        if count > self.n_points:
            raise ValueError(f"k is {count}; it must be at most {self.n_points}, the number of points")
        distance, index, n_visited = self._core.nearest(
            self._queries(X), count, self.metric, self.p, search == "defeatist", self._threads(n_jobs)
        )
        return distance, _native(index), _native(n_visited)

    def _queries(self, X: Any) -> Floats:
        queries = as_matrix(X, "X")
        if queries.shape[1] != self.n_columns:
            raise ValueError(f"X has {queries.shape[1]} columns, but the tree has {self.n_columns}")
        return np.ascontiguousarray(queries, dtype=np.float64)

    def _threads(self, n_jobs: int | None) -> int:
        return n_threads(self.n_jobs if n_jobs is None else n_jobs)

    def __reduce__(self) -> tuple[Any, ...]:
        # the tree follows from the points, so that it is built and checked again
        options = {name: getattr(self, name) for name in ("p", "rule", "spill", "n_jobs")}
        return partial(KDTree, **options), (self.data, self.leaf_size, self.metric)

    def __repr__(self) -> str:
        copies = f", each kept {self.copies:.2f} times" if self.spill else ""
        return (
            f"KDTree of {self.n_points:,} points in {self.n_columns:,} columns{copies}: "
            f"{self.n_leaves:,} leaves, depth {self.depth}"
        )


documented(KDTree, KDTreeParameters.parameters)


def metric_name(metric: str, p: float = 2) -> str:
    """The core's name of a metric; of "minkowski" with its power.

    >>> metric_name("minkowski", p=1), metric_name("l2")
    ('manhattan', 'euclidean')
    """
    if not isinstance(metric, str) or metric not in METRICS:
        raise ValueError(f"metric is {metric!r}; it must be one of {choices_text(metric, METRICS)}")
    name = METRIC_ALIASES.get(metric, metric)
    if name != "minkowski":
        return name
    KDTreeParameters.parameters["p"].check("KDTree", p)
    return MINKOWSKI.get(float(p), name)


def as_matrix(X: Any, name: str) -> NDArray[np.floating]:
    """A matrix of float32 or float64 in row-major order; ValueError for anything else."""
    if hasattr(X, "toarray"):
        raise ValueError(f"{name} is sparse; a k-d tree takes dense points: {name}.toarray()")
    matrix = np.asarray(X)
    if matrix.ndim != 2:
        raise ValueError(
            f"{name} has {matrix.ndim} dimensions instead of 2; reshape(-1, 1) makes a column, "
            "reshape(1, -1) a row"
        )
    if matrix.dtype.kind not in "fiubO":
        raise ValueError(f"{name} holds {matrix.dtype}; a k-d tree takes numbers")
    try:
        return np.ascontiguousarray(matrix, dtype=np.float32 if matrix.dtype == np.float32 else np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} holds other things than numbers; a k-d tree takes numbers") from None


def _native(numbers: Ints) -> NDArray[np.intp]:
    """The integers as `np.intp`: the same bits under another name, if it has as many."""
    same = numbers.itemsize == np.dtype(np.intp).itemsize
    return numbers.view(np.intp) if same else numbers.astype(np.intp)


def _radii(r: Any, n_queries: int) -> Floats:
    radius = np.asarray(r, dtype=np.float64)
    if radius.ndim and radius.shape != (n_queries,):
        raise ValueError(
            f"r has the shape {radius.shape}; it must be a number, or one for each of the queries"
        )
    bad = np.flatnonzero(~(np.atleast_1d(radius) >= 0))
    if bad.size:
        where = f"r[{bad[0]}]" if radius.ndim else "r"
        raise ValueError(f"{where} is {np.atleast_1d(radius)[bad[0]]}; it must be a number >= 0")
    return np.ascontiguousarray(np.broadcast_to(radius, n_queries))


def _by_query(values: Array, start: Ints) -> NDArray[np.object_]:
    """An array of arrays: the values of each query."""
    parts = np.empty(len(start) - 1, dtype=object)
    for i, (begin, end) in enumerate(pairwise(start.tolist())):
        parts[i] = values[begin:end]
    return parts
