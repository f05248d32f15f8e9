"""Weight files: what is whole is read, and whatever is not is refused in words, wherever it is cut or changed."""

import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

np = pytest.importorskip("numpy")
lm = pytest.importorskip("sim.lm")
file = pytest.importorskip("sim.lm.file")
tiny = pytest.importorskip("tests.sim.tiny")

TARGET, DRAFTS = tiny.files().written()
SMALL = file.write(
    {"m": np.arange(6, dtype=np.int8).reshape(2, 3), "m.scale": np.array([0.5, 2], np.float16)}, {"a": 1}, {"b": "c"}
)


def header_of(data):
    size = int.from_bytes(data[:8], "little")
    return json.loads(data[8 : 8 + size]), data[8 + size :]


def with_header(header, payload):
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + payload


def payload_sum(header, payload):
    """The same file with the plain sum over the payload."""
    header["__metadata__"]["sha256"] = hashlib.sha256(payload).hexdigest()
    return with_header(header, payload)


def refused(data, words, name="small"):
    with pytest.raises(ValueError, match=words):
        file.read(data, name)


def test_what_is_written_is_read():
    found = file.read(SMALL, "small")
    assert (found.config, found.card) == ({"a": 1}, {"b": "c"})
    assert found.has("m")
    assert found.matrix("m", 2, 3).tolist() == [[0, 0.5, 1], [6, 8, 10]]
    assert not found.has("m")
    found.finish()
    assert file.read(memoryview(SMALL), "small").take("m", "I8", (None, 3)).shape == (2, 3)


def test_the_plain_sum_over_the_payload_is_taken_too():
    assert file.read(payload_sum(*header_of(SMALL)), "small").matrix("m", 2, 3).shape == (2, 3)


def test_a_tensor_is_taken_once_as_what_it_is():
    found = file.read(SMALL, "small")
    with pytest.raises(ValueError, match="small: tensor 'n' is missing"):
        found.take("n", "I8", (1,))
    with pytest.raises(ValueError, match=r"small: unknown tensors: m, m\.scale"):
        found.finish()
    for wanted, words in ((("U8", (2, 3)), "type int8, not U8"), (("I8", (3, 2)), r"shape \(2, 3\), not \(3, 2\)")):
        with pytest.raises(ValueError, match=words):
            file.read(SMALL, "small").take("m", *wanted)
    with pytest.raises(ValueError, match=r"shape \(2, 3\), not \(6,\)"):
        file.read(SMALL, "small").take("m", "I8", (6,))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "small: 0 bytes; the file is cut off, or not there"),
        (SMALL[:9], "9 bytes; the file is cut off"),
        (b"<!doctype html><title>Not found</title>", "not a safetensors file"),
        (b"PK\x03\x04" + bytes(40), "not a safetensors file"),
        (SMALL[:60], "the header should have [0-9]+ bytes and the file has 60: it is cut off"),
        (SMALL[:-1], "the tensors need 10 bytes and the file has 9: it is cut off or too long"),
        (SMALL + b"\0", "the tensors need 10 bytes and the file has 11"),
        (SMALL[:-1] + b"\x7f", "the checksum is wrong: the file was altered on its way"),
        (SMALL.replace(b'\\"c\\"', b'\\"d\\"'), "the checksum is wrong"),
        (b"\x05" + bytes(7) + b"{\xff\xff\xff}", "the header is not text"),
        (b"\x03" + bytes(7) + b"{,}", "small: header: line 1, column 2: not JSON"),
        (b"\x02" + bytes(7) + b"{}", "no __metadata__ of texts"),
    ],
)  # fmt: skip
def test_a_file_that_is_not_whole_says_what_is_wrong(data, words):
    refused(data, words)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda h: h["__metadata__"].update(format="sd-tiny 2"), "the format is 'sd-tiny 2', not 'sd-tiny 1'"),
        (lambda h: h["__metadata__"].pop("format"), "the format is None"),
        (lambda h: h["__metadata__"].update(sha256="abc"), "no sha256"),
        (lambda h: h["__metadata__"].update(sha256=7), "no __metadata__ of texts"),
        (lambda h: h.update(m=[1]), "tensor 'm': dtype, shape and data_offsets are wanted"),
        (lambda h: h["m"].update(more=1), "dtype, shape and data_offsets are wanted"),
        (lambda h: h["m"].update(dtype="F64"), "the type 'F64' is not one of I8"),
        (lambda h: h["m"].update(dtype=["I8"]), "the type"),
        (lambda h: h["m"].update(shape=[2, -3]), "whole numbers are wanted"),
        (lambda h: h["m"].update(shape=[2, 3.0]), "whole numbers are wanted"),
        (lambda h: h["m"].update(shape=[2, True, 3]), "whole numbers are wanted"),
        (lambda h: h["m"].update(shape="23"), "whole numbers are wanted"),
        (lambda h: h["m"].update(shape=[1 << 60, 1 << 60]), "whole numbers are wanted"),
        (lambda h: h["m"].update(shape=[1, 1, 1, 2, 3]), "has the wrong length"),
        (lambda h: h["m"].update(data_offsets=[0, 6, 7]), "has the wrong length"),
        (lambda h: h["m"].update(shape=[2, 4]), "6 bytes for a shape that needs 8"),
        (lambda h: h["m"].update(data_offsets=[6, 0]), "-6 bytes for a shape that needs 6"),
        (lambda h: h["m"].update(data_offsets=[2, 8]), "starts at byte 2 of the payload, not at 0"),
        (lambda h: h["m.scale"].update(data_offsets=[4, 8]), "starts at byte 4 of the payload, not at 6"),
        (lambda h: h["__metadata__"].update(config="[1]"), "config is not an object"),
        (lambda h: h["__metadata__"].update(config="{"), "config: line 1"),
        (lambda h: h["__metadata__"].pop("card"), "card: the file is empty"),
    ],
)
def test_a_header_that_makes_no_sense_says_why(change, words):
    header, payload = header_of(SMALL)
    header["__metadata__"]["sha256"] = hashlib.sha256(payload).hexdigest()
    change(header)
    refused(with_header(header, payload), words)


@given(st.binary(max_size=200))
def test_any_bytes_are_refused(data):
    refused(data, "small: ")
    refused(len(data).to_bytes(8, "little") + data, "small: ")


@given(st.data())
def test_a_file_cut_anywhere_is_refused(data):
    which = data.draw(st.sampled_from([0, 1]))
    files = [TARGET, DRAFTS]
    files[which] = files[which][: data.draw(st.integers(0, len(files[which]) - 1))]
    with pytest.raises(ValueError, match=("target", "drafts")[which] + r"\.safetensors: "):
        lm.load(*files)


@given(st.data())
def test_a_file_changed_in_any_byte_is_refused(data):
    which, in_header = data.draw(st.sampled_from([0, 1])), data.draw(st.booleans())
    files = [bytearray(TARGET), bytearray(DRAFTS)]
    size = 8 + int.from_bytes(files[which][:8], "little") if in_header else len(files[which])
    files[which][data.draw(st.integers(0, size - 1))] ^= data.draw(st.integers(1, 255))
    with pytest.raises(ValueError, match=("target", "drafts")[which] + r"\.safetensors: "):
        lm.load(*map(bytes, files))


def test_the_two_files_the_other_way_round_are_refused():
    with pytest.raises(ValueError, match=r"target\.safetensors: vocab is None"):
        lm.load(DRAFTS, TARGET)


# Files that are whole and hold something else than a pair.


def scale(made, name, value):
    made[name] = made[name].copy()
    made[name].flat[-1] = value


CHANGES = {
    "no embedding": (lambda f: f.target.pop("embedding"), r"target\.safetensors: tensor 'embedding' is missing"),
    "one too many": (lambda f: f.target.update(more=np.zeros(3, np.uint8)), "unknown tensors: more"),
    "a scale that is no number": (lambda f: scale(f.target, "layers.0.qkv.scale", np.nan), "qkv.scale' holds a number"),
    "a gain that is infinite": (lambda f: scale(f.target, "norm", np.inf), "'norm' holds a number that is not finite"),
    "another width": (lambda f: f.config.update(width=64), r"'embedding' has the shape \(274, 32\), not \(274, 64\)"),
    "no width": (lambda f: f.config.pop("width"), "width is None; it must be a whole number from 1 to 4096"),
    "a text for a width": (lambda f: f.config.update(width="32"), "width is '32'"),
    "too long a context": (lambda f: f.config.update(context=10**6), "context is 1000000; it must be a whole number"),
    "heads of odd size": (lambda f: f.config.update(heads=32), "width 32 does not divide into 32 heads of even size"),
    "fewer layers": (lambda f: f.config.update(layers=1), r"unknown tensors: layers\.1\.down"),
    "more layers": (lambda f: f.config.update(layers=3), r"tensor 'layers\.2\.qkv' is missing"),
    "eps above 1": (lambda f: f.config.update(eps=2), "eps is 2"),
    "rope 0": (lambda f: f.config.update(rope_theta=0), "rope_theta is 0"),
    "no rope": (lambda f: f.config.update(rope_theta=None), "rope_theta is None"),
    "no pattern": (lambda f: f.config.pop("pretokenize"), "the config has no pretokenize"),
    "a pattern that is none": (
        lambda f: f.config.update(pretokenize="("),
        r"target\.safetensors: pretokenize is not a",
    ),
    "a pattern beyond latin-1": (lambda f: f.config.update(pretokenize="☃"), "pretokenize is not a pattern"),
    "a merge of what comes later": (lambda f: scale(f.target, "merges", 400), r"merges\[17\] is \(111, 400\)"),
    "a merge twice": (
        lambda f: f.target["merges"].__setitem__(17, f.target["merges"][0]),
        r"merges\[17\] is \(116, 104\), as merges\[0\]",
    ),
    "a merge too few": (
        lambda f: f.target.update(merges=f.target["merges"][:-1]),
        "vocab is 274 and the merges make 273",
    ),
    "no drafts": (lambda f: f.drafts_config.update(exit=3), r"drafts\.safetensors: the config has no drafts"),
    "a draft nobody knows": (lambda f: f.drafts_config.update(medusa={}), "medusa: a draft of this name is not known"),
    "a draft with weights for copying": (lambda f: f.drafts_config.update({"look-up": {}}), "look-up: a draft of this"),
    "a draft of other tokens": (
        lambda f: f.drafts_config["one-layer"].update(vocab=300),
        "vocab is 300, the target's is 274",
    ),
    "a draft left out": (lambda f: f.drafts_config.pop("exit"), r"drafts\.safetensors: unknown tensors: exit\.map"),
    "an exit past the end": (lambda f: f.drafts_config["exit"].update(layer=3), "exit: layer is 3; it must be a whole"),
    "a follower that is none": (
        lambda f: scale(f.drafts, "bigram.tokens", 274),
        r"bigram\.tokens holds token 274 of 274",
    ),
    "a rest above 1": (lambda f: scale(f.drafts, "bigram.rest", 1.5), r"bigram\.rest holds a number that is no share"),
    "contexts out of order": (lambda f: scale(f.drafts, "trigram.contexts", 0), r"trigram\.contexts is not in order"),
    "a context that is none": (lambda f: scale(f.drafts, "trigram.contexts", 274**2), "contexts is not in order"),
    "continuations that are none": (
        lambda f: scale(f.drafts, "trigram.tokens", 300),
        r"trigram\.tokens holds token 300",
    ),
    "counts that do not fit": (lambda f: scale(f.drafts, "trigram.counts", 9), r"'trigram\.tokens' has the shape"),
    "an empty unigram": (
        lambda f: f.drafts.update({"trigram.unigram": np.zeros(274, np.uint8)}),
        "unigram holds nothing",
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_whole_files_with_the_wrong_contents_say_why(name):
    change, words = CHANGES[name]
    made = tiny.files()
    change(made)
    with pytest.raises(ValueError, match=words):
        made.loaded()


def test_a_pair_without_some_drafts_is_a_pair():
    made = tiny.files()
    for name in ("exit", "two-layer", "trigram"):
        del made.drafts_config[name]
        made.drafts = {tensor: values for tensor, values in made.drafts.items() if not tensor.startswith(f"{name}.")}
    assert made.loaded().drafts == ("one-layer", "bigram", "look-up")
    with pytest.raises(ValueError, match="draft is 'exit'; it must be one of: one-layer, bigram, look-up"):
        made.loaded().draft("exit")


def test_writing_refuses_what_reading_does_not_know():
    with pytest.raises(ValueError, match="tensor 'x' has the type float64"):
        file.write({"x": np.zeros(3)}, {}, {})


def test_the_cards_are_kept():
    assert lm.load(TARGET, DRAFTS).cards["target"] == {"data": "random numbers"}
