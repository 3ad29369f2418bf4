"""Plotting certificates: the error that was seen, and the bound on the true one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from treewright._suggestions import checked_keywords
from treewright.certifying.certificate import Certificate, Certificates
from treewright.certifying.votes import VoteCertificate
from treewright.plotting.axes import COLOURS, FAINT, INK, axes_or_new, finish, result_of, words

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class _Row(NamedTuple):
    label: str
    error: float | None  # None where only the bound is known
    bound: float
    text: str
    most: float
    guarantee: bool = True


@checked_keywords
def plot_certificate(
    certificates: Certificate | VoteCertificate | Certificates | Iterable[Certificate | VoteCertificate],
    ax: Axes | None = None,
) -> Axes:
    """Plot certificates below each other: the dot is the error on the rows, the diamond the bound.

    The true error lies left of the diamond with the confidence of the certificate. Where the line is dashed,
    the number is an estimate. A certificate of a vote has a row for each method that was tried.

    Parameters
    ----------
    certificates : Certificate, VoteCertificate, Certificates or several of them
        What `certify` and `certify_votes` return.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure.

    Examples
    --------
    >>> from treewright import certify, encode, grow, plot_certificate
    >>> tree = grow(encode({"x": range(8)}, ["a", "a", "a", "a", "b", "b", "b", "b"]))
    >>> test = encode({"x": range(100)}, ["a"] * 6 + ["b"] * 94, schema=tree.schema)
    >>> ax = plot_certificate([certify(tree, test=test), certify(tree, test=test, choices=30)])
    >>> [text.get_text() for text in ax.texts]
    ['below 6.2 %', 'below 10.2 %']
    """
    rows = list(_rows(certificates))
    ax = axes_or_new(ax, 7.2, 1.3 + 0.5 * len(rows))
    for place, row in enumerate(rows):
        start, end = row.error if row.error is not None else 0.0, min(row.bound, row.most)
        line: dict[str, Any] = {"linestyle": "-" if row.guarantee else "--", "color": COLOURS["certificate"]}
        ax.plot([start, end], [place, place], linewidth=2.5, alpha=0.6, zorder=2, **line)
        if row.error is not None:
            ax.plot([start], [place], marker="o", color=COLOURS["test"], markersize=7, zorder=3)
        ax.plot([end], [place], marker="D", color=COLOURS["certificate"], markersize=7, zorder=3)
        note: dict[str, Any] = {"textcoords": "offset points", "va": "center", "fontsize": "small"}
        ax.annotate(row.text, (end, place), (9, 0), color=INK, **note)
    ax.set_yticks(range(len(rows)), [row.label for row in rows])
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ends = [min(row.bound, row.most) for row in rows]
    ax.set_xlim(0, 1.25 * max(ends))
    first = next(_flat(certificates))
    what = first.what if isinstance(first, Certificate) else "error"
    if isinstance(first, VoteCertificate) and max(ends) >= 0.5:
        ax.axvline(0.5, color=FAINT, linewidth=1, linestyle=":")  # a coin
    sure = f"{round(100 * first.confidence, 10):g} %"
    label = f"{what} (dot: measured; diamond: bound, {sure} confidence)"
    finish(ax, label, "", percent="x" * (what == "error"))
    ax.grid(False, axis="y")
    return ax


def _flat(given: Any) -> Any:
    if isinstance(given, Certificate | VoteCertificate):
        yield given
    elif isinstance(given, Certificates):
        yield from given.certificates
    else:
        given = result_of("plot_certificate", given, "__iter__", "what certify returns")
        for each in given:
            if not isinstance(each, Certificate | VoteCertificate):
                raise TypeError(f"plot_certificate takes what certify returns, not a {type(each).__name__}")
            yield each


def _rows(given: Any) -> Iterable[_Row]:
    for each in _flat(given):
        if isinstance(each, VoteCertificate):
            for method, bound in each.bounds.items():
                text = f"{100 * bound:.1f} %" if bound < 1 else "says nothing"
                yield _Row(words(method), None, bound, text, 1.0)
            continue
        below = "nothing can be said" if each.is_vacuous else f"below {each.bound_text}"
        label = f"{words(each.method)}\n{each.rows:,} rows"
        yield _Row(label, each.error, each.value, below, each.most, each.guarantee)
