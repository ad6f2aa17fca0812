"""What a design is called and how it is described."""

from __future__ import annotations

from llamea_tune.proposals.offline.design import Design


def class_name(design: Design) -> str:
    """Name the class after its components; designs with different components have different names."""
    return "".join(component.word for component in design.components.values()) + "Search"


def summary(design: Design) -> str:
    """Say in one short sentence what the optimizer does."""
    components = design.components
    rule = components["acceptance"].phrase
    return f"{rule[0].upper()}{rule[1:]} over {components['neighbourhood'].phrase}."


def details(design: Design) -> str:
    """Say in one sentence what else it does."""
    components = design.components
    clauses = [f"starts from {components['initial'].phrase}"]
    clauses += [
        components[slot].phrase
        for slot in ("schedule", "screening", "scope", "step", "memory", "recombination")
        if slot in components and components[slot].phrase
    ]
    text = ", ".join(clauses) + f", and {components['restart'].phrase} when stuck."
    return text[0].upper() + text[1:]


def description(design: Design) -> str:
    """Describe the optimizer in two sentences, on one line."""
    return f"{summary(design)} {details(design)}"
