"""How much a request may hold, checked before anything is done with it.

The bytes of a request are limited, but a few bytes can stand for a value, and a value can cost a
lot: an error for each of a hundred thousand cells, say. What people play needs far less than these
limits.
"""

from collections.abc import Iterable
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from aleator.search.errors import InvalidInput, Violation

ITEMS_LIMIT = 2000
"""Items of a list."""
VALUES_LIMIT = 20_000
"""Values altogether: those of lists, and messages in each other."""
DEPTH_LIMIT = 12
"""Messages in each other; the deepest that a request needs are an option's value (3 for each list
in a list) and a state of a request (4)."""


def check_shape(message: Message) -> None:
    """Check that a message holds no more than a request may.

    Raises
    ------
    InvalidInput
        With a violation for each list that is too long and each field too deep; or one for all.
    """
    shape = _Shape()
    shape.visit(message, "", 0)
    if shape.violations:
        raise InvalidInput(shape.violations)


class _Shape:
    """What was seen of a message so far."""

    def __init__(self) -> None:
        self.values = 0
        self.violations: list[Violation] = []

    def visit(self, message: Message, path: str, depth: int) -> None:
        """See a message and all that is in it, up to the limits."""
        if depth > DEPTH_LIMIT:
            self.violations.append(Violation(path, f"is more than {DEPTH_LIMIT} messages deep"))
            return
        for field, value in message.ListFields():
            place = f"{path}.{field.name}" if path else field.name
            count = len(value) if field.is_repeated else 1
            if count > ITEMS_LIMIT:
                wanted = f"has {count} items; at most {ITEMS_LIMIT} are read"
                self.violations.append(Violation(place, wanted))
                continue
            self.values += count
            if self.values > VALUES_LIMIT:
                raise InvalidInput.at("", f"holds more than {VALUES_LIMIT} values")
            if field.message_type is not None:
                for inner, item in _messages(field, value, place):
                    self.visit(item, inner, depth + 1)


def _messages(field: FieldDescriptor, value: Any, path: str) -> Iterable[tuple[str, Message]]:
    """List the messages that a field of messages holds, with their paths."""
    if not field.is_repeated:
        return [(path, value)]
    assert field.message_type is not None
    if field.message_type.GetOptions().map_entry:
        items = [(f"{path}.{key}", value[key]) for key in value]
        return [item for item in items if isinstance(item[1], Message)]
    return [(f"{path}[{index}]", item) for index, item in enumerate(value)]
