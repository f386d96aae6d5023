"""Compiled code: the search and the rules it calls in its inner loop."""
