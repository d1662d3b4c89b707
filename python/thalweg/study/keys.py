"""Which run: a place, the scheme under test, a seed."""

from __future__ import annotations


class Key(str):
    """A run's key, written `PLACE:SCHEME@SEED`. It is that text, so that patterns, folders and messages take it as
    it is, and it has its parts as data.

    `place`: the network, load, or row of a table that schemes are compared at. `scheme`: what is compared; may be
    empty. `seed`: `None` for a point of a grid, which stands for its runs with every seed, and for a run that nothing
    random is in."""

    place: str
    scheme: str
    seed: int | None

    def __new__(cls, place: str, scheme: str = "", seed: int | None = None) -> Key:
        head = f"{place}:{scheme}" if scheme else place
        made = super().__new__(cls, head if seed is None else f"{head}@{seed}")
        made.place, made.scheme, made.seed = place, scheme, seed
        return made

    # A text is made of a text; a key is made of its parts.
    def __getnewargs__(self) -> tuple[str, str, int | None]:  # type: ignore[override]
        return self.place, self.scheme, self.seed

    @classmethod
    def of(cls, text: str) -> Key:
        """From its text; a key stays what it is. The place has no colon, the scheme may have some."""
        if isinstance(text, Key):
            return text
        head, at, seed = text.rpartition("@")
        if not at or not seed.isdecimal():
            head, seed = text, ""
        place, _, scheme = head.partition(":")
        return cls(place, scheme, int(seed) if seed else None)

    def at(self, seed: int | None) -> Key:
        """The same with this seed."""
        return Key(self.place, self.scheme, seed)

    @property
    def point(self) -> Key:
        """The same without its seed."""
        return self.at(None)

    @property
    def every(self) -> str:
        """The pattern of all seeds of its point, for `needs`."""
        return f"{self.point}@*"
