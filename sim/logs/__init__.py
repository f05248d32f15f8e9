"""Reads what inference engines print about speculative decoding into one normal form.

Why it exists: a reader should be able to drop the log of a real server on a page, or give it to `python -m bench
import`, and see the same numbers that the lessons speak of. One pass, a line at a time, flat memory. Content
never raises; what cannot be used becomes a Problem with its line and the reason. Shapes and definitions:
sim/logs/<engine>.py.

It must not know: files, pages, charts.

Speed: nearly all lines of a server log are about something else, so a line costs three substring tests before anything
is looked at closely: every known line holds "ccept" or "draft" or the marker of vLLM, or begins like JSON or a
benchmark's title.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable

from sim.logs import llamacpp, sglang, vllm
from sim.logs.console import TITLE, Console
from sim.logs.objects import JsonText, decode, read_object
from sim.logs.prometheus import PREFIXES, Counters
from sim.logs.record import Log, Measured, Problem, Refused, Sink

__all__ = ["Log", "LogReader", "Measured", "Problem", "parse_log"]

_JSON = ("{", "[{", "[\n", "[\r", "[ {")
_FIRST = dict.fromkeys("{[=t")
"""First letters of lines that open something without a word about acceptance: JSON, a console's title, a script."""
BLOCK_LINES = 20
"""A llama.cpp block is over after so many lines, closed or not."""


def parse_log(source: str | Iterable[str]) -> Log:
    """All runs, their total and all problems in a log: text, or an iterable of lines (an open file).

    See `Measured` for units. Counter snapshots: one describes the server's life (scope "lifetime"), two give their
    difference (scope "run"). A total exists only where adding up is right. Never raises on content, never returns NaN.
    """
    reader = LogReader()
    reader.feed(io.StringIO(source) if isinstance(source, str) else source)
    return reader.finish()


class LogReader:
    """`parse_log` in pieces, for a page that reads a large file chunk by chunk: feed lines, then finish once."""

    def __init__(self) -> None:
        self.lines = 0
        self._sink = Sink()
        self._counters = Counters()
        self._rule = sglang.RateRule()
        self._console: Console | None = None
        self._json: JsonText | None = None
        self._block: dict[str, str] = {}
        self._block_line = 0
        self._busy = False
        self._offline: dict[str, str] = {}
        self._offline_places: dict[int, str] = {}
        self._offline_line = 0

    def feed(self, lines: Iterable[str]) -> None:
        """Read lines, with or without their ends."""
        number = self.lines
        json, first = _JSON, _FIRST
        look, plain = self._look, self._plain
        for text in lines:
            number += 1
            if "ccept" in text or "draft" in text or "SpecDecoding metrics:" in text:
                if self._busy or text.startswith(json):
                    look(number, text)
                else:
                    try:
                        plain(number, text)
                    except Refused as refused:
                        self._sink.problem(number, refused.kind, refused.message)
            elif self._busy or (text and text[0] in first and (text[0] != "[" or text[1:2] in "{ \r\n")):
                look(number, text)
        self.lines = number

    def finish(self) -> Log:
        """Close what is open and return everything."""
        sink = self._sink
        if self._json is not None:
            self._give_up_json("the text ends inside a JSON object; nothing is read from it")
        self._close_console()
        self._close_block()
        self._close_offline()
        self._counters.close(sink)
        self._rule.close(sink)
        if not sink.runs and not sink.problems:
            sink.problem(0, "nothing", "no line of a known shape" if self.lines else "the text is empty")
        return sink.close()

    def _look(self, number: int, text: str) -> None:
        self._dispatch(number, text)
        self._busy = self._json is not None or self._console is not None or bool(self._block)

    def _dispatch(self, number: int, text: str) -> None:
        if self._json is not None:
            if self._json.feed(text):
                if self._json.closed:
                    self._close_json()
                return
            self._give_up_json("a JSON object is not closed; nothing is read from it")
        if TITLE in text:
            self._close_console()
            self._console = Console(number)
            return
        if self._console is not None:
            if not self._console.feed(text):
                self._close_console()
            if " metrics: " not in text and "accept len:" not in text:
                return
        if text.startswith(_JSON) or text == "[":
            self._open_json(number, text)
            return
        if self._block and number > self._block_line + BLOCK_LINES:
            self._close_block()
        try:
            self._plain(number, text)
        except Refused as refused:
            self._sink.problem(number, refused.kind, refused.message)

    def _plain(self, number: int, text: str) -> None:
        """One line that holds one of the two words. The commonest shapes come first."""
        sink = self._sink
        if "SpecDecoding metrics:" in text:
            sink.tools["vllm"] = None
            vllm.v1(sink, number, text)
        elif "accept len:" in text:
            sink.tools["sglang"] = None
            sglang.scheduler(sink, self._rule, number, text)
        elif text.startswith(PREFIXES):
            self._counters.feed(sink, number, text)
        elif "Speculative metrics:" in text:
            sink.tools["vllm"] = None
            vllm.v0_or_early(sink, number, text)
        elif text.startswith("#"):
            return
        elif "draft acceptance" in text and "accepted /" in text:
            llamacpp.server(sink, number, text)
        elif "#acc tokens" in text:
            llamacpp.statistics(sink, number, text)
        elif (pair := llamacpp.block_line(text)) is not None:
            if pair[0] in self._block:
                self._close_block()
            if not self._block:
                self._block_line = number
            self._block[pair[0]] = pair[1]
            self._busy = True
            if pair[0] == "accept":
                self._close_block()
        elif (entry := vllm.offline_line(text)) is not None:
            self._add_offline(number, entry)
        elif "speculative" in text:
            self._rule.settings(text)
        elif "{" in text and '"' in text:
            value = decode(text[text.index("{") :])
            if value is not None:
                read_object(sink, number, value, lambda inner: self._inner(number, inner))

    def _inner(self, number: int, text: str) -> None:
        """A log line that a collector wrapped into JSON."""
        for part in text.splitlines():
            if "ccept" in part:
                try:
                    self._plain(number, part)
                except Refused as refused:
                    self._sink.problem(number, refused.kind, refused.message)

    def _open_json(self, number: int, text: str) -> None:
        if text.startswith("{") and text.rstrip().endswith("}"):
            self._read_json(number, decode(text), text)
            return
        self._json = JsonText(number)
        if not self._json.feed(text):
            self._give_up_json("a JSON text is too long; nothing is read from it")
        elif self._json.closed:
            self._close_json()

    def _close_json(self) -> None:
        whole, self._json = self._json, None
        if whole is not None:
            self._read_json(whole.line, whole.value(), whole.parts[0])

    def _read_json(self, number: int, value: object, text: str) -> None:
        if value is None:
            if any(word in text for word in ("spec_", "draft_n", "accept_length", "speculative")):
                self._sink.problem(number, "not-json", "this looks like a result in JSON, but it is not valid JSON")
            return
        if not read_object(self._sink, number, value, lambda inner: self._inner(number, inner)) and (
            "accept" in text or "draft" in text
        ):
            self._sink.problem(
                number, "unknown-shape", "a JSON object of a shape that is not known; nothing is read from it"
            )

    def _give_up_json(self, message: str) -> None:
        whole, self._json = self._json, None
        if whole is not None and any(
            "ccept" in part or "draft" in part or "spec_" in part for part in whole.parts[:1000]
        ):
            self._sink.problem(whole.line, "not-json", message)

    def _close_console(self) -> None:
        whole, self._console = self._console, None
        if whole is not None:
            self._guarded(whole.line, lambda: whole.close(self._sink))

    def _close_block(self) -> None:
        values, self._block = self._block, {}
        if values:
            line = self._block_line
            self._guarded(line, lambda: llamacpp.block(self._sink, line, values))

    def _add_offline(self, number: int, entry: tuple[str, str] | tuple[int, str]) -> None:
        label, value = entry
        if label in self._offline or label in self._offline_places:
            self._close_offline()
        if not self._offline and not self._offline_places:
            self._offline_line = number
        if isinstance(label, int):
            if len(self._offline_places) < 1000:
                self._offline_places[label] = value
        else:
            self._offline[label] = value

    def _close_offline(self) -> None:
        values, self._offline = self._offline, {}
        places, self._offline_places = self._offline_places, {}
        if values or places:
            line = self._offline_line
            self._guarded(line, lambda: vllm.offline(self._sink, line, values, places))

    def _guarded(self, line: int, work: Callable[[], None]) -> None:
        try:
            work()
        except Refused as refused:
            self._sink.problem(line, refused.kind, refused.message)
