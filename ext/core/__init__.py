"""What all games share: their interface, random numbers, the tree and its search."""
