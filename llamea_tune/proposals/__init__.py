"""PROPOSE: prompts, mutation operators, reply parsing, and the offline recombiner."""
