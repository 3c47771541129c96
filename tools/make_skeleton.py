"""Writes the transformer of the embedded model without its weights (37 kB), for onnxruntime.

Development only; needs `onnx`:
    python tools/make_skeleton.py src/dolmen/models/e5/e5_small_q4.skeleton.onnx

Every weight is declared as external data and handed over at load (`dolmen.models.e5.encoder`). Names follow the weights
file: `l0.q.w` are the 4-bit weights of layer 0's query projection, `.s` their scales, `.b` the bias.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from onnx import ModelProto, NodeProto, TensorProto, helper

HIDDEN, LAYERS, HEADS, FEED_FORWARD, EPSILON = 384, 12, 12, 1536, 1e-12
BLOCK = 32  # weights that share a scale
MICROSOFT = "com.microsoft"


class Graph:
    """Collects nodes and declared weights; every method returns the name of its output."""

    def __init__(self) -> None:
        self.nodes: list[NodeProto] = []
        self.weights: list[TensorProto] = []

    def weight(self, name: str, kind: int, shape: Sequence[int]) -> str:
        tensor = TensorProto(name=name, data_type=kind, dims=shape, data_location=TensorProto.EXTERNAL)
        for key, value in (("location", "weights"), ("offset", "0"), ("length", "0")):
            tensor.external_data.add(key=key, value=value)
        self.weights.append(tensor)
        return name

    def node(self, operator: str, inputs: Sequence[str], output: str, domain: str = "", **attributes: object) -> str:
        self.nodes.append(helper.make_node(operator, inputs, [output], domain=domain, name=output, **attributes))
        return output

    def linear(self, x: str, name: str, width: int, outputs: int) -> str:
        weights = self.weight(f"{name}.w", TensorProto.UINT8, (outputs, width // BLOCK, BLOCK // 2))
        scales = self.weight(f"{name}.s", TensorProto.FLOAT, (outputs * width // BLOCK,))
        bias = self.weight(f"{name}.b", TensorProto.FLOAT, (outputs,))
        sizes = {"K": width, "N": outputs, "bits": 4, "block_size": BLOCK}
        # level 4: activations in 8 bits, twice as fast, cosine to full precision above 0.999
        product = self.node("MatMulNBits", [x, weights, scales], f"{name}_mm", MICROSOFT, accuracy_level=4, **sizes)
        return self.node("Add", [product, bias], f"{name}_o")

    def norm(self, x: str, name: str, output: str) -> str:
        scale = self.weight(f"{name}.w", TensorProto.FLOAT, (HIDDEN,))
        bias = self.weight(f"{name}.b", TensorProto.FLOAT, (HIDDEN,))
        return self.node("LayerNormalization", [x, scale, bias], output, axis=-1, epsilon=EPSILON)

    def layer(self, x: str, mask: str, name: str) -> str:
        heads = [self.linear(x, f"{name}{part}", HIDDEN, HIDDEN) for part in "qkv"]
        attention = self.node("MultiHeadAttention", [*heads, "", mask], f"{name}att", MICROSOFT, num_heads=HEADS)
        mixed = self.node("Add", [x, self.linear(attention, f"{name}ao", HIDDEN, HIDDEN)], f"{name}r1")
        x = self.norm(mixed, f"{name}aln", f"{name}x1")
        inner = self.node("Gelu", [self.linear(x, f"{name}fi", HIDDEN, FEED_FORWARD)], f"{name}g", MICROSOFT)
        summed = self.node("Add", [x, self.linear(inner, f"{name}fo", FEED_FORWARD, HIDDEN)], f"{name}r2")
        return self.norm(summed, f"{name}oln", f"{name}x2")


def model() -> ModelProto:
    """Inputs `embeddings` (B, S, 384) and `attention_mask` (B, S); output: the last layer (B, S, 384)."""
    graph = Graph()
    x = graph.norm("embeddings", "emb.ln", "x")
    mask = graph.node("Cast", ["attention_mask"], "m32", to=TensorProto.INT32)
    for layer in range(LAYERS):
        x = graph.layer(x, mask, f"l{layer}.")
    shape = ["B", "S", HIDDEN]
    inputs = [
        helper.make_tensor_value_info("embeddings", TensorProto.FLOAT, shape),
        helper.make_tensor_value_info("attention_mask", TensorProto.INT64, ["B", "S"]),
    ]
    outputs = [helper.make_tensor_value_info(x, TensorProto.FLOAT, shape)]
    body = helper.make_graph(graph.nodes, "e5", inputs, outputs, graph.weights)
    result = helper.make_model(body, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid(MICROSOFT, 1)])
    result.ir_version = 9  # read by every onnxruntime from 1.16
    return result


if __name__ == "__main__":
    Path(sys.argv[1]).write_bytes(model().SerializeToString())
