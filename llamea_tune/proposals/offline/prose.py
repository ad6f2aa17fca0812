"""What a design is called and how it is described."""

from __future__ import annotations

import hashlib

from llamea_tune.proposals.offline.design import Design


def class_name(design: Design) -> str:
    """Name the class: what accepts, what moves, and a short hash that tells other components apart."""
    digest = hashlib.sha256(" ".join(design.choices.values()).encode()).hexdigest()[:5]
    words = (*design.choices["acceptance"].split("_"), *design.choices["neighbourhood"].split("_"), digest)
    return "".join(word.capitalize() for word in words)


def summary(design: Design) -> str:
    """Say in one short sentence what the optimizer does."""
    components = design.components
    rule = " ".join(components[slot].phrase for slot in ("acceptance", "schedule") if slot in components)
    return f"{rule[0].upper()}{rule[1:]} over {components['neighbourhood'].phrase}."


def details(design: Design) -> str:
    """Say in one sentence what else it does."""
    components = design.components
    others = [components[slot].phrase for slot in ("screening", "scope", "step", "memory", "recombination")]
    clauses = [f"Starts from {components['initial'].phrase}", *filter(None, others)]
    return f"{', '.join(clauses)}, and {components['restart'].phrase} when stuck."


def description(design: Design) -> str:
    """Describe the optimizer in two sentences, on one line."""
    return f"{summary(design)} {details(design)}"
