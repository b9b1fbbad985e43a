"""Declarative model selection whose choice can be checked."""
