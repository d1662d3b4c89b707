"""Projects of one's own: a controller or a study as a package that passes its own tests.

    >>> thalweg.projects.new("study", "author-study", out="author-study")

The folder appears complete or not at all. What is in it is under `templates/`; `{NAME}` and the like are replaced.
"""

from __future__ import annotations

import keyword
import re
import shutil
import sys
import uuid
from importlib.metadata import packages_distributions
from pathlib import Path

from thalweg import _core, _input, _places, _toml, installed
from thalweg.errors import refuse

TEMPLATES = Path(__file__).parent / "templates"
# What may be made, and the folder of its template.
KINDS = ("python", "rust", "study")
# Names that no crate can have: keywords, and the crates that every one has.
RUST_WORDS = (
    "abstract alloc as async await become box break const continue core crate do dyn else enum extern false final fn "
    "for gen if impl in let loop macro match mod move mut override priv proc_macro pub ref return self static std "
    "struct super test trait true try type typeof unsafe unsized use virtual where while yield"
)


def new(kind: str, name: str, *, out: str | Path | None = None, checkout: str | Path | None = None) -> Path:
    """Writes a project and answers with its folder.

    `kind`: `"python"` or `"rust"`, a controller, or `"study"`. `name`: what scenarios, or `thalweg reproduce`, will
    call it, and the package on PyPI. `out`: the folder, which must not be there yet (default: `name`). `checkout`: a
    source tree of thalweg, whose crates a project in Rust takes instead of those that are published. Raises
    `ScenarioError`.
    """
    if kind not in KINDS:
        raise refuse(f"no kind of project is called `{kind}`", hint=f"(known: {', '.join(KINDS)})")
    words = _words(kind, name) | {"CRATE": _crate(checkout)}
    folder = _input.maybe(out, "a folder") or Path(name)
    if folder.exists() or folder.is_symlink():
        raise refuse("is there already", file=_places.shown(folder), hint="choose another --out")
    _places.make_parents(folder)
    made = folder.with_name(f".{folder.name}.thalweg-{uuid.uuid4().hex[:12]}")
    try:
        for source in sorted((TEMPLATES / kind).rglob("*.in")):
            inside = str(source.relative_to(TEMPLATES / kind)).removesuffix(".in").replace("PACKAGE", words["PACKAGE"])
            target = made / inside
            target.parent.mkdir(parents=True, exist_ok=True)
            text = source.read_text(encoding="utf-8")
            for word, value in words.items():
                text = text.replace(f"{{{word}}}", value)
            _places.write_file(target, text)
        made.rename(folder)
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise
    return folder


def _is_rusts(module: str, made: str) -> bool:
    """Whether a crate cannot be called so, or the template uses a type that is."""
    text = (TEMPLATES / "rust" / "src" / "lib.rs.in").read_text(encoding="utf-8")
    code = re.sub(r"//.*", "", text)
    return module in RUST_WORDS.split() or made in re.findall(r"\b[A-Z]\w*\b", code.replace("{CLASS}", ""))


def _crate(checkout: str | Path | None) -> str:
    """Where cargo finds `thalweg-plugin`, as its manifest says it."""
    if checkout is None:
        return _toml.inline(_core.VERSION)
    crate = _input.path(checkout, "a source tree").resolve() / "crates" / "plugin"
    if not (crate / "Cargo.toml").is_file():
        raise refuse("is not a source tree of thalweg: it has no crates/plugin", file=checkout)
    return _toml.inline({"path": str(crate)})


def files(kind: str) -> list[str]:
    """The files of a kind of project, as their templates are called."""
    root = TEMPLATES / kind
    return sorted(str(p.relative_to(root)).removesuffix(".in") for p in root.rglob("*.in"))


def _words(kind: str, name: str) -> dict[str, str]:
    """What stands for what in templates. Refuses names that a package, or a controller, cannot have."""
    if not re.fullmatch(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*", name):
        raise refuse(f"`{name}` is not a name of a package", hint="small letters, digits and single hyphens: author-cc")
    package = name.replace("-", "_")
    # `test` is missing in Python's list of its modules.
    if keyword.iskeyword(package) or package in sys.stdlib_module_names or package in ("test", "tests", "thalweg"):
        reason = f"`{name}` would be the module `{package}`, which Python or thalweg has"
        raise refuse(reason, hint="choose another, such as author-cc")
    if kind == "study":
        from thalweg.papers import discover

        taken = name in discover()
    else:
        # (`custom` is the kind that users' own are of in scenarios.)
        known = {"custom"} | installed.built_in() | installed.declared(installed.CONTROLLERS).keys()
        taken = name in known
    if taken:
        raise refuse(f"`{name}` is taken: `thalweg list` has one", hint="choose another name")
    owner = packages_distributions().get(package)
    if owner:
        reason = f"`{name}` would be the module `{package}`, which the installed package {owner[0]} has"
        raise refuse(reason, hint="choose another, such as author-cc")
    parts = name.split("-")
    made = "".join(part.capitalize() for part in parts)
    if kind != "study" and (keyword.iskeyword(made) or (kind == "rust" and _is_rusts(package, made))):
        language = "Rust" if kind == "rust" else "Python"
        reason = f"`{name}` would be the module `{package}` with the class `{made}`: {language} has one of these names"
        raise refuse(reason, hint="choose another, such as author-cc")
    return {
        "NAME": name,
        "PACKAGE": package,
        "CLASS": made,
        "LETTERS": "".join(part[0] for part in parts).upper(),
        "VERSION": _core.VERSION,
    }
