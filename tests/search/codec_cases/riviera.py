"""What the codec of Riviera must refuse."""

from tests.search.codec_cases.base import CodecCases

LINE = (
    "riviera 2.3 play 01 1 r3g5p2b6 -"
    " 11:in:r4g2g8p12b1b3b7b9:r11b5,8:in:????????:g1g6:used:chance@r2g4p4b5"
)
FULL = "riviera 1.1 play 01 0 r3g5p2b6 - 0:in:r3r4:-,0:in:g5g12:- hand_size=2"

CASES = CodecCases(
    game="riviera",
    notation=FULL,
    states=[
        ({"round": 0}, ["round"]),
        ({"turn": 12}, ["turn"]),
        ({"phase": 9, "token": 2}, ["phase", "token"]),
        ({"waiting": [0, 0]}, ["waiting[1]"]),
        (
            {"waiting": []},
            ["waiting", "seats[0].choice", "seats[1].choice", "seats[0].played", "seats[1].played"],
        ),
        ({"dice[0].value": 7}, ["dice[0].value"]),
        ({"dice[0].colour": "x"}, ["dice[0].colour"]),
        ({"dice[0].turned": True}, ["dice[0].turned"]),
        ({"hands[0].cards": ["r3", "r13"]}, ["hands[0].cards[1]"]),
        ({"hands[0].cards": ["r3", "o4"]}, ["hands[0].cards[1]"]),
        ({"hands[0].cards": ["r3", "g5"]}, ["hands[1].cards[0]"]),
        ({"hands[0].cards": ["r3"]}, ["hands[0]"]),
        ({"seats[0].score": 40}, ["seats[0].score"]),
        ({"seats[0].status": 0}, ["seats[0].status"]),
        ({"seats[0].status": 2}, ["waiting[0]"]),
        ({"seats[0].played": ["r9"]}, ["hands[0]"]),
        ({"seats[0].power_card": "r9"}, ["seats[0].power_card"]),
        ({"seats[0].reserved": "r"}, ["seats[0].reserved", "seats[0].reserved"]),
        ({"seats[0].choice": {"stop": {}}}, ["seats[0].choice"]),
        ({"seats[0].crash": {"dice": []}}, ["seats[0].crash", "seats[0].crash.dice"]),
        (
            {"seats[0].last_chance": {"dice": [{"colour": "r", "value": 1}]}},
            ["seats[0].last_chance"],
        ),
        ({"exchanges": [{"seat": 2}]}, ["exchanges[0].seat"]),
        ({"exchanges": [{"seat": 0, "opponent": 0}]}, ["exchanges[0].opponent"]),
        ({"exchanges": [{"seat": 0, "played": [1, 0]}]}, ["exchanges[0].played"]),
        (
            {"exchanges": [{"seat": 0, "opponent": 1, "given": ["r3"], "played": [0, 0]}]},
            ["exchanges[0].seat", "exchanges[0]"],
        ),
        ({"extra_plays": [0]}, ["extra_plays"]),
        ({"golden_next": True}, ["golden_next"]),
        ({"discard": {"cards": ["r9"]}}, ["discard"]),
        ({"pile_size": 3}, ["pile_size"]),
        ({"hands": []}, ["hands"]),
        (
            {"phase": 6},
            ["dice[0].value", "dice[1].value", "dice[2].value", "dice[3].value", "phase"],
        ),
        ({"surprise": 1}, ["surprise"]),
        (
            {"dice[0].value": 7, "hands[1].cards": ["g5", "x"], "seats[0].score": 99},
            ["dice[0].value", "hands[1].cards[1]", "seats[0].score"],
        ),
    ],
    notations=[
        (LINE.replace(old, new, 1), words)
        for old, new, words in [
            ("2.3", "2", "TURN must be round and turn"),
            ("play", "dance", "PHASE must be one of"),
            (" 01 1 ", " 0x 1 ", "WAITING must be digits"),
            ("r3g5p2b6", "r3g5p2b7", "DICE must be dice"),
            ("p12b1", "p13b1", "seat 0: hand must be cards"),
            (":used", ":used:used", "each once"),
            (":used", ":smiles", "further parts are"),
            ("11:in:", "11:out:", "status must be one of"),
            ("r11b5", "r11b", "played cards must be"),
            (",8:in:????????", ",8:in:r2r7??????", "list in `exchanges`"),
            (" - 11", " 0>0: 11", "EXCHANGES must be such as"),
            ("r11b5", "r11/b5", "more / among"),
            (" -", " ", "must have the seven fields"),
        ]
    ],
    options=[
        ({"players": 7}, ["players"]),
        ({"players": 5, "hand_size": 13}, ["hand_size"]),
        ({"players": 5, "removed_colour": "red"}, ["removed_colour"]),
        ({"max_same_colour_in_hand": 2}, ["max_same_colour_in_hand"]),
        ({"stars": [0] * 12}, ["stars"]),
        ({"stars": [1] * 11}, ["stars"]),
        ({"mode": "chaos"}, ["mode"]),
        ({"target": 0, "max_rounds": 0}, ["target", "max_rounds"]),
        ({"dice": 3}, ["dice"]),
    ],
    move_texts=["r13", "x1", "pass_on", "r+2", "swap:1:r3,r3", "swap:6:r3,r4", "redraw:r3", ""],
    move_records=[
        ({}, [""]),
        ({"play": {"card": "r3"}, "stop": {}}, [""]),
        ({"play": {}}, ["play.card"]),
        ({"turn": {"die": "x"}}, ["turn.die"]),
        ({"swap": {"opponent": 1, "cards": ["r3"]}}, ["swap.cards"]),
        ({"swap": {"cards": ["r3", "r4"]}}, ["swap.opponent"]),
        ({"swap": {"opponent": 9, "cards": ["r3", "r4"]}}, ["swap.opponent"]),
        ({"redraw": {"cards": ["r3", "z"]}}, ["redraw.cards[1]"]),
    ],
    illegal=[
        (FULL, "g5", "does not hold the green 5"),
        (FULL, "r4", "is not valid for the dice"),
        (FULL, "crash", "has a valid card and must play one"),
        (FULL, "stop", "can now only choose among r3"),
    ],
    seat=0,
)
