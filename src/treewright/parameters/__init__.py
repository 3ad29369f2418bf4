"""Parameters, each declared once: name, type, default, check and text.

Signatures, docstrings, validation and command-line options come from the declaration. To declare one for all
trees, add a field to its group in `treewright.parameters.tree`:

    class Stopping(Parameters, group="Stopping"):
        max_depth: int | None = parameter(default=None, doc="The largest …", allowed=whole(1, none=True))

To use groups, inherit them. The class gets its `__init__` and the `Parameters` section of its docstring:

    class ExtraTreeClassifier(TreeEstimator, ClassifierParameters, sklearn.tree.DecisionTreeClassifier):
        splitter: str = "random"                                  # another default
        max_features: Any = parameter(default="sqrt", doc="…")    # another default and text
        root: ClassVar[None] = None                               # left out, its value fixed
        max_depth: int | None = parameter(default=3)              # a single one of a group that is not
        inherited

and calls `self.check_parameters()` in `fit`. Its `Attributes` section has the entries of its base classes as
well: describe an attribute in the class that sets it. Methods take the texts of common arguments, such as
`X`, by ``@documented``. Functions are decorated: ``@takes(GrowParameters)``. The command line
reads ``of("max_depth")``: its `.flag`, `.doc`, `.default`, `.choices`, `.allowed.words` and `.group`. Options
of an option are an `Option`, such as `Surrogates(5)`.
"""

from __future__ import annotations

from importlib import import_module

from treewright.parameters.checks import Allowed, is_fraction, is_int, is_real
from treewright.parameters.spec import (
    Option,
    Parameter,
    Parameters,
    documented,
    of,
    parameter,
    takes,
)
from treewright.parameters.tree import GROW
from treewright.parameters.values import (
    ConditionalInference,
    Costs,
    FeatureCosts,
    Gain,
    Oblique,
    Pruning,
    Surrogates,
)

# A declaration takes what it leaves out from the first group that declares the name: the groups are always
# declared in this order, whatever is imported first.
for _groups in ("tree", "forest", "boosting", "classic", "neighbours", "optimal", "selectors"):
    import_module(f"{__name__}.{_groups}")

__all__ = [
    "GROW",
    "Allowed",
    "ConditionalInference",
    "Costs",
    "FeatureCosts",
    "Gain",
    "Oblique",
    "Option",
    "Parameter",
    "Parameters",
    "Pruning",
    "Surrogates",
    "documented",
    "is_fraction",
    "is_int",
    "is_real",
    "of",
    "parameter",
    "takes",
]
