"""The embedded default: multilingual-e5-small with 4-bit weights, run by onnxruntime from files already installed."""

from __future__ import annotations

from dolmen.models.local import Encoder, LocalEmbedder

MODEL = "e5-small-q4@1"
DIM = 384


def e5_embedder(threads: int = 1) -> LocalEmbedder:
    """The default embedder, not yet loaded.

    Args:
        threads: cores used for one call. One costs the least CPU; two answer a long text in about half the time.
    """

    def load() -> Encoder:
        from dolmen.models.e5.encoder import E5Encoder  # numpy and onnxruntime are imported no earlier than this

        return E5Encoder.load(threads)

    return LocalEmbedder(MODEL, DIM, load)
