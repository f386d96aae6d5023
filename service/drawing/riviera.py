"""Riviera drawn as rows of coloured cards below the dice.

Cards and dice carry their letter, ``r12``, so that a picture without colours tells the same story;
hidden cards are ``?``. The seats that are to act are pointed at, and the Start token is ``●``. What
happened since the person's last move stands below, a line for each roll of the dice.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from rich.console import Group, RenderableType
from rich.style import Style
from rich.table import Table
from rich.text import Text

from aleator.search.games.riviera_invariants import (
    COLOUR_NAMES,
    COLOURS,
    GOLDEN,
    Phase,
    Status,
    stars_of,
)
from aleator.service.drawing.base import Drawing, Record, Scene
from aleator.service.drawing.riviera_svg import (
    INKS,
    MOVE_WORDS,
    PHASE_WORDS,
    STATUS_WORDS,
    acting,
    count_words,
    draw_svg,
    power_word,
)

HIDDEN = Style(color="#d0d0d0", bgcolor="#505050")
FACES = " ⚀⚁⚂⚃⚄⚅"
CARD = r"[rgpbo](?:1[0-2]|[1-9])"
EVENT_WORDS = {
    "played": "played ",
    "used_last_chance": "used the Last Chance",
    "crashed": "crashed",
    "stopped": "stopped with ",
    "went_on": "went on",
    "passed": "passed",
    "turned": "turned ",
    "reserved": "reserved ",
    "added_golden": "added the golden die",
    "swapped": "swapped two cards with ",
    "redrew": "discarded two cards for two of the pile",
    "chose": "has chosen",
}
WORDS = {"lc": "last_chance", "chance": "last_chance", "last chance": "last_chance"}


class RivieraDrawing(Drawing):
    """Dice, hands, cards played and what is at stake."""

    game: ClassVar[str] = "riviera"
    move_help: ClassVar[str] = (
        "r12  plays that card    last chance, crash    stop, more    pass, use\n"
        "r+ or *-  turns a die    swap 1 r3 b10  with seat 1    redraw r3 b10"
    )

    def draw(self, scene: Scene) -> RenderableType:
        """Picture of a scene, with all that the person may know."""
        story = list(_story(scene))
        if story:
            story.insert(0, Text())
        return Group(*_header(scene), Text(), _seats(scene), Text(), *_table(scene), *story)

    def svg(self, scene: Scene, highlight: Record | None = None) -> str:
        """The scene as an SVG document; `highlight` is a typed move of the seat in question."""
        return draw_svg(scene, highlight)

    def read_move(self, text: str) -> str:
        """``R12``, ``last chance``, ``b +1``, ``swap 1 r3, b10`` and the like."""
        spaced = " ".join(text.lower().replace(":", " ").replace(",", " ").split())
        if spaced in WORDS:
            return WORDS[spaced]
        turn = re.fullmatch(r"([rgpbo*]) ?([+-]) ?1?", spaced)
        if turn:
            return f"{turn[1]}{turn[2]}1"
        swap = re.fullmatch(rf"swap (?:with )?(?:seat )?(\d) ({CARD}) ({CARD})", spaced)
        if swap:
            return f"swap:{swap[1]}:{swap[2]},{swap[3]}"
        redraw = re.fullmatch(rf"redraw ({CARD}) ({CARD})", spaced)
        if redraw:
            return f"redraw:{redraw[1]},{redraw[2]}"
        return spaced.replace(" ", "_")


def _header(scene: Scene) -> Iterator[Text]:
    state = scene.state
    yield Text.assemble(
        (count_words(scene), "bold"),
        f"  {PHASE_WORDS[Phase(state['phase'])]}",
        (f"  first to {scene.options['target']}", "dim"),
    )
    yield Text()
    dice = [_die(die) for die in state["dice"]]
    if state.get("golden_next"):
        dice.append(Text(f" {GOLDEN} next ", _style(GOLDEN)))
    yield Text("Dice  ").append(Text("  ").join(dice))


def _die(die: Mapping[str, Any]) -> Text:
    value = die.get("value", 0)
    label = f" {die['colour']}{value} {FACES[value]} " if value else f" {die['colour']} "
    return Text(label, _style(die["colour"])).append("↻" if die.get("turned") else "")


def _style(colour: str) -> Style:
    ink = INKS[colour]
    return Style(color=ink.text, bgcolor=ink.full, bold=True)


def _cards(cards: Sequence[str], hidden: int = 0) -> Text:
    chips = [Text(f" {card} ", _style(card[0])) for card in cards]
    chips += [Text(" ? ", HIDDEN)] * hidden
    return Text(" ").join(chips)


def _seats(scene: Scene) -> Table:
    """Two lines for each seat: its hand, and what it has played."""
    table = Table.grid(padding=(0, 2))
    for justify in ("right", "left", "right", "left", "left"):
        table.add_column(justify=justify)
    to_act = acting(scene)
    for seat, (name, mine, hand) in enumerate(
        zip(scene.names, scene.state["seats"], scene.state["hands"], strict=True)
    ):
        acts = seat in to_act
        token = " ●" if scene.state["token"] == seat else ""
        status = Status(mine["status"])
        table.add_row(
            "▸" if acts else "",
            Text(name + token, "bold" if acts else ""),
            Text(str(mine.get("score", 0)), "bold"),
            Text(STATUS_WORDS[status], "" if status == Status.IN else "dim"),
            _cards(hand.get("cards", ()), hand.get("hidden_count", 0)),
        )
        table.add_row("", "", "", "", _played(scene, mine))
    return table


def _played(scene: Scene, mine: Mapping[str, Any]) -> Text:
    parts = []
    cards = mine.get("played", ())
    if cards:
        stars = stars_of(cards, scene.options["stars"])
        lost = mine["status"] == Status.CRASHED
        parts.append(
            Text("played ").append(_cards(cards)).append(f" {'lost' if lost else f'★{stars}'}")
        )
    parts += [Text(note, "dim") for note in _notes(scene, mine)]
    return Text("   ").join(parts)


def _notes(scene: Scene, mine: Mapping[str, Any]) -> Iterator[str]:
    """What else there is to say of a seat."""
    if mine.get("last_chance_used"):
        yield "Last Chance used"
    if mine.get("power_card"):
        yield f"may use {mine['power_card']}: {power_word(mine['power_card'], scene.options)}"
    if mine.get("reserved"):
        yield f"has reserved {_colour(mine['reserved'])}"
    if mine.get("reserves_next"):
        yield f"reserves {_colour(mine['reserves_next'])} next"
    if mine.get("choice_hidden"):
        yield "has chosen"
    if mine.get("choice"):
        ((kind, told),) = mine["choice"].items()
        yield f"chose {told['card'] if kind == 'play' else MOVE_WORDS[kind]}"


def _colour(letter: str) -> str:
    return COLOUR_NAMES[COLOURS.index(letter)]


def _table(scene: Scene) -> Iterator[Text]:
    discard = scene.state["discard"]
    yield Text.assemble("Pile  ", (str(scene.state["pile_size"]), "bold"))
    if discard["cards"] or discard.get("hidden_count"):
        yield Text("Discarded  ").append(_cards(discard["cards"], discard.get("hidden_count", 0)))


def _story(scene: Scene) -> Iterator[Text]:
    """What happened lately, a line for what came of the same dice."""
    told: list[Text] = []
    for number, event in enumerate(scene.events):
        ((kind, happened),) = event.items()
        if kind in {"rolled", "round_ended"} and told:
            yield _line(told)
            told = []
        if kind == "rolled":
            told = [Text("rolled ").append(Text(" ").join(map(_die, happened["dice"])))]
        elif kind == "round_ended":
            scores = zip(scene.names, happened["scores"], strict=True)
            listed = ", ".join(f"{name} {score}" for name, score in scores)
            yield Text(f"The round is over: {listed}", "bold")
        elif kind == "finished":
            winners = " and ".join(scene.names[seat] for seat in happened.get("grand_slam", ()))
            if winners:
                told.append(Text(f"Grand Slam by {winners}", "bold"))
        elif kind != "dealt":
            name = Text(scene.names[happened["seat"]], "bold")
            told.append(name.append(" ").append(_told(scene, number, kind, happened)))
    # The last dice lie on the table: nothing came of them yet.
    if told and "rolled" not in scene.events[-1]:
        yield _line(told)


def _line(told: Sequence[Text]) -> Text:
    return Text(" · ", "dim").join(told)


def _told(scene: Scene, number: int, kind: str, happened: Mapping[str, Any]) -> Text:
    """What a seat did, in a few words and colours."""
    text = Text(EVENT_WORDS[kind])
    seats = [happened["seat"]]
    match kind:
        case "played":
            text.append(_cards([happened["card"]]))
        case "stopped":
            text.append(f"★{happened.get('stars', 0)}")
        case "passed" if "card" in happened:
            text = Text("made no use of ").append(_cards([happened["card"]]))
        case "turned":
            values = f" from {happened['from_value']} to {happened['to_value']}"
            text.append(f" {happened['die']} ", _style(happened["die"])).append(values)
        case "reserved":
            text.append(_colour(happened["die"]))
        case "swapped":
            seats.append(happened["opponent"])
            text.append(scene.names[happened["opponent"]])
    if kind in {"swapped", "redrew"}:
        text.append(_exchanged(scene, number, seats))
    return text


def _exchanged(scene: Scene, number: int, seats: Sequence[int]) -> Text:
    """Which cards the person gave and got by an event, if the person took part in it."""
    if scene.seat is None or scene.seat not in seats or not scene.before:
        return Text()
    views = [*scene.before[number:], scene.state]
    # The events of one move come of one view.
    after = next(view for view in views if view != views[0])
    old, new = (view["hands"][scene.seat]["cards"] for view in (views[0], after))
    given = [card for card in old if card not in new]
    got = [card for card in new if card not in old]
    text = Text(": ").append(scene.names[scene.seat], "bold")
    return text.append(" gave ").append(_cards(given)).append(" and got ").append(_cards(got))
