"""Aleator: an AI opponent for dice and card games with luck and hidden information."""
