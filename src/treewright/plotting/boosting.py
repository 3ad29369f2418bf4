"""Plotting gradient boosting: the loss after each iteration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from treewright._suggestions import checked_keywords
from treewright.plotting.axes import COLOURS, INK, axes_or_new, finish, result_of, words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from treewright.ensembles.gradient_boosting import GradientBoosted


@checked_keywords
def plot_boosting(model: GradientBoosted | Any, ax: Axes | None = None) -> Axes:
    """Plot the mean loss on training and validation rows after each iteration of gradient boosting.

    ValueError if the model was fitted without `early_stopping`, which is what measures them.

    Parameters
    ----------
    model : fitted HistGradientBoostingClassifier or HistGradientBoostingRegressor, or its `model_`
        Fitted with early stopping.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure.

    Examples
    --------
    >>> from treewright import HistGradientBoostingClassifier, plot_boosting
    >>> model = HistGradientBoostingClassifier(max_iter=5, early_stopping=True)
    >>> model = model.fit([[x] for x in range(100)], [0] * 50 + [1] * 50)
    >>> plot_boosting(model).get_xlabel()  # or model.plot()
    'iterations'
    """
    model = result_of("plot_boosting", model, "train_loss", "a fitted gradient boosting model", "model_")
    lines = {"training": model.train_loss, "validation": model.validation_loss}
    if not any(len(loss) for loss in lines.values()):
        raise ValueError("the losses of the iterations were not measured; fit with early_stopping=True")
    ax = axes_or_new(ax)
    for name, loss in lines.items():
        if len(loss):
            style = "-" if name == "training" else "--"
            ax.plot(np.arange(len(loss)), loss, style, color=COLOURS[name], label=f"{name} rows")
    if len(model.validation_loss):
        best = int(np.argmin(model.validation_loss))
        ax.axvline(best, color=INK, linewidth=0.9, linestyle=":", label=f"least after {best:,} iterations")
    finish(ax, "iterations", f"mean {words(model.loss)}", loc="upper right")
    return ax
