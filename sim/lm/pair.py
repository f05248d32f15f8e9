"""The tiny pair: a target and its six drafts out of two files of weights.

Why it exists: everything that a page or a benchmark needs hangs on one object. It must not know where the files came
from, nor what is done with the rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from sim._numbers import one_of, tokens_of, whole
from sim.lm.drafts import Draft, LookUp, NetworkDraft, Table, TableDraft, Target
from sim.lm.file import Tensors, read
from sim.lm.model import Network, Shape
from sim.lm.rows import Sampler
from sim.lm.tables import TABLES
from sim.lm.text import Vocabulary

__all__ = ["DRAFTS", "Fitted", "Pair", "load"]

DRAFTS = ("one-layer", "two-layer", "trigram", "bigram", "look-up", "exit")
START = 10
"""The token a text without a prompt begins with: a new line."""


class Fitted(NamedTuple):
    """A prompt that the context has room for, and how many of the first tokens it had to leave out."""

    tokens: tuple[int, ...]
    left_out: int


class Pair:
    """Weights and tokeniser, without state: readers with caches are made by `target` and `draft`.

    `vocab` tokens; `context`: the longest text, prompt and all; `cards`: what the files say about themselves.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        network: Network,
        networks: Mapping[str, Network],
        tables: Mapping[str, Table],
        cards: Mapping[str, Mapping[str, Any]],
    ) -> None:
        self.network = network
        self.cards = MappingProxyType(dict(cards))
        self._vocabulary, self._networks, self._tables = vocabulary, networks, tables
        self.vocab = network.shape.vocab
        self.context = min([network.shape.context, *(one.shape.context for one in networks.values())])
        self.drafts = tuple(name for name in DRAFTS if name in networks or name in tables or name == LookUp.name)

    def encode(self, text: str | bytes) -> tuple[int, ...]:
        """A text's tokens; every text and every byte has some."""
        return self._vocabulary.encode(text)

    def text(self, tokens: Sequence[int]) -> str:
        """Tokens as text; bytes that are no UTF-8, such as half a letter, become U+FFFD."""
        return self._vocabulary.decode(tokens).decode("utf-8", "replace")

    def piece(self, token: int) -> bytes:
        """The bytes of one token."""
        return self._vocabulary.decode((token,))

    def fit(self, tokens: Sequence[int], room: int) -> Fitted:
        """A prompt that leaves `room` tokens of the context free (max_tokens + gamma): its last tokens.

        An empty one becomes a new line: a text must begin with something.
        """
        given = tokens_of("tokens", tokens, self.vocab) or (START,)
        most = self.context - whole("room", room, 0, self.context - 1)
        return Fitted(given[-most:], max(0, len(given) - most))

    def target(self, temperature: float = 1.0, top_k: int = 0, top_p: float = 1.0) -> Target:
        """The target with an empty cache; top_k 0 and top_p 1: no cut."""
        return Target(self.network, Sampler(float(temperature), int(top_k), float(top_p)))

    def draft(
        self, name: str, target: Target | None = None, temperature: float = 1.0, top_k: int = 0, top_p: float = 1.0
    ) -> Draft:
        """A draft with an empty cache. `target` belongs to the interface; every draft so far keeps a cache of its own.

        ValueError for an unknown name, with the list.
        """
        one_of("draft", name, self.drafts)
        sampler = Sampler(float(temperature), int(top_k), float(top_p))
        if name in self._networks:
            return NetworkDraft(name, self._networks[name], sampler)
        if name in self._tables:
            return TableDraft(name, self._tables[name], sampler)
        return LookUp(self.vocab, sampler)


def load(target: bytes | memoryview, drafts: bytes | memoryview) -> Pair:
    """The pair in these two files. ValueError says what is wrong with which of them."""
    ours, theirs = read(target, "target.safetensors"), read(drafts, "drafts.safetensors")
    shape = Shape.of(ours.config, ours.name)
    merges = [(int(a), int(b)) for a, b in ours.take("merges", "U16", (None, 2)).tolist()]
    pattern = ours.config.get("pretokenize")
    if not isinstance(pattern, str):
        raise ValueError(f"{ours.name}: the config has no pretokenize")
    try:
        vocabulary = Vocabulary(merges, pattern)
    except ValueError as error:
        raise ValueError(f"{ours.name}: {error}") from None
    if len(vocabulary) != shape.vocab:
        raise ValueError(f"{ours.name}: vocab is {shape.vocab} and the merges make {len(vocabulary)}")
    network = Network.of(ours, shape)
    ours.finish()
    networks, tables = _drafts(theirs, network)
    theirs.finish()
    return Pair(vocabulary, network, networks, tables, {"target": ours.card, "drafts": theirs.card})


def _drafts(file: Tensors, target: Network) -> tuple[dict[str, Network], dict[str, Table]]:
    configs = file.config.get("drafts")
    if not isinstance(configs, dict) or not all(isinstance(config, dict) for config in configs.values()):
        raise ValueError(f"{file.name}: the config has no drafts")
    networks: dict[str, Network] = {}
    tables: dict[str, Table] = {}
    width, vocab = target.shape.width, target.shape.vocab
    for name, config in configs.items():
        where = f"{file.name}: {name}"
        if name == "exit":
            layers = whole(f"{where}: layer", config.get("layer"), 1, len(target.layers))
            gain, into = file.vector("exit.norm", width), file.matrix("exit.map", width, width)
            networks[name] = target.early(layers, gain, into)
        elif name in TABLES:
            tables[name] = TABLES[name](file, name, config, vocab)
        elif name in DRAFTS and name != LookUp.name:
            shape = Shape.of(config, where)
            if shape.vocab != vocab:
                raise ValueError(f"{where}: vocab is {shape.vocab}, the target's is {vocab}")
            networks[name] = Network.of(file, shape, f"{name}.")
        else:
            raise ValueError(f"{where}: a draft of this name is not known")
    return networks, tables
