"""One name for one piece of hardware, however it was typed.

Why it exists: "NVIDIA H200", "H200 141GB HBM3e" and "nvidia h200 " are one device and must land in one group of a
chart, while "AMD Radeon Graphics" or "CUDA device 0" names nothing. A name is normalised to a known list or refused.

It must not know: what a device can do (sim.presets), files, charts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

__all__ = ["DEVICES", "Device", "device"]

_NAMES = {
    "NVIDIA": "T4 V100 A10 A10G A30 A40 A100 L4 L40 L40S H20 H100 H200 H800 GH200 B200 GB200 B300 GB300",
    "NVIDIA RTX": "3060 3070 3080 3090 4060 4070 4080 4090 5070 5080 5090 A4000 A5000 A6000",
    "AMD Instinct": "MI100 MI210 MI250 MI250X MI300A MI300X MI325X MI350X MI355X",
    "Google TPU": "v3 v4 v5e v5p v6e",
    "Apple": "M1 M2 M3 M4 M5",
}
DEVICES: Mapping[str, str] = MappingProxyType(
    {name.casefold(): f"{maker} {name}" for maker, names in _NAMES.items() for name in names.split()}
)
"""The word that identifies a device, in lower case, to its one name."""

_COUNT = re.compile(r"^\s*(\d{1,5})\s*[x×]\s*(?=[a-z])", re.IGNORECASE)
_WORDS = (
    "nvidia amd intel google apple geforce rtx gtx instinct tesla quadro radeon gpu tpu corporation inc oam hbm "
    "hbm2 hbm2e hbm3 hbm3e gddr6 gddr6x gddr7 cluster blackwell hopper ada lovelace graphics edition generation"
)
_NOISE = tuple(_WORDS.split())
_FORMS = {"sxm": "SXM", "sxm2": "SXM", "sxm3": "SXM", "sxm4": "SXM", "sxm5": "SXM", "pcie": "PCIe", "nvl": "NVL"}
_TIERS = {"pro": "Pro", "max": "Max", "ultra": "Ultra", "super": "Super", "ti": "Ti"}
_CPU = re.compile(r"\b(xeon|epyc|ryzen|threadripper|core|graviton\d*|neoverse|ampere)\b", re.IGNORECASE)
_MEMORY = re.compile(r"(\d{2,4})\s?gi?b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Device:
    """`name` is the normal form; `count` None when the text does not say; `note` is what stood in brackets."""

    name: str
    count: int | None = None
    note: str | None = None


def device(text: str) -> Device:
    """The device a text names. ValueError, with the reason, when it names none of the known ones.

    "8x H100 SXM (vLLM)" is 8 "NVIDIA H100 SXM" with the note "vLLM"; the memory stays in the name where one device is
    sold with several sizes (A100 40GB, A100 80GB).
    """
    if not isinstance(text, str) or not text.strip():
        raise ValueError("hardware is empty; a device must be named")
    plain = re.sub(r"\((?:r|tm|c)\)|[®™©]", " ", text, flags=re.IGNORECASE)
    notes = [note.strip() for note in re.findall(r"\(([^()]*)\)", plain) if note.strip()]
    plain = re.sub(r"\([^()]*\)", " ", plain)
    found = _COUNT.match(plain)
    count = int(found[1]) if found else None
    plain = plain[found.end() :] if found else plain
    note = "; ".join(notes) or None
    if _CPU.search(plain) and not re.search(r"\b(radeon|geforce|rtx)\b", plain, re.IGNORECASE):
        return Device(_processor(plain), count, note)
    sizes = _MEMORY.findall(plain)
    words = [word for word in re.split(r"[^a-z0-9]+", _MEMORY.sub(" ", plain.casefold())) if word]
    if "tpu" in words:
        words = [word for word in words if word != "tpu"]
    hits = [DEVICES[word] for word in words if word in DEVICES]
    rest = [word for word in words if word not in DEVICES and word not in _NOISE and word not in _FORMS]
    tiers = [_TIERS[word] for word in rest if word in _TIERS]
    if not hits and "rtx" in words and "pro" in words and "6000" in rest:
        hits, tiers, rest = ["NVIDIA RTX PRO 6000"], [], []
    if len(hits) != 1:
        why = "names no device that is known" if not hits else f"names several devices: {', '.join(hits)}"
        raise ValueError(f"hardware {text.strip()!r} {why}; write for example 'NVIDIA H100 SXM' or '8x MI300X'")
    strange = [word for word in rest if word not in _TIERS and not word.isdigit()]
    if strange:
        raise ValueError(
            f"hardware {text.strip()!r}: {strange[0]!r} is not part of a known name; put remarks in brackets"
        )
    forms = [_FORMS[word] for word in words if word in _FORMS]
    name = " ".join([hits[0], *tiers[:1]])
    if name == "NVIDIA A100" and sizes:
        name += f" {sizes[0]}GB"
    elif name in ("NVIDIA H100", "NVIDIA H200") and forms and (name == "NVIDIA H100" or forms[0] == "NVL"):
        name += f" {forms[0]}"
    elif name == "NVIDIA H100" and "hbm3" in words:
        name += " SXM"  # the driver's name of the SXM board is "NVIDIA H100 80GB HBM3"
    return Device(name, count, note)


def _processor(text: str) -> str:
    """A CPU: maker, family and model without marks and clock. Virtual machines may hide the model number."""
    clean = re.sub(r"@.*$|\bcpu\b|\bprocessor\b|\d+-core", " ", text, flags=re.IGNORECASE)
    return "CPU " + " ".join(clean.split())
