"""Which license a crate names, as the address that stands in its metadata."""

from __future__ import annotations

import difflib
import re
from urllib.parse import urlsplit

from thalweg.errors import brief, near, refuse

# Of the SPDX License List (https://spdx.org/licenses): those that data, texts and code of studies mostly have.
COMMON = (
    *("CC0-1.0", "CC-BY-4.0", "CC-BY-SA-4.0", "CC-BY-NC-4.0", "CC-BY-NC-SA-4.0", "CC-BY-ND-4.0", "CC-BY-NC-ND-4.0"),
    *("ODbL-1.0", "ODC-By-1.0", "PDDL-1.0", "CDLA-Permissive-2.0", "Unlicense", "0BSD", "MIT", "MIT-0", "ISC", "Zlib"),
    *("BSD-2-Clause", "BSD-3-Clause", "Apache-2.0", "BSL-1.0", "MPL-2.0", "EPL-2.0", "EUPL-1.2", "Artistic-2.0"),
    *("LGPL-2.1-only", "LGPL-2.1-or-later", "LGPL-3.0-only", "LGPL-3.0-or-later"),
    *("GPL-2.0-only", "GPL-2.0-or-later", "GPL-3.0-only", "GPL-3.0-or-later", "AGPL-3.0-only", "AGPL-3.0-or-later"),
)
# More alike than two names of the list with the same numbers are.
_ALIKE = 0.9
# SPDX 2.3, annex D: an `idstring`.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]*")


def address_of(license: str) -> str:
    """Of an SPDX identifier its page, in the letters of the list; an address as it is.

    Raises:
        ScenarioError: it cannot be one, or is a slip of a common one, which the hint has.
    """
    text = str(license)
    if re.match(r"https?:", text):
        if not urlsplit(text).hostname or re.search(r"\s", text):
            raise refuse(f"`{brief(text)}` is not an address of a license", key="license", hint="for example https://…")
        return text
    if not _NAME.fullmatch(text):
        close = near(text, COMMON)
        hint = f"did you mean `{close[0]}`?" if close else "for example CC-BY-4.0, or an address"
        if re.search(r" (OR|AND|WITH) |\+$", text):
            hint = "one name, without `OR`, `AND`, `WITH` and `+`, or the address of a text"
        raise refuse(f"`{brief(text)}` is not an SPDX identifier", key="license", hint=hint)
    common = {name.lower(): name for name in COMMON}
    name = common.get(text.lower(), text)
    if name not in COMMON and (meant := _meant(text)):
        raise refuse(
            f"`{text}` is not on the SPDX License List", key="license", hint=f"did you mean {' or '.join(meant)}?"
        )
    return f"https://spdx.org/licenses/{name}"


def _meant(name: str) -> list[str]:
    """The common ones that a name is a slip of: it is their beginning, or differs in a letter or two. The list has
    hundreds more, of other versions mostly: a name with other numbers is taken for one of these."""
    numbers = re.findall(r"\d+", name)
    return [
        f"`{one}`"
        for one in COMMON
        if one.lower().startswith(name.lower())
        or (
            re.findall(r"\d+", one) == numbers
            and difflib.SequenceMatcher(None, name.lower(), one.lower()).ratio() > _ALIKE
        )
    ][:3]
