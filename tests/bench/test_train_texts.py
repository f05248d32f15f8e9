"""The trainer's texts: R's serialisation by hand, notices, paragraphs, what is held out, the tokenizer."""

import json
import re
import struct
import zlib
from pathlib import Path

import pytest

from bench.train import bpe, corpus, rdata

NIL = struct.pack(">i", rdata.NIL)


def whole(count):
    return struct.pack(">i", count)


def letters(text):
    data = text.encode()
    return whole(rdata.CHARACTERS | 0x8000) + whole(len(data)) + data


def strings(*texts):
    return whole(rdata.STRINGS) + whole(len(texts)) + b"".join(map(letters, texts))


def file_of(value, version=2):
    native = whole(5) + b"UTF-8" if version == 3 else b""
    return b"X\n" + whole(version) + whole(0x40203) + whole(0x30500) + native + value


def named(*pairs):
    """A list with names: flags, values, and the attribute that names them."""
    names, values = zip(*pairs, strict=True)
    tag = whole(rdata.SYMBOL) + letters("names")
    attribute = whole(rdata.PAIRLIST | rdata.HAS_TAG) + tag + strings(*names) + NIL
    return whole(rdata.LIST | rdata.HAS_ATTRIBUTES) + whole(len(values)) + b"".join(values) + attribute


@pytest.mark.parametrize("version", [2, 3])
def test_strings_and_names_are_read(version):
    value = named(("a", strings("first line", "", "é")), ("b", whole(rdata.INTEGERS) + whole(2) + whole(7) + whole(-1)))
    assert rdata.unserialise(file_of(value, version)) == {"a": ["first line", "", "é"], "b": [7, -1]}


def test_a_missing_string_is_none_and_a_real_is_a_float():
    value = whole(rdata.STRINGS) + whole(1) + whole(rdata.CHARACTERS) + whole(-1)
    assert rdata.unserialise(file_of(value)) == [None]
    assert rdata.unserialise(file_of(whole(rdata.REALS) + whole(1) + struct.pack(">d", 0.5))) == [0.5]


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"RDX3", "starts with 'X'"),
        (file_of(strings("abc"))[:-1], "data ends at byte"),
        (file_of(whole(3) + whole(0)), "R type 3"),
        (b"X\n" + whole(9) + whole(0) + whole(0), "version 2 or 3"),
    ],
)
def test_what_is_no_serialisation_says_so(data, told):
    with pytest.raises(ValueError, match=re.escape(told)):
        rdata.unserialise(data)


def database(*texts):
    chunks, places, at = [], [], 0
    for text in texts:
        data = file_of(strings(text))
        packed = len(data).to_bytes(4, "big") + zlib.compress(data)
        places.append(whole(rdata.INTEGERS) + whole(2) + whole(at) + whole(len(packed)))
        chunks.append(packed)
        at += len(packed)
    names = [f"book{number}" for number in range(len(texts))]
    index = named(("variables", named(*zip(names, places, strict=True))))
    return zlib.compress(file_of(index)), b"".join(chunks)


def test_a_database_gives_its_variables():
    assert rdata.read_database(*database("one", "two")) == {"book0": ["one"], "book1": ["two"]}


def test_lines_become_paragraphs():
    lines = ["TITLE", "", "", "first line", "second line", " ", "end", ""]
    assert corpus.paragraphs(lines) == "TITLE\n\nfirst line second line\n\nend\n\n"


@pytest.mark.parametrize(
    ("head", "other"),
    [
        (b"# Copyright (C) 2001 Python Software Foundation\n", False),
        (b"# Copyright (c) 2006 R Oudkerk\n# Licensed to PSF under a Contributor Agreement.\n", False),
        (b'"""No notice at all."""\n', False),
        (b"# Copyright 2007 Somebody Else.\n", True),
        (b"# Permission to use, copy, modify, and distribute\n", True),
    ],
)
def test_files_of_other_owners_are_left_out(head, other):
    assert corpus.other_licence(head + b"import os\n") is other


def test_code_is_chosen_by_folder_size_and_notice(tmp_path):
    body = b"x = 1\n" * 100
    for name, source in {
        "a.py": body,
        "test/b.py": body,
        "small.py": b"x = 1\n",
        "deep/c.py": body,
        "d.py": b"# Copyright 2007 Somebody Else\n" + body,
        "latin.py": b"# \xff\n" + body,
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(source)
    kept, other = corpus.code(tmp_path)
    assert sorted(kept) == ["a.py", "deep/c.py"]
    assert other == ["d.py"]
    assert kept["a.py"].endswith(b"x = 1\n\n\n")


def test_what_is_held_out_is_not_trained_on():
    novels = {"n": b"\n\n".join(b"paragraph %d" % number for number in range(200)) + b"\n\n"}
    sources = {f"{number}.py": b"# %d\n" % number for number in range(50)}
    parts = corpus.split(novels, sources)
    for kind, texts in (("prose", novels), ("code", sources)):
        assert sorted(b"".join(parts[kind]["train"] + parts[kind]["held"])) == sorted(b"".join(texts.values()))
    assert 0.03 < len(parts["prose"]["held"][0]) / len(novels["n"]) < 0.07
    assert parts["prose"]["held"][0].startswith(b"paragraph")
    assert parts["code"]["held"] == [b"# 12\n", b"# 36\n"]


TEXT = b"def low(self):\n    return lower, lowest\n\n    low 12345 ---- \xc3\xa9\x00\r\n" * 3


def test_pieces_are_the_text_and_are_short():
    for data in (TEXT, bytes(range(256)) * 2, b"a" * 1000, b" " * 100, b"\n" * 50, b"_" * 99, b""):
        assert b"".join(bpe.pieces(data)) == data
        assert max(map(len, bpe.pieces(data)), default=0) <= 36
    assert bpe.pieces(b"\n    return lower") == [b"\n    ", b"return", b" lower"]


def test_the_most_frequent_pair_is_merged_first():
    merges = bpe.train([b"low lower lowest low"], 259)
    assert merges[:2] == [(ord("l"), ord("o")), (256, ord("w"))]
    assert bpe.Encoder(merges).bytes[257] == b"low"


def test_merges_apply_and_every_text_comes_back():
    merges = bpe.train([TEXT], 300)
    encoder = bpe.Encoder(merges)
    assert len(encoder.encode(TEXT)) < len(TEXT) / 2
    for data in (TEXT, bytes(range(256)), b"", b"lowlowlow", "größer".encode()):
        assert encoder.decode(encoder.encode(data)) == data


def test_an_earlier_merge_goes_first():
    encoder = bpe.Encoder([(ord("b"), ord("c")), (ord("a"), ord("b")), (ord("a"), 256)])
    assert encoder.encode(b"abc") == [258]
    assert encoder.encode(b"ab") == [257]


def test_bad_merges_and_a_small_vocabulary_are_refused():
    with pytest.raises(ValueError, match="merges must join ids that exist, got 300"):
        bpe.Encoder([(300, 1)])
    with pytest.raises(ValueError, match="vocab must be 256 or more, got 12"):
        bpe.train([b"abc"], 12)


def test_token_files_are_written(tmp_path, monkeypatch):
    monkeypatch.setattr(corpus, "prose", lambda package: {"n": b"It was a fine day.\n\n" * 40})
    monkeypatch.setattr(corpus, "VOCAB", 280)
    library = tmp_path / "lib"
    library.mkdir()
    for number in range(30):
        (library / f"m{number:02d}.py").write_bytes(b"value = %d\n" % number * 60)
    facts = corpus.prepare(Path("unused"), library, tmp_path / "out")
    assert facts["files"] == 30
    assert facts["held_files"] == ["m12.py"]
    assert json.loads((tmp_path / "out" / "corpus.json").read_text()) == facts
    for kind in ("prose", "code"):
        size = (tmp_path / "out" / f"{kind}-train.u16").stat().st_size
        assert size == 2 * facts[f"{kind}_train"]["tokens"]
