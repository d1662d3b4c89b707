"""Which runs the study needs, and what every claim measures in them."""

from __future__ import annotations

from thalweg.study import chapters

from . import estimator, internet, paths, robust, several, synthetic, video, wan

runs = chapters(globals(), estimator, synthetic, robust, paths, several, wan, video, internet)
