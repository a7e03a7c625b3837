"""The canvas that a drawing is made for: a browser window of 1280 by 800 pixels.

A drawing is scaled to fit the canvas, and its text with it. The layout therefore uses the shape of
the canvas: of several drawings of a graph, the one with the largest text is the best.
"""

from __future__ import annotations

__all__ = ["CANVAS", "COMFORTABLE_SCALE", "compute_scale", "limit_height"]

CANVAS = (1190.0, 560.0)  # width and height in pixels, without the margins of the page
COMFORTABLE_SCALE = 0.9  # text of 11 pixels; larger text is not worth a denser drawing


def compute_scale(width: float, height: float) -> float:
    """Return the scale at which a drawing fits the canvas.

    >>> compute_scale(2380, 280), compute_scale(100, 1120)
    (0.5, 0.5)
    """
    return min(CANVAS[0] / max(1.0, width), CANVAS[1] / max(1.0, height))


def limit_height(width: float) -> float:
    """Return the height from which a drawing of this width has smaller text than it could have.

    >>> round(limit_height(100)), round(limit_height(2380))
    (622, 1120)
    """
    return max(CANVAS[1] / COMFORTABLE_SCALE, CANVAS[1] * width / CANVAS[0])
