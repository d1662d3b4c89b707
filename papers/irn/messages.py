"""Random messages over a hostile path, and what may be seen of them while they arrive (§4.4.3)."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass

from thalweg import verbs

MTU, LONGEST, MESSAGES = 16, 100, 14
END = 50 * 10**9  # ps: five times what the slowest case takes
ENOUGH = 100  # wrong looks: a broken pair may never come to its end
SPACE = 1 << 24  # packet numbers wrap
CONDITIONS = ("write-immediate", "send", "atomic")  # of InfiniBand's o9-20, by what the application sees


@dataclass
class Message:
    kind: str  # write, read, or one of CONDITIONS
    packets: int
    place: verbs.Region | None = None  # where its data must be in the end
    data: bytes = b""


class Watched:
    """One case from a seed, run to its end with a look at the responder after every packet that arrives there."""

    def __init__(self, seed: int):
        r = random.Random(seed)
        self.first = r.choice([0, SPACE - 11])
        path = {
            "loss": r.choice([0.02, 0.1, 0.3]),
            "repeat": r.choice([0.0, 0.1]),
            "jitter": r.choice(["0us", "2us", "40us"]),
        }
        ends = {"mtu": MTU, "cap": r.choice([1, 2, 8, 70]), "read_slots": r.choice([1, 2, 16]), "credits": MESSAGES}
        self.pair = verbs.Pair(seed=seed, first_request=self.first, **path, **ends)
        self.messages: list[Message] = []
        self.early = Counter()  # conditions whose packet came before everything before it had
        self.seen = Counter()  # conditions that the application saw
        self.out_of_turn = 0  # looks that found more or less than what has arrived without a gap entails
        self.useless = 0  # packets that the end they came to could not use
        self.missing = 0  # earlier Writes not in memory when a condition was seen
        self._post(r)
        self._watch()

    def _post(self, r: random.Random) -> None:
        pair, room = self.pair, MESSAGES * LONGEST
        own = pair.local(r.randbytes(room))
        self.target, self.sinks = pair.remote(room), pair.remote(room)
        self.word, answers = pair.remote(8), pair.local(room)
        for i in range(MESSAGES):
            part = slice(i * LONGEST, i * LONGEST + r.randint(0, LONGEST))
            source, kind = own[part], r.choice(["write", "write", "read", *CONDITIONS])
            message = Message(kind, max(1, -(-len(source) // MTU)), self.target[part], source.data)
            if kind == "write":
                pair.write(source, message.place)
            elif kind == "write-immediate":
                pair.receive(self.sinks[:0])
                pair.write(source, message.place, immediate=i)
            elif kind == "send":
                message.place = self.sinks[part]
                pair.receive(self.sinks[i * LONGEST : (i + 1) * LONGEST])
                pair.send(source)
            else:
                message = Message(kind, 1)
                if kind == "atomic":
                    pair.fetch_add(self.word, 1, answers[8 * i : 8 * i + 8])
                else:
                    pair.read(answers[part], self.target)
            self.messages.append(message)

    def _watch(self) -> None:
        ends, total = [], 0  # the number after each message's last packet
        for message in self.messages:
            total += message.packets
            ends.append(total)
        arrived, prefix = set(), 0
        while self.out_of_turn < ENOUGH and self.pair.now_ps < END and (packet := self.pair.step()):
            self.useless += packet.ignored is not None
            if not packet.is_request:
                continue
            number = (packet.psn - self.first) % SPACE
            arrived.add(number)
            while prefix in arrived:
                prefix += 1
            if prefix <= number and number + 1 in ends:
                self.early[self.messages[ends.index(number + 1)].kind] += 1
            self._look(prefix, sum(end <= prefix for end in ends))

    def _look(self, prefix: int, whole: int) -> None:
        tellers = [i for i, m in enumerate(self.messages) if m.kind in ("write-immediate", "send")]
        adders = [i for i, m in enumerate(self.messages) if m.kind == "atomic"]
        told, added = [c.id for c in self.pair.received], int.from_bytes(self.word.data, "little")
        entailed = (prefix + self.first) % SPACE, whole, list(range(sum(i < whole for i in tellers)))
        found = self.pair.expected, self.pair.msn, told
        self.out_of_turn += (entailed, sum(i < whole for i in adders)) != (found, added)
        # What the application sees goes by what it is notified of and finds in memory, not by what it ought to.
        visible = tellers[: len(told)] + adders[:added]
        for i in visible:
            before = self.messages[: i + (self.messages[i].kind != "atomic")]
            self.missing += sum(m.place.data != m.data for m in before if m.kind.startswith("write"))
        for kind in CONDITIONS:
            self.seen[kind] = max(self.seen[kind], sum(self.messages[i].kind == kind for i in visible))

    def ends_well(self) -> bool:
        """Everything is where it must be, and every notification came once, in order."""
        pair = self.pair
        done = [(c.id, c.status) for c in pair.completions] == [(i, "success") for i in range(MESSAGES)]
        return (
            done
            and pair.is_over
            and not self.useless
            and all(m.place is None or m.place.data == m.data for m in self.messages)
        )
