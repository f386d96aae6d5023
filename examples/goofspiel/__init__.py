"""Goofspiel for Aleator: an example of a game of one's own."""

from goofspiel.codec import GoofspielCodec

__all__ = ["GoofspielCodec"]
