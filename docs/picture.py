"""Draws the README's picture: `python docs/picture.py` writes docs/_static/incast.png."""

from pathlib import Path

from thalweg import plots
from thalweg.examples import incast

if __name__ == "__main__":
    plots.save(incast.draw(dict(incast.runs())), Path(__file__).parent / "_static", "incast", ["png"])
