"""Riviera as an SVG: the dice in the middle of the table, a row of cards for each seat.

A card shows its value, its stars and the power it has. Hidden cards and choices lie face down, each
with a title that starts with ``hidden``. A highlighted move is outlined where its card or die lies,
or written beside the seat that makes it.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from aleator.search.games.riviera_invariants import (
    COLOUR_NAMES,
    COLOURS,
    DICE,
    GOLDEN,
    Phase,
    Status,
    card_value,
    stars_of,
)
from aleator.service.drawing.base import Record, Scene
from aleator.service.drawing.svg import Group, Picture, fitting

WIDTH = 1060
MARGIN = 24
HEADER = 176
ROW = 112
CARD_WIDTH, CARD_HEIGHT = 54, 80
GAP = 6
DIE = 66
NAME_WIDTH = 196
HAND_LEFT = MARGIN + NAME_WIDTH
HAND_WIDTH = 430
PLAYED_LEFT = HAND_LEFT + HAND_WIDTH + 26
PLAYED_WIDTH = WIDTH - MARGIN - 18 - PLAYED_LEFT

INK = "#1f2430"
FAINT = "#5d6472"
PAPER = "#ffffff"
TABLE = "#eef1f6"
LINE = "#c9cfdb"
MARK = "#c2188f"
BACK = "#33415f"
BACK_LINE = "#7f8fb5"
STAR = "M0,-5 1.5,-1.6 5,-1.5 2.3,0.8 3.1,4.2 0,2.3 -3.1,4.2 -2.3,0.8 -5,-1.5 -1.5,-1.6Z"

PHASE_WORDS = {
    Phase.NINES: "nines: turn a die",
    Phase.PLAY: "play a card",
    Phase.EXTRA: "extra plays",
    Phase.POWERS: "use of powers",
    Phase.STOP: "stop or go on",
    Phase.OVER: "the game is over",
}
STATUS_WORDS = {Status.IN: "in", Status.STOPPED: "stopped", Status.CRASHED: "crashed"}
POWER_WORDS = {1: "play on", 2: "reserve", 9: "turn die", 10: "swap", 11: "golden"}
MOVE_WORDS = {
    "last_chance": "Last Chance",
    "crash": "crash",
    "stop": "stop",
    "more": "more",
    "pass_on": "pass",
    "use": "use it",
}


class Ink(NamedTuple):
    """The shades of one colour."""

    full: str
    dark: str
    text: str


INKS = {
    "r": Ink("#d63a3f", "#8e1d22", PAPER),
    "g": Ink("#2c9a57", "#14592f", PAPER),
    "p": Ink("#8b51c4", "#4f2678", PAPER),
    "b": Ink("#2f76d3", "#164182", PAPER),
    "o": Ink("#f0902b", "#8f4a05", INK),
    GOLDEN: Ink("#ecc64a", "#8a6a06", INK),
}
PIPS = {
    1: [(0, 0)],
    2: [(-1, -1), (1, 1)],
    3: [(-1, -1), (0, 0), (1, 1)],
    4: [(-1, -1), (1, -1), (-1, 1), (1, 1)],
    5: [(-1, -1), (1, -1), (0, 0), (-1, 1), (1, 1)],
    6: [(-1, -1), (1, -1), (-1, 0), (1, 0), (-1, 1), (1, 1)],
}


def draw_svg(scene: Scene, highlight: Record | None) -> str:
    """The table; `highlight` is a typed move of the seat in question to point out."""
    seats = scene.state["seats"]
    height = HEADER + ROW * len(seats) + MARGIN
    picture = Picture(WIDTH, height, "Riviera")
    picture.add("rect", width=WIDTH, height=height, fill=PAPER)
    _draw_header(picture, scene, highlight or {})
    for seat in range(len(seats)):
        _draw_seat(picture, scene, seat, highlight if seat == scene.seat else None)
    return picture.write()


def acting(scene: Scene) -> list[int]:
    """The seats that are to act now, not later in this phase."""
    waiting: list[int] = scene.state["extra_plays"] or scene.state["waiting"]
    at_once = scene.options["mode"] == "simultaneous" and scene.state["phase"] not in {
        Phase.NINES,
        Phase.POWERS,
    }
    if at_once or len(waiting) < 2:
        return waiting
    token, count = scene.state["token"], len(scene.names)
    return [min(waiting, key=lambda seat: (seat - token) % count)]


def count_words(scene: Scene) -> str:
    """Which round and turn it is, of how many rounds if that is limited."""
    most = scene.options["max_rounds"]
    rounds = f"Round {scene.state['round']}" + (f" of {most}" if most else "")
    return f"{rounds}, turn {scene.state['turn']}"


def power_word(card: str, options: Record) -> str:
    """What the power of a card is called; empty if it has none."""
    return POWER_WORDS.get(card_value(card), "") if options["powers"] else ""


def _write(
    group: Group,
    place: tuple[float, float],
    text: str,
    size: float,
    *,
    fill: str = INK,
    weight: str = "normal",
    anchor: str = "start",
) -> None:
    group.add(
        "text",
        text,
        x=place[0],
        y=place[1],
        font_size=size,
        fill=fill,
        font_weight=weight,
        text_anchor=anchor,
    )


def _draw_header(picture: Group, scene: Scene, highlight: Record) -> None:
    state = scene.state
    _write(picture, (MARGIN, 44), "Riviera", 26, weight="bold")
    _write(picture, (MARGIN, 74), count_words(scene), 16)
    if scene.result:
        size = fitting(scene.result, 14, NAME_WIDTH - 10)
        _write(picture, (MARGIN, 98), scene.result, size, weight="bold")
    else:
        _write(picture, (MARGIN, 98), PHASE_WORDS[Phase(state["phase"])], 14, fill=FAINT)
    _write(picture, (MARGIN, 122), f"{scene.options['target']} to win", 14, fill=FAINT)
    turn = highlight.get("turn", {})
    dice = {die["colour"]: die for die in state["dice"]}
    if state.get("golden_next"):
        dice.setdefault(GOLDEN, {"colour": GOLDEN, "next": True})
    for number, die in enumerate(dice.values()):
        left = HAND_LEFT + number * (DIE + 18)
        _draw_die(picture, left, 34, die, turn if turn.get("die") == die["colour"] else None)
        note = _die_note(scene, die)
        _write(picture, (left + DIE / 2, 122), note, 12, fill=FAINT, anchor="middle")
    _write(picture, (HAND_LEFT, HEADER - 10), "hand", 13, fill=FAINT)
    _write(picture, (PLAYED_LEFT, HEADER - 10), "played this round", 13, fill=FAINT)
    _draw_pile(picture, scene)


def _die_note(scene: Scene, die: Record) -> str:
    for number, seat in enumerate(scene.state["seats"]):
        if seat.get("reserved") == die["colour"]:
            return f"for {_name(scene, number, 9)}"
    if die.get("turned"):
        return "turned"
    if die.get("next"):
        return "next roll"
    return ""


def _draw_die(picture: Group, left: float, top: float, die: Record, turn: Record | None) -> None:
    ink = INKS[die["colour"]]
    group = picture.add("g")
    value = die.get("value", 0)
    name = (*COLOUR_NAMES, "golden")[DICE.index(die["colour"])]
    group.add("title", f"{name} die: {value}" if value else f"{name} die")
    group.add(
        "rect",
        x=left,
        y=top,
        width=DIE,
        height=DIE,
        rx=13,
        fill=ink.full if value else PAPER,
        stroke=MARK if turn is not None else ink.dark if value else ink.full,
        stroke_width=5 if turn is not None else 2,
        **({} if value else {"stroke_dasharray": "6 5"}),
    )
    for x, y in PIPS.get(value, ()):
        group.add(
            "circle",
            cx=left + DIE / 2 + 17 * x,
            cy=top + DIE / 2 + 17 * y,
            r=6,
            fill=ink.text,
        )
    if turn is not None:
        word = "turn down" if turn.get("down") else "turn up"
        _write(
            group, (left + DIE / 2, top - 9), word, 13, fill=MARK, weight="bold", anchor="middle"
        )


def _draw_pile(picture: Group, scene: Scene) -> None:
    left = WIDTH - MARGIN - 18 - CARD_WIDTH
    count = scene.state["pile_size"]
    if count:
        pile = picture.add("g")
        pile.add("title", f"draw pile: {count} cards")
        for shift in (6, 3, 0):
            _draw_back(pile, left - shift, 28 + shift)
    _write(
        picture, (left + CARD_WIDTH / 2 - 3, 132), f"pile {count}", 13, fill=FAINT, anchor="middle"
    )
    discard = scene.state["discard"]
    size = len(discard["cards"]) + discard.get("hidden_count", 0)
    if size:
        left -= 178
        shift = min(CARD_WIDTH + GAP, 96 / max(size - 1, 1))
        _draw_cards(picture, scene, discard, (left, 34), step=shift)
        _write(picture, (left + 76, 132), f"discarded {size}", 13, fill=FAINT, anchor="middle")


def _draw_seat(picture: Group, scene: Scene, seat: int, move: Record | None) -> None:
    state = scene.state
    top = HEADER + ROW * seat
    mine = state["seats"][seat]
    acts = seat in acting(scene)
    picture.add(
        "rect",
        x=MARGIN - 10,
        y=top,
        width=WIDTH - 2 * MARGIN + 20,
        height=ROW - 10,
        rx=12,
        fill=TABLE,
        stroke=INK if acts else LINE,
        stroke_width=2.5 if acts else 1,
    )
    _draw_name(picture, scene, seat, move)
    middle = top + (ROW - 10 - CARD_HEIGHT) / 2
    hand = state["hands"][seat]
    marked = _marked_cards(move)
    count = len(hand.get("cards", ())) + hand.get("hidden_count", 0)
    cards = picture if mine["status"] == Status.IN else picture.add("g", opacity=0.45)
    step = _step(count, HAND_WIDTH)
    _draw_cards(cards, scene, hand, (HAND_LEFT, middle), step=step, marked=marked)
    played = mine.get("played", ())
    if played:
        stars = stars_of(played, scene.options["stars"])
        used = mine.get("power_card", "") if move and ("use" in move or "pass_on" in move) else ""
        _draw_cards(
            picture if mine["status"] != Status.CRASHED else cards,
            scene,
            {"cards": played},
            (PLAYED_LEFT, middle),
            step=_step(len(played), PLAYED_WIDTH - 62),
            marked=frozenset({used}),
        )
        right = WIDTH - MARGIN - 8
        lost = mine["status"] == Status.CRASHED
        ink = FAINT if lost else INK
        _write(picture, (right, middle + 40), f"{stars}", 24, fill=ink, weight="bold", anchor="end")
        word = "lost" if lost else "stars"
        _write(picture, (right, middle + 58), word, 12, fill=FAINT, anchor="end")


def _marked_cards(move: Record | None) -> frozenset[str]:
    if move is None:
        return frozenset()
    cards = [card for part in move.values() for card in part.get("cards", ())]
    return frozenset([*cards, *(part["card"] for part in move.values() if "card" in part)])


def _draw_name(picture: Group, scene: Scene, seat: int, move: Record | None) -> None:
    state = scene.state
    mine = state["seats"][seat]
    top = HEADER + ROW * seat
    arrow = "▸ " if seat in acting(scene) else ""
    _write(picture, (MARGIN + 4, top + 28), f"{arrow}{_name(scene, seat)}", 17, weight="bold")
    score = mine.get("score", 0)
    _write(picture, (MARGIN + 4, top + 54), f"{score}", 20, weight="bold")
    shift = 13 * len(str(score))
    _write(
        picture,
        (MARGIN + 10 + shift, top + 54),
        STATUS_WORDS[Status(mine["status"])],
        13,
        fill=FAINT,
    )
    _draw_choice(picture, (HAND_LEFT - 14, top + 54), mine)
    if state["token"] == seat:
        token = picture.add("g")
        token.add("title", "Start token")
        token.add("circle", cx=HAND_LEFT - 26, cy=top + 23, r=10, fill="#f4d35e", stroke=INK)
        _write(token, (HAND_LEFT - 26, top + 28), "S", 13, weight="bold", anchor="middle")
    chance = "Last Chance used" if mine.get("last_chance_used") else "has a Last Chance"
    _write(picture, (MARGIN + 4, top + 74), chance, 12, fill=FAINT)
    badge = _badge(scene, move)
    if badge:
        _draw_badge(picture, MARGIN + 2, top + 78, badge)
    else:
        _write(picture, (MARGIN + 4, top + 91), _note(scene, mine), 12)


def _draw_choice(picture: Group, place: tuple[float, float], seat: Mapping[str, Any]) -> None:
    """What a seat has chosen secretly, as far as it is known, to the left of a place."""
    if seat.get("choice_hidden"):
        hidden = picture.add("g")
        hidden.add("title", "hidden choice")
        _write(hidden, place, "has chosen", 13, weight="bold", anchor="end")
    elif "choice" in seat:
        ((kind, told),) = seat["choice"].items()
        words = f"chose {told['card'] if kind == 'play' else MOVE_WORDS[kind]}"
        _write(picture, place, words, 13, weight="bold", anchor="end")


def _name(scene: Scene, seat: int, longest: int = 13) -> str:
    """A name, cut to what there is room for."""
    name = scene.names[seat]
    return name if len(name) <= longest else f"{name[: longest - 1]}…"


def _badge(scene: Scene, move: Record | None) -> str:
    """Words for a move that is more than a card or die."""
    ((kind, told),) = (move or {"play": {}}).items()
    if kind == "swap":
        return f"swap with {_name(scene, told['opponent'])}"
    return "" if kind in {"play", "turn"} else MOVE_WORDS.get(kind, kind)


def _draw_badge(picture: Group, left: float, top: float, text: str) -> None:
    width = 18 + 7.6 * len(text)
    picture.add("rect", x=left, y=top, width=width, height=21, rx=10, fill=MARK)
    middle = (left + width / 2, top + 15)
    _write(picture, middle, text, 13, fill=PAPER, weight="bold", anchor="middle")


def _note(scene: Scene, seat: Mapping[str, Any]) -> str:
    """One line on what the seat has coming."""
    if seat.get("power_card"):
        return f"may use {seat['power_card']}: {power_word(seat['power_card'], scene.options)}"
    if seat.get("reserves_next"):
        return f"reserves {COLOUR_NAMES[COLOURS.index(seat['reserves_next'])]} next"
    if seat.get("reserved"):
        return f"has reserved {COLOUR_NAMES[COLOURS.index(seat['reserved'])]}"
    return ""


def _step(count: int, width: float) -> float:
    """How far cards lie apart, so that so many fit."""
    return min(CARD_WIDTH + GAP, (width - CARD_WIDTH) / max(count - 1, 1))


def _draw_cards(
    picture: Group,
    scene: Scene,
    hand: Mapping[str, Any],
    place: tuple[float, float],
    *,
    step: float,
    marked: frozenset[str] = frozenset(),
) -> None:
    left, top = place
    known = hand.get("cards", ())
    # Those pointed out last, so that no other card covers their outline.
    for number, card in sorted(enumerate(known), key=lambda item: item[1] in marked):
        lift = 9 if card in marked else 0
        corner = (left + number * step, top - lift)
        _draw_card(picture, corner, card, scene.options, marked=card in marked)
    for number in range(len(known), len(known) + hand.get("hidden_count", 0)):
        back = picture.add("g")
        back.add("title", "hidden card")
        _draw_back(back, left + number * step, top)


def _draw_back(picture: Group, left: float, top: float) -> None:
    picture.add(
        "rect",
        x=left,
        y=top,
        width=CARD_WIDTH,
        height=CARD_HEIGHT,
        rx=7,
        fill=BACK,
        stroke=PAPER,
        stroke_width=1.5,
    )
    picture.add(
        "rect",
        x=left + 6,
        y=top + 6,
        width=CARD_WIDTH - 12,
        height=CARD_HEIGHT - 12,
        rx=4,
        fill="none",
        stroke=BACK_LINE,
        stroke_width=1.5,
    )
    picture.add(
        "path",
        d=STAR,
        fill=BACK_LINE,
        transform=f"translate({left + CARD_WIDTH / 2:g} {top + CARD_HEIGHT / 2:g}) scale(2.2)",
    )


def _draw_card(
    picture: Group, place: tuple[float, float], card: str, options: Record, *, marked: bool
) -> None:
    left, top = place
    ink = INKS[card[0]]
    value = card_value(card)
    stars = options["stars"][value - 1]
    group = picture.add("g")
    group.add("title", f"{COLOUR_NAMES[COLOURS.index(card[0])]} {value}, {stars} stars")
    group.add(
        "rect",
        x=left,
        y=top,
        width=CARD_WIDTH,
        height=CARD_HEIGHT,
        rx=7,
        fill=ink.full,
        stroke=MARK if marked else PAPER,
        stroke_width=4 if marked else 1.5,
    )
    # At the left edge, which is seen of cards that overlap.
    _write(group, (left + 6, top + 25), str(value), 22, fill=ink.text, weight="bold")
    if stars <= 5:
        for star in range(stars):
            group.add(
                "path",
                d=STAR,
                fill=ink.text,
                transform=f"translate({left + 10 + 8.6 * star:g} {top + 43:g}) scale(0.85)",
            )
    else:
        group.add(
            "path",
            d=STAR,
            fill=ink.text,
            transform=f"translate({left + 10:g} {top + 43:g}) scale(0.85)",
        )
        _write(group, (left + 18, top + 47), str(stars), 12, fill=ink.text)
    _write(
        group,
        (left + CARD_WIDTH / 2, top + 70),
        power_word(card, options),
        11,
        fill=ink.text,
        anchor="middle",
    )
