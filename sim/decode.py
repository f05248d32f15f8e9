"""Whole decodes: rounds of draft and verify over any two models, until a length, an end token or a stop sequence.

Why it exists: the rule of `sim.sampling` is about one round; here is everything around it that goes wrong in
practice: the bonus token, the draft's context after a rejection, the budget, the end in the middle of a block. A
model is any function from a prefix (a tuple of token ids) to its row. This module must not know what a model is
made of, nor about time.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from sim._numbers import probability, row, tokens_of, whole
from sim.sampling import pick_token, verify_round

__all__ = ["DecodeRound", "Trace", "decode"]

Model = Callable[[tuple[int, ...]], Sequence[float]]


@dataclass(frozen=True)
class DecodeRound:
    """One round as verified: the drafts, how many were kept, and the "correction" or "bonus" token after them."""

    draft: tuple[int, ...]
    accepted: int
    token: int
    kind: str

    @property
    def emitted(self) -> tuple[int, ...]:
        """What the round adds to the text: at least one token, at most len(draft) + 1."""
        return (*self.draft[: self.accepted], self.token)


@dataclass(frozen=True)
class Trace:
    """A whole decode. The counters count what was verified; `tokens` is trimmed to the budget, the end or the stop.

    `tokens` exclude the prompt and include the end token or stop sequence; finish is "length", "eos" or "stop";
    `target_passes` is the number of rounds. A draft is not shortened near the end of the budget, as some engines do.
    """

    tokens: tuple[int, ...]
    rounds: tuple[DecodeRound, ...]
    finish: str
    target_passes: int
    drafted: int
    accepted: int


def decode(
    target: Model,
    draft: Model,
    prompt: Sequence[int],
    gamma: int,
    max_tokens: int,
    seed: int = 0,
    *,
    eos: int | None = None,
    stop: Sequence[Sequence[int]] = (),
    confidence: float = 0.0,
) -> Trace:
    """Decode after `prompt` with `gamma` drafts a round: Leviathan Algorithm 1 (arXiv 2211.17192v2), repeated.

    gamma 0 is plain decoding. The text ends at the first of: `eos`, any sequence of `stop` (both within what was
    decoded, not the prompt), `max_tokens`; at the last token of the budget an end still counts as an end. Everything
    random comes from `Random(seed)`, in this order in each round: a number for each draft, one for each test, one for
    the next token.

    `confidence`: drafting ends early in a round where the draft row's largest entry is below it. It looks at the
    row and never at the token drawn: leaving out drafts by their own probability would no longer sample from q, and
    lose the law of p. ValueError names a row that is not a distribution, or a draft with another vocabulary than
    the target.
    """
    length, budget = whole("gamma", gamma, 0), whole("max_tokens", max_tokens, 0)
    end = None if eos is None else whole("eos", eos, 0)
    stops = [tokens_of(f"stop[{i}]", sequence) for i, sequence in enumerate(stop)]
    if () in stops:
        raise ValueError(f"stop[{stops.index(())}] is empty; it must hold at least one token")
    least = probability("confidence", confidence)
    uniform = Random(whole("seed", seed, 0)).random
    text = list(tokens_of("prompt", prompt))  # committed
    context = list(text)  # what the draft has seen: runs ahead of the text within a round, and is rewound after it
    tokens: list[int] = []
    rounds: list[DecodeRound] = []
    drafted, accepted = 0, 0
    finish = "length" if budget == 0 else None
    while finish is None:
        p_rows = [row(f"target row after {len(text)} tokens", target(tuple(text)))]
        q_rows = []
        for _ in range(length):
            where = f"draft row after {len(context)} tokens"
            q_row = row(where, draft(tuple(context)), len(p_rows[0]))
            if max(q_row) < least:
                break
            q_rows.append(q_row)
            context.append(pick_token(q_row, uniform()))
            where = f"target row after {len(context)} tokens"
            p_rows.append(row(where, target((*text, *context[len(text) :])), len(p_rows[0])))
        guesses = tuple(context[len(text) :])
        verdict = verify_round(p_rows, q_rows, guesses, [uniform() for _ in guesses], uniform())
        rounds.append(DecodeRound(guesses, verdict.accepted, verdict.token, verdict.kind))
        drafted, accepted = drafted + len(guesses), accepted + verdict.accepted
        text += rounds[-1].emitted
        del context[len(context) - len(guesses) + verdict.accepted :]  # rejected drafts leave the draft's context
        context.append(verdict.token)  # and the token it has not seen joins it
        for token in rounds[-1].emitted:
            tokens.append(token)
            finish = _finish(tokens, budget, end, stops)
            if finish:
                break
    return Trace(
        tokens=tuple(tokens),
        rounds=tuple(rounds),
        finish=finish,
        target_passes=len(rounds),
        drafted=drafted,
        accepted=accepted,
    )


def _finish(tokens: list[int], budget: int, end: int | None, stops: Sequence[tuple[int, ...]]) -> str | None:
    """Why decoding ends with the last of these tokens, or None. An end or stop is looked for before the budget."""
    if tokens[-1] == end:
        return "eos"
    if any(tuple(tokens[-len(stop) :]) == stop for stop in stops):
        return "stop"
    return "length" if len(tokens) >= budget else None
