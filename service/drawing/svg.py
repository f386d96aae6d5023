"""Writing SVG as a tree: a thin layer over `xml.etree`.

Attributes are keyword arguments, with ``_`` for ``-`` and numbers cut to what a screen can show.
The library escapes all text, so what comes out is well-formed whatever names a caller gives.
"""

from xml.etree import ElementTree as ET

NAMESPACE = "http://www.w3.org/2000/svg"
FONT = "DejaVu Sans, Verdana, Helvetica, Arial, sans-serif"


class Group:
    """An element that others are drawn into, by default one that is not in a picture yet."""

    def __init__(self, element: ET.Element | None = None) -> None:
        self.element = ET.Element("g") if element is None else element

    def add(self, tag: str, text: str | None = None, **attributes: str | float) -> "Group":
        """Draw an element on top of what is there.

        Parameters
        ----------
        tag
            Its name, such as ``circle``.
        text
            Its text, if any.
        attributes
            Its attributes, with ``_`` for ``-``, and a ``_`` after names that Python reserves.

        Returns
        -------
        Group
            The element, to draw into.
        """
        element = ET.SubElement(self.element, tag, _write(attributes))
        element.text = text
        return Group(element)

    def place(self, group: "Group") -> None:
        """Draw a group made apart, which other pictures may share."""
        self.element.append(group.element)


class Picture(Group):
    """An SVG document.

    Parameters
    ----------
    width, height
        Its size in pixels, and that of its coordinates.
    title
        What it shows, for people who cannot see it.
    """

    def __init__(self, width: float, height: float, title: str) -> None:
        self._root = ET.Element(
            "svg",
            _write(
                {
                    "xmlns": NAMESPACE,
                    "viewBox": f"0 0 {width:g} {height:g}",
                    "width": width,
                    "height": height,
                    "role": "img",
                    "font_family": FONT,
                }
            ),
        )
        super().__init__(self._root)
        self.add("title", title)

    def write(self) -> str:
        """The whole document."""
        return ET.tostring(self._root, encoding="unicode")


def fitting(text: str, size: float, room: float) -> float:
    """The font size for a text, smaller than `size` if there is too little room for it."""
    return min(size, room / (0.68 * len(text)))


def _write(attributes: dict[str, str | float]) -> dict[str, str]:
    return {
        name.rstrip("_").replace("_", "-"): value if isinstance(value, str) else f"{value:.6g}"
        for name, value in attributes.items()
    }
