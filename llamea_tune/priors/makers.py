"""Who made a device, told by its name: a kernel behaves alike on devices of one maker, and less so across makers."""

from __future__ import annotations

import re

_WORDS = {
    "NVIDIA": "nvidia|geforce|tesla|quadro|titan|jetson|tegra|orin|grace",
    "AMD": "amd|radeon|instinct|vega|epyc|ryzen|threadripper",
    "Intel": "intel|xeon|arc|iris|celeron|pentium",
    "Arm": r"arm(?:v\d+)?|cortex|neoverse|graviton|altra|mali|a64fx",
    "Apple": "apple",
}
_MODELS = {
    "NVIDIA": (
        r"[gr]tx(?: ?\d{3,4}\w*)?|g[bh]\d{3}|a(?:2|10|16|30|40|100|800|\d{4})[a-z]?|b[123]00|h(?:20|100|200|800)"
        r"|k\d{2}[a-z]?|l(?:4|20|40)s?|p(?:4|40|100)|t(?:4|\d{3,4})|v100s?"
    ),
    "AMD": r"mi\d{2,3}[a-z]*|gfx\d\w*|rx|w\d{4}x?",
    "Intel": r"i[3579]|a[3-7]\d0",
}
"""How models are called where the maker is not named; asked for after the words."""

_PATTERNS = [
    (maker, re.compile(rf"(?<![a-z0-9])(?:{names})(?![a-z0-9])", re.IGNORECASE))
    for names_of in (_WORDS, _MODELS)
    for maker, names in names_of.items()
]


def maker(device_name: str) -> str:
    """The maker of a device, such as `"NVIDIA"`; empty where its name does not tell.

    Args:
        device_name: As a backend or a recording gives it: "NVIDIA A100-PCIE-40GB", "MI250X", "RTX_3090".
    """
    words = device_name.replace("_", " ")
    return next((maker for maker, pattern in _PATTERNS if pattern.search(words)), "")
