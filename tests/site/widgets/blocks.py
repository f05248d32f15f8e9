"""Says how much Python holds, after a round trip of a large JSON text when it is asked for."""

import gc
import json
import sys
from typing import Any

from widgets._kit.params import Toggle
from widgets._kit.view import View

TITLE = "Blocks"
PARAMS = {"large": Toggle("Large", False)}


def view(*, data: Any, large: bool) -> View:
    if large:
        text = json.dumps(["é中😀" * 10] * 250_000, ensure_ascii=False)  # 20 MB as UTF-8
        assert json.loads(text)[-1] == "é中😀" * 10
        del text
    gc.collect()
    return View(f"{sys.getallocatedblocks()} blocks, é中😀")
