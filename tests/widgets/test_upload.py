"""A file of the reader's: lines in batches, whatever its bytes are, and never more of it in memory than needed."""

import pytest

from widgets._kit.params import File
from widgets._kit.upload import CHUNK, LINES, LONGEST_LINE, Upload


def upload(content: bytes, name: str = "server.log") -> Upload:
    return Upload(name, len(content), lambda start, stop: content[start:stop])


def lines(content: bytes) -> list[str]:
    return [line for _, batch in upload(content).lines() for line in batch]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", []),
        (b"one", ["one"]),
        (b"one\ntwo\n", ["one", "two"]),
        (b"one\r\n\r\ntwo", ["one", "", "two"]),
        (b"\xef\xbb\xbfone\n", ["one"]),
        ("größer\n".encode(), ["größer"]),
        (b"\xff<b>\x00\n", ["\ufffd<b>\x00"]),
    ],
)
def test_bytes_become_lines(content, expected):
    assert lines(content) == expected


def test_lines_and_characters_survive_the_edge_of_a_chunk():
    content = (b"a" * (CHUNK - 1)) + "é\nend\r\n".encode()
    assert lines(content) == ["a" * (CHUNK - 1) + "é", "end"]
    edge = b"b" * (CHUNK - 1) + b"\r\nend"
    assert lines(edge)[-1] == "end"


def test_batches_are_small_and_say_how_far_they_are():
    batches = list(upload(b"x\n" * (2 * CHUNK)).lines())
    assert max(len(batch) for _, batch in batches) <= LINES
    shares = [share for share, _ in batches]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert sum(len(batch) for _, batch in batches) == 2 * CHUNK


def test_a_file_without_line_ends_is_cut_and_not_collected():
    asked = []

    def read(start, stop):
        asked.append(stop - start)
        return b"z" * (stop - start)

    batches = list(Upload("big", 20 * CHUNK, read).lines())
    assert max(asked) == CHUNK
    assert max(len(line) for _, batch in batches for line in batch) <= LONGEST_LINE + CHUNK


def test_a_file_that_is_gone_says_so():
    def read(start, stop):
        raise OSError("NotReadableError")

    with pytest.raises(ValueError, match=r"gone\.log can no longer be read; choose it again"):
        list(Upload("gone.log", 5, read).lines())


def test_the_parameter_takes_a_file_or_none_and_refuses_a_large_one():
    param = File("A log", max_bytes=10_000_000)
    small = upload(b"x")
    assert param.check(None) is None
    assert param.check(small) is small
    assert param.show(small) == "server.log"
    assert (param.kind, param.private, param.default) == ("file", True, None)
    with pytest.raises(ValueError, match="has 20 MB; at most 10 MB"):
        param.check(Upload("big", 20_000_000, lambda start, stop: b""))
    for wrong in ("server.log", 3, {"name": "x"}):
        with pytest.raises(ValueError, match="is not a file"):
            param.check(wrong)
    with pytest.raises(ValueError, match="is not a file"):
        param.read("server.log")
