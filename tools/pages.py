"""What pages that scripts write have in common."""

from aleator.search.games import codec_class


def heading(game: str) -> str:
    """The heading of a game's section, with the options that it was measured with."""
    codec = codec_class(game)
    lines = [f"\n## {codec.title}\n"]
    if codec.measured_with:
        options = ", ".join(f"`{name}={value}`" for name, value in codec.measured_with.items())
        lines.append(f"Games with {options}.\n")
    return "\n".join(lines)
