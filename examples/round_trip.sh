#!/bin/sh
# One move of a game from a shell, with grpcurl and jq: set up a game, see it as the seat to act sees
# it, as a line of notation, list the legal moves, ask the opponent for one, and make it. Needs a
# server on ADDRESS, by default localhost:50051.
# Usage: round_trip.sh [GAME]
set -eu
game=${1:-riviera}
address=${ADDRESS:-localhost:50051}

# call METHOD REQUEST: makes a call and prints the response in JSON.
call() {
    grpcurl -plaintext -d "$2" "$address" "aleator.v1.$1"
}

created=$(call GameService/CreateGame "{\"game\": \"$game\", \"seed\": 1}")
state=$(printf "%s" "$created" | jq .state)
seat=$(printf "%s" "$created" | jq '.seatsToAct[0]')
echo "A game of $game, seat $seat is to act."

# Only what the seat may know: this is what a player's app should get to see.
view=$(call GameService/ObserveState "{\"state\": $state, \"seat\": $seat}" | jq .state)
notation=$(call GameService/ConvertState "{\"state\": $view}" | jq --raw-output .notation)
echo "It sees $notation"

echo "Its legal moves:"
call GameService/ListMoves "{\"state\": $view, \"seat\": $seat}" |
    jq --raw-output '.moves[:5][] | "  \(.notation)  \(.description)"'

analysis=$(call OpponentService/SuggestMove "{
    \"state\": $view, \"seat\": $seat, \"limits\": {\"simulations\": 2000}, \"seed\": 1
}" | jq .analysis)
printf "%s" "$analysis" | jq --raw-output --argjson seat "$seat" \
    '"Best is \(.bestMoveNotation), which wins \(.estimate.winShares[$seat] * 100 | round)% of the time."'

move=$(printf "%s" "$analysis" | jq .bestMove)
applied=$(call GameService/ApplyMove "{
    \"state\": $state, \"moves\": [{\"seat\": $seat, \"move\": $move}], \"seed\": 1
}")
printf "%s" "$applied" | jq --raw-output '.events[].description'
printf "%s" "$applied" | jq --raw-output '"To act now: seat \(.seatsToAct | map(tostring) | join(" and "))"'
