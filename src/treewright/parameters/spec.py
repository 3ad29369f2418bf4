"""Declaring a parameter once: the signature, the docstring and the validation are made from the declaration.

Static tools read the annotated fields of a class through `typing.dataclass_transform`; at run time
`__init_subclass__` makes a real `__init__` of the same fields, so that `inspect.signature`, `help`, cloning
and pickling work as for a handwritten class.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any, ClassVar, Concatenate, ParamSpec, Self, TypeVar, dataclass_transform, overload

from treewright._suggestions import check_names, checked_keywords, did_you_mean
from treewright.parameters.checks import Allowed, is_int

GROUPS = ("Growing", "Stopping", "Pruning", "Missing values", "Costs", "Constraints", "Sampling", "Running")
_WIDTH = 108
_SECTION = re.compile(r"^(?:[A-Z][A-Za-z]+ ?){1,2}\n-{3,}$", re.MULTILINE)
_ONLY_WITH = re.compile(r"[Oo]nly with `(\w+)`")
_QUOTED = re.compile(r"'([^']+)'")
_PACKAGE = __name__.partition(".")[0] + "."
_REGISTRY: dict[str, Parameter] = {}
_T = TypeVar("_T", bound=Callable[..., Any])
_P = ParamSpec("_P")
_First = TypeVar("_First")
_R = TypeVar("_R")
_ANYTHING = Allowed(lambda value: True, "any value")


@dataclass(frozen=True, eq=False)
class Parameter:
    """One parameter: its default, what it does, the values that it allows, and its group in the docs."""

    default: Any
    doc: str = ""
    kind: str = ""  # the type as the docstring names it
    allowed: Allowed | None = None
    kw_only: bool = True
    resolve: Callable[[Any], Any] | None = None  # the option value that a shorthand stands for
    group: str = ""
    keyword: str = ""  # the keyword argument of `grow`, where it has another name
    name: str = ""
    annotation: str = ""

    @property
    def choices(self) -> tuple[str, ...]:
        """The names that it allows, where these are all; empty otherwise."""
        return self.allowed.choices if self.allowed is not None else ()

    @property
    def flag(self) -> str:
        """The option of the command line: ``--max-depth``."""
        return "--" + self.name.replace("_", "-")

    @property
    def entry(self) -> str:
        """The entry of the docstring's `Parameters` section."""
        kind = self.kind or (_braces(self.choices) if self.choices else self.annotation)
        if self.default is not inspect.Parameter.empty:
            kind += ", default=" + (
                f'"{self.default}"' if isinstance(self.default, str) else repr(self.default)
            )
        text = textwrap.wrap(" ".join(self.doc.split()), _WIDTH - 4, break_on_hyphens=False)
        return "\n    ".join([f"{self.name} : {kind}", *text])

    def check(self, owner: str, value: Any) -> None:
        """ValueError, in the words of the declaration, where the value is not allowed."""
        if self.allowed is not None and not self.allowed.check(value):
            raise ValueError(refusal(owner, self.name, value, self.allowed.words))


# Arguments that mean the same in many methods; see `documented`.
ARGUMENTS: dict[str, Parameter] = {
    "X": Parameter(None, "The rows, with the columns of the fit.", "table of shape (n_rows, n_columns)"),
    "y": Parameter(None, "Their classes or numbers.", "array of shape (n_rows,) or (n_rows, n_targets)"),
    "sample_weight": Parameter(
        None,
        "A weight per row, not negative; 2 is the same as the row twice, 0 the same as leaving it out.",
        "array of shape (n_rows,)",
    ),
    "model": Parameter(None, "The tree.", "Tree or fitted estimator"),
    "ax": Parameter(None, "Where to draw; by default a new figure.", "matplotlib.axes.Axes, optional"),
    "n_jobs": Parameter(None, "Threads: None is 1, -1 all cores. The result is the same.", "int, optional"),
    "check_input": Parameter(None, "Without effect, for scikit-learn's signature.", "bool"),
    "delta": Parameter(None, "The probability that the bound fails.", "float"),
    "choices": Parameter(
        None, "The number of models among which these rows have chosen, if they have.", "int"
    ),
}


def parameter(
    *,
    default: Any,
    doc: str = "",
    kind: str = "",
    allowed: Allowed | None = None,
    kw_only: bool = True,
    resolve: Callable[[Any], Any] | None = None,
    group: str = "",
    keyword: str = "",
) -> Any:
    """Declare a parameter as an annotated field: ``max_depth: int | None = parameter(default=None, doc=…)``.

    What is left out is taken from the parameter of the same name in the base classes or, where these have
    none, in the groups of `treewright.parameters`.

    Parameters
    ----------
    default
        The default value.
    doc : str
        What it does, in one or a few sentences.
    kind : str
        The type in the docstring; by default the choices of `allowed`, or else the annotation.
    allowed : Allowed
        The check with its words, such as ``whole(1, none=True)``.
    kw_only : bool
        Whether it must be given by name.
    resolve : callable
        Makes the option value of a shorthand: ``"surrogate"`` is ``Surrogates()``.
    group : str
        One of `GROUPS`; by default that of the class.
    keyword : str
        The keyword argument of `grow` that an option sets, where it has another name.
    """
    return Parameter(default, doc, kind, allowed, kw_only, resolve, group, keyword)


def of(name: str) -> Parameter:
    """The parameter of a name, as the groups declare it.

    >>> of("max_depth").flag, of("max_depth").allowed.words
    ('--max-depth', 'an int >= 1, or None')
    """
    if name not in _REGISTRY:
        raise KeyError(f"there is no parameter {name!r}{did_you_mean(name, _REGISTRY)}")
    return _REGISTRY[name]


def refusal(owner: str, name: str, value: Any, words: str) -> str:
    """The message about a value that is not allowed; `words` have the names that are in quotes."""
    close = did_you_mean(value, _QUOTED.findall(words)) if isinstance(value, str) else ""
    return f"{owner}: {name}={value!r} is not possible; it must be {words}{close}"


@dataclass_transform(kw_only_default=True, field_specifiers=(parameter,))
class Parameters:
    """A class whose annotated fields are its parameters.

    A group of parameters is a subclass with ``group=``; an estimator inherits the groups that it takes. In a
    subclass ``splitter: str = "random"`` gives another default, ``parameter(default=…, doc=…)`` another text,
    and ``splitter: ClassVar[str] = "best"`` takes the parameter out and fixes its value.
    """

    parameters: ClassVar[dict[str, Parameter]] = {}
    _checks: ClassVar[tuple[tuple[str, Callable[[Any], bool]], ...]] = ()

    def __init_subclass__(cls, *, group: str = "", **others: Any) -> None:
        super().__init_subclass__(**others)
        cls.parameters = _collect(cls, group)
        if group:
            for name, each in cls.parameters.items():
                _REGISTRY.setdefault(name, each)
            return
        _finish(cls)

    def check_parameters(self) -> None:
        """Raise an error about the first parameter whose value is not allowed; takes some microseconds."""
        values = vars(self)
        for name, check in self._checks:
            if not check(values[name]):
                allowed = self.parameters[name].allowed or _ANYTHING
                self.refuse_parameter(name, allowed.words)

    def refuse_parameter(self, name: str, words: str) -> None:
        """Raise the error about a parameter; `words` say what it must be."""
        raise self._error()(refusal(type(self).__name__, name, getattr(self, name), words))

    def _error(self) -> type[Exception]:
        return getattr(self, "parameter_error", ValueError)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Read a pickle, also one of a version with fewer parameters."""
        defaults = {name: each.default for name, each in self.parameters.items()}
        super().__setstate__(defaults | state)  # type: ignore[misc]

    def option(self, name: str) -> Any:
        """The value of a parameter, with the option value in place of its shorthand."""
        value, resolve = getattr(self, name), self.parameters[name].resolve
        return value if resolve is None else resolve(value)

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name; ``pruning__rule="1-SE"`` sets an option of the value of a parameter.

        Parameters
        ----------
        **params
            Parameters and their new values.

        Returns
        -------
        self
            The estimator itself.
        """
        inner: dict[str, dict[str, Any]] = {}
        for key in list(params):
            name, _, option = key.partition("__")
            if option and name in self.parameters and self.parameters[name].resolve is not None:
                inner.setdefault(name, {})[option] = params.pop(key)
        known = self.get_params(deep=False)  # type: ignore[attr-defined]
        for key in params:
            if (root := key.partition("__")[0]) not in known:
                close = did_you_mean(root, known) or f". Valid parameters are: {list(known)!r}."
                raise self._error()(f"Invalid parameter {root!r} for estimator {self}{close}")
        super().set_params(**params)  # type: ignore[misc]
        for name, changes in inner.items():
            value = self.option(name)
            if not isinstance(value, Option):
                names = ", ".join(f"{name}__{option}" for option in changes)
                raise self._error()(
                    f"{type(self).__name__}: {names} cannot be set, because {name}={value!r} has no options"
                )
            setattr(self, name, value.replace(**changes))
        return self


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(parameter,))
class Option:
    """A small value of options: it cannot be changed, prints as its call, compares, clones and pickles.

    A subclass declares its options as annotated fields, like an estimator.
    """

    parameters: ClassVar[dict[str, Parameter]] = {}
    stands_for: ClassVar[dict[str, str]] = {}  # the keyword arguments that do not depend on its options
    takes_others: ClassVar[bool] = False  # whether it keeps keywords that are not declared

    def __init_subclass__(cls, **others: Any) -> None:
        super().__init_subclass__(**others)
        cls.parameters = _collect(cls, "")
        _finish(cls, frozen=True)

    def __post_init__(self) -> None:
        owner = type(self).__name__
        for name, each in self.parameters.items():
            each.check(owner, getattr(self, name))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The options by name, as scikit-learn reads the parameters of an estimator."""
        return vars(self).copy()

    def keywords(self) -> dict[str, Any]:
        """The keyword arguments of `grow` or `prune` that it stands for."""
        own = {each.keyword or name: getattr(self, name) for name, each in self.parameters.items()}
        return {
            **self.stands_for,
            **{name: int(value) if is_int(value) else value for name, value in own.items()},
        }

    def replace(self, **changes: Any) -> Self:
        """The same value with other options."""
        if not self.takes_others:
            check_names(type(self).__name__, self.parameters, changes)
        return type(self)(**{**self.get_params(), **changes})

    @property
    def changes(self) -> dict[str, Any]:
        """The options that differ from their defaults."""
        known = self.parameters
        return {
            name: value
            for name, value in vars(self).items()
            if name not in known or not _same(value, known[name].default)
        }

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{type(self).__name__} cannot be changed; make another one, or use replace()")

    def __repr__(self) -> str:
        positional = [name for name, each in self.parameters.items() if not each.kw_only]
        given = [
            repr(value) if name in positional else f"{name}={value!r}" for name, value in self.changes.items()
        ]
        return f"{type(self).__name__}({', '.join(given)})"

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        own, theirs = vars(self), vars(other)
        return own.keys() == theirs.keys() and all(_same(value, theirs[name]) for name, value in own.items())

    def __hash__(self) -> int:
        return hash(type(self))  # the options may be arrays or dicts, which have no hash

    def __reduce__(self) -> tuple[Any, ...]:
        return _remake, (type(self), vars(self).copy())

    def __sklearn_clone__(self) -> Self:
        return self  # it cannot change


@overload
def takes(declared: Mapping[str, Parameter]) -> Callable[[_T], _T]: ...


@overload
def takes(
    declared: Callable[_P, object],
) -> Callable[[Callable[Concatenate[_First, ...], _R]], Callable[Concatenate[_First, _P], _R]]: ...


def takes(declared: Any) -> Any:
    """Decorate ``function(first, **options)``: its keyword arguments, with signature, docstring, defaults and
    checks, are the parameters of a class, for type checkers as well, or those of a mapping.

    The function is called with all of them, checked. Names that begin with an underscore are passed on
    unchecked.
    """
    parameters: Mapping[str, Parameter] = getattr(declared, "parameters", declared)
    defaults = {name: each.default for name, each in parameters.items()}
    checks = {name: (each.allowed or _ANYTHING).check for name, each in parameters.items()}

    def decorate(function: Any) -> Any:
        owner, signature = function.__name__, inspect.signature(function)
        own = [each for each in signature.parameters.values() if each.kind is not each.VAR_KEYWORD]
        names = [*(each.name for each in own), *parameters]

        @wraps(function)
        def with_defaults(*first: Any, **given: Any) -> Any:
            for name, value in given.items():
                if name in checks:
                    if value is not defaults[name] and not checks[name](value):
                        parameters[name].check(owner, value)
                elif not name.startswith("_"):
                    check_names(owner, names, [name])
            return function(*first, **(defaults | given))

        whole = signature.replace(parameters=[*own, *_arguments(parameters)])
        with_defaults.__signature__ = whole  # type: ignore[attr-defined]
        with_defaults.__doc__ = _with_entries(function.__doc__, parameters)
        return with_defaults

    return decorate


def documented(function: _T, arguments: Mapping[str, Parameter] = ARGUMENTS) -> _T:
    """Decorate a function: arguments that its docstring does not describe get their entry of `arguments`,
    and a misspelt keyword is an error that names the one that was meant.
    """
    function = checked_keywords(function)
    if function.__doc__ is None:  # python -OO
        return function
    sections = _sections(function.__doc__)
    own = {
        name.strip(" *"): entry
        for names, entry in _entries(sections.get("Parameters", "")).items()
        for name in names.split(",")
    }
    entries = [
        own[name] if name in own else replace(arguments[name], name=name, default=each.default).entry
        for name, each in inspect.signature(function).parameters.items()
        if name != "self"
    ]
    function.__doc__ = _with_sections(sections, Parameters="\n".join(dict.fromkeys(entries)))
    return function


def _collect(cls: type, group: str) -> dict[str, Parameter]:
    """The parameters of a class and of its base classes, by group, those of the base classes first."""
    found: dict[str, Parameter] = {}
    for base in reversed(cls.__mro__):
        if not issubclass(base, Parameters | Option):
            continue
        for name, annotated in inspect.get_annotations(base).items():
            annotation = annotated if isinstance(annotated, str) else inspect.formatannotation(annotated)
            value = vars(base).get(name)
            if "ClassVar" in annotation:
                found.pop(name, None)
            elif base is not cls and name in base.parameters:
                found[name] = base.parameters[name]
            elif isinstance(value, Parameter):
                shared = found.get(name) or (_REGISTRY.get(name) if issubclass(cls, Parameters) else None)
                found[name] = _merge(value, shared, name, annotation, group)
            elif name in found and name in vars(base):
                found[name] = replace(found[name], default=value, annotation=annotation)
    inherited = [name for base in cls.__bases__ for name in getattr(base, "parameters", ())]
    order = [name for name in dict.fromkeys([*inherited, *found]) if name in found]
    return {name: found[name] for name in sorted(order, key=lambda name: _group_order(found[name]))}


def _group_order(each: Parameter) -> int:
    return GROUPS.index(each.group) if each.group in GROUPS else len(GROUPS)


def _merge(own: Parameter, shared: Parameter | None, name: str, annotation: str, group: str) -> Parameter:
    """A declaration with what it leaves out taken from the shared one of its name."""
    if shared is None:
        return replace(own, name=name, annotation=annotation, group=own.group or group)
    return replace(
        own,
        name=name,
        annotation=annotation,
        doc=own.doc or shared.doc,
        kind=own.kind or ("" if own.choices else shared.kind),
        allowed=own.allowed or shared.allowed,
        resolve=own.resolve or shared.resolve,
        group=own.group or shared.group or group,
    )


def _finish(cls: Any, frozen: bool = False) -> None:
    """Give a class the `__init__`, the checks and the docstring of its parameters."""
    parameters: dict[str, Parameter] = cls.parameters
    first = next(base for base in cls.__mro__ if "__init__" in vars(base))
    if not issubclass(first, Parameters | Option) or hasattr(first.__init__, "_generated"):
        cls.__init__ = _initializer(cls, parameters, frozen)
    cls._checks = tuple(
        (name, each.allowed.check) for name, each in parameters.items() if each.allowed is not None
    )
    attributes = "" if frozen else _attributes(cls, parameters)
    cls.__doc__ = _with_entries(vars(cls).get("__doc__"), parameters, attributes)


def _initializer(cls: type, parameters: Mapping[str, Parameter], frozen: bool) -> Callable[..., None]:
    """A real `__init__` with the parameters of a class, those of scikit-learn's base class first."""
    foreign = [
        name
        for base in cls.__mro__
        if not issubclass(base, Parameters | Option) and "__init__" in vars(base) and base is not object
        for name in list(inspect.signature(base.__init__).parameters)[1:]
    ]
    first = {name: parameters[name] for name in foreign if name in parameters}
    arguments = _arguments({**first, **parameters})
    names = [argument.name for argument in arguments]
    others = "others" if getattr(cls, "takes_others", False) else "_unknown"
    star = next((place for place, each in enumerate(arguments) if each.kind is each.KEYWORD_ONLY), len(names))
    listed = [f"{name}=_defaults[{name!r}]" for name in names]
    listed[star:star] = ["*"] if star < len(names) else []
    target = "vars(self)[{0!r}]" if frozen else "self.{0}"
    lines = [f"    {target.format(name)} = {name}" for name in names]
    listed.append(f"**{others}")
    if others == "others":
        lines.append("    vars(self).update(others)")
    else:
        lines.insert(0, "    if _unknown: _refuse(type(self).__name__, _known, _unknown)")
    lines += ["    self.__post_init__()"] * frozen
    source = f"def __init__(self, {', '.join(listed)}):\n" + "\n".join(lines)
    defaults = {name: each.default for name, each in parameters.items()}
    scope: dict[str, Any] = {"_defaults": defaults, "_known": names, "_refuse": check_names}
    exec(compile(source, f"<parameters of {cls.__qualname__}>", "exec"), scope)
    made: Callable[..., None] = scope["__init__"]
    made.__qualname__, made.__module__ = f"{cls.__qualname__}.__init__", cls.__module__
    made._generated = True  # type: ignore[attr-defined]
    if others == "_unknown":  # refused, so no part of the signature, which scikit-learn reads
        receiver = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        made.__signature__ = inspect.Signature([receiver, *arguments])  # type: ignore[attr-defined]
    made.__annotations__ = {each.name: each.annotation for each in arguments} | {"return": None}
    return made


def _arguments(parameters: Mapping[str, Parameter]) -> list[inspect.Parameter]:
    """The arguments of a function that takes the parameters, those that may be given by position first."""
    kinds = {False: inspect.Parameter.POSITIONAL_OR_KEYWORD, True: inspect.Parameter.KEYWORD_ONLY}
    made = [
        inspect.Parameter(name, kinds[each.kw_only], default=each.default, annotation=each.annotation)
        for name, each in parameters.items()
    ]
    return sorted(made, key=lambda each: each.kind)


def _with_entries(doc: str | None, parameters: Mapping[str, Parameter], attributes: str = "") -> str | None:
    """A docstring with the entries of the parameters at the end of its `Parameters` section, and with the
    given `Attributes` section.
    """
    if doc is None or not (parameters or attributes):
        return doc
    sections = _sections(doc)
    entries = [sections.get("Parameters", ""), *(each.entry for each in parameters.values())]
    return _with_sections(sections, Parameters="\n".join(filter(None, entries)), Attributes=attributes)


def _sections(doc: str) -> dict[str, str]:
    """The sections of a docstring by name; the text in front of them has the name ""."""
    doc = inspect.cleandoc(doc)
    heads = list(_SECTION.finditer(doc))
    ends = [*(head.start() for head in heads), len(doc)]
    found = {"": doc[: ends[0]].strip()}
    for head, end in zip(heads, ends[1:], strict=True):
        found[head.group().partition("\n")[0].strip()] = doc[head.end() : end].strip("\n")
    return found


def _with_sections(sections: dict[str, str], **changed: str) -> str:
    """A docstring of its sections; changed ones that it did not have come first, in the order given."""
    text, others = sections[""], {name: body for name, body in sections.items() if name}
    merged = {**changed, **others, **changed}
    parts = [f"{name}\n{'-' * len(name)}\n{body}" for name, body in merged.items() if body]
    return "\n\n".join([text, *parts]) + "\n"


def _entries(section: str) -> dict[str, str]:
    """The entries of a section by name."""
    each = re.split(r"\n(?=\S)", section) if section else []
    return {entry.partition("\n")[0].partition(" : ")[0]: entry.rstrip() for entry in each}


def _attributes(cls: type, parameters: Mapping[str, Parameter]) -> str:
    """The `Attributes` section: the entries of the class and of its base classes, those of bases first.

    Where a class describes an attribute of a base class again, its text takes the place of the other. An
    attribute that is there "only with" a parameter is left out where the class has no such parameter.
    """
    found: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        if base is cls or base.__module__.startswith(_PACKAGE):
            found |= _entries(_sections(vars(base).get("__doc__") or "").get("Attributes", ""))
    needed = {name: _ONLY_WITH.findall(" ".join(entry.split())) for name, entry in found.items()}
    return "\n".join(
        entry for name, entry in found.items() if all(each in parameters for each in needed[name])
    )


def _braces(choices: Iterable[str]) -> str:
    return "{" + ", ".join(f'"{choice}"' for choice in choices) + "}"


def _same(one: Any, other: Any) -> bool:
    """Whether two values are equal, also where they are or hold arrays."""
    if one is other:
        return True
    if hasattr(one, "tolist") and hasattr(other, "tolist"):
        return type(one) is type(other) and bool(one.tolist() == other.tolist())
    if hasattr(one, "tolist") or hasattr(other, "tolist"):
        return False
    return bool(one == other)


def _remake(kind: Callable[..., Any], options: dict[str, Any]) -> Any:
    """A value from its pickle."""
    return kind(**options)
