"""A small static host for tests and pictures: a built site under a sub-path, as GitHub Pages would serve it.

Why it exists: most faults of a static site show only below ``/something/`` and only with a real host's MIME types,
cache headers and missing files. Python's own server has the first wrong and cannot do the last on purpose.

Must not know: what the site is about.
"""

from __future__ import annotations

import gzip
import re
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

__all__ = ["TYPES", "Host", "Spoiled", "serve"]

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".wasm": "application/wasm",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".woff2": "font/woff2",
    ".xml": "application/xml",
    ".txt": "text/plain; charset=utf-8",
    ".zip": "application/zip",
}
COMPRESSED = (".html", ".css", ".js", ".mjs", ".json", ".svg", ".xml", ".txt", ".wasm")


@dataclass(frozen=True)
class Spoiled:
    """What is sent in place of a file, as faulty hosts, caches and lines send it."""

    status: int = 200
    #: None: the file's own
    body: bytes | None = None
    #: the type told; "": the file's own
    kind: str = ""
    #: so much of the file is all there is
    keep: float = 1.0
    #: after so much of the answer the connection ends
    until: float = 1.0
    #: nothing is sent before this is set
    held: threading.Event | None = None


@dataclass
class Host:
    """A running server. Tests change ``headers``, ``broken`` and ``delay_s`` while it runs."""

    folder: Path
    base: str
    url: str = ""
    #: sent with every answer (a Content-Security-Policy, say)
    headers: dict[str, str] = field(default_factory=dict)
    #: regular expression over the path below ``base`` → the status, or whatever else, sent instead of the file
    broken: dict[str, int | Spoiled] = field(default_factory=dict)
    #: regular expression over the path below ``base`` → seconds waited before the answer
    delay_s: dict[str, float] = field(default_factory=dict)
    #: a slow line, shared by all that is sent: bits a second (0: none) and seconds until an answer begins
    bits_per_s: float = 0.0
    latency_s: float = 0.0
    #: every path asked for, in order, with its status
    asked: list[tuple[str, int]] = field(default_factory=list)
    #: bytes of the bodies sent for these, in the same order (packed, where the browser takes that)
    sent: list[int] = field(default_factory=list)
    _free_at: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def piece(self) -> int:
        """Bytes written at once: all, or on a slow line a few packets, so that files share it."""
        return 8192 if self.bits_per_s else 1 << 40

    def pace(self, size: int) -> None:
        """Wait as long as a line of ``bits_per_s`` needs for ``size`` bytes after all that was put on it before."""
        if not self.bits_per_s:
            return
        with self._lock:
            self._free_at = max(self._free_at, time.monotonic()) + 8 * size / self.bits_per_s
            until = self._free_at
        time.sleep(max(0.0, until - time.monotonic()))

    def pages(self) -> tuple[str, ...]:
        """Addresses of all pages below ``url`` ("" is the home page), without the error page, sorted."""
        found = (path.relative_to(self.folder).parent.as_posix() for path in self.folder.rglob("index.html"))
        return tuple(sorted("" if name == "." else f"{name}/" for name in found))


@contextmanager
def serve(folder: Path, base: str = "/sub/", *, headers: Mapping[str, str] | None = None) -> Iterator[Host]:
    """Serve ``folder`` at ``http://127.0.0.1:<free port><base>`` until the block ends."""
    host = Host(folder.resolve(), base, headers=dict(headers or {}))
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(host))
    server.daemon_threads = True
    host.url = f"http://127.0.0.1:{server.server_port}{base}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield host
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@lru_cache(maxsize=256)
def _compressed(path: Path, _changed: int) -> bytes:
    return gzip.compress(path.read_bytes(), compresslevel=1, mtime=0)


def _sitemap(text: bytes, url: str) -> bytes:
    """The sitemap as if built for this address: Material navigates without loading only to pages that it lists."""
    places = re.findall(rb"<loc>([^<]*)</loc>", text)
    return text.replace(b"<loc>" + min(places, key=len), b"<loc>" + url.encode()) if places else text


def _handler(host: Host) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_one_request(self) -> None:
            try:
                super().handle_one_request()
            except ConnectionResetError:  # the browser was closed between two requests
                self.close_connection = True

        def do_GET(self) -> None:
            path = unquote(urlsplit(self.path).path)
            if not path.startswith(host.base):
                return self.answer(path, 404, b"outside the site", "text/plain")
            name = path.removeprefix(host.base)
            threading.Event().wait(max((s for what, s in host.delay_s.items() if re.search(what, name)), default=0))
            spoiled = Spoiled()
            for what, fault in host.broken.items():
                if re.search(what, name):
                    if isinstance(fault, int):
                        return self.answer(name, fault, b"made to fail by a test", "text/plain")
                    spoiled = fault
            if spoiled.held:
                spoiled.held.wait(60)
            target = (host.folder / name).resolve()
            if not target.is_relative_to(host.folder):
                return self.answer(name, 404, b"outside the site", "text/plain")
            if target.is_dir():
                if name and not name.endswith("/"):
                    return self.answer(name, 301, b"", "text/plain", {"Location": f"{path}/"})
                target /= "index.html"
            status = 200
            if not target.is_file():
                target, status = host.folder / "404.html", 404
                if not target.is_file():
                    return self.answer(name, 404, b"no such file", "text/plain")
            kind = TYPES.get(target.suffix, "application/octet-stream")
            # The hashed folder never changes under its name; everything else is asked for again.
            fixed = re.match(r"assets/live/[0-9a-f]{12}/", name)
            extra = {"Cache-Control": "public, max-age=31536000, immutable" if fixed else "no-cache"}
            if spoiled != Spoiled():
                body = target.read_bytes() if spoiled.body is None else spoiled.body
                body, kind = body[: int(len(body) * spoiled.keep)], spoiled.kind or kind
                return self.answer(name, max(status, spoiled.status), body, kind, extra, spoiled.until)
            if name == "sitemap.xml":
                return self.answer(name, status, _sitemap(target.read_bytes(), host.url), kind, extra)
            if target.suffix in COMPRESSED and "gzip" in self.headers.get("Accept-Encoding", ""):
                extra["Content-Encoding"] = "gzip"
                return self.answer(name, status, _compressed(target, target.stat().st_mtime_ns), kind, extra)
            return self.answer(name, status, target.read_bytes(), kind, extra)

        do_HEAD = do_GET

        def answer(
            self,
            name: str,
            status: int,
            body: bytes,
            kind: str,
            headers: Mapping[str, str] | None = None,
            until: float = 1.0,
        ) -> None:
            host.asked.append((name, status))
            host.sent.append(len(body))
            time.sleep(host.latency_s)
            try:
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                for key, value in {**(headers or {}), **host.headers}.items():
                    self.send_header(key, value)
                self.end_headers()
                if until < 1:
                    body, self.close_connection = body[: int(len(body) * until)], True
                for start in range(0, len(body) if self.command != "HEAD" else 0, host.piece):
                    host.pace(min(host.piece, len(body) - start))
                    self.wfile.write(body[start : start + host.piece])
            except (BrokenPipeError, ConnectionResetError):  # the browser went to another page
                self.close_connection = True

        def log_message(self, format: str, *arguments: object) -> None:
            """Tests read ``Host.asked`` instead."""

    return Handler
