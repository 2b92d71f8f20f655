"""Linear layers whose weights can be laid out for the matrix kernels of the CPU.

oneDNN multiplies blocked matrices, and adds bias, GELU or residual where a product lands. A weight
that is blocked once, after loading, is not blocked again in every call. The plain weight is given
up for it, so that nothing is held twice.
"""

import torch
from torch import nn
from torch.nn import functional

_TYPICAL_ROWS = 600
"""Frames of a released window with its context: the layout is the best one for about so many."""


class PackableLinear(nn.Linear):
    """A linear layer, and the sums that follow it in a transformer block."""

    @property
    def is_packed(self) -> bool:
        """Whether `pack_` has taken effect."""
        return bool(self.weight.is_mkldnn)

    def pack_(self) -> None:
        """Lay the weight out for the CPU; nothing happens elsewhere or in another precision.

        A packed layer can be computed with, but not be moved, cast or sliced;
        `weight.to_dense()` gives the plain matrix back.
        """
        weight = self.weight
        is_plain = not weight.is_mkldnn and weight.device.type == "cpu"
        if not is_plain or weight.dtype is not torch.float32 or not _has_kernels():
            return
        packed = torch.ops.mkldnn._reorder_linear_weight(weight.detach(), _TYPICAL_ROWS)
        self.weight = nn.Parameter(packed, requires_grad=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return x times the weight, plus the bias."""
        if not self.is_packed:
            return super().forward(x)
        return self._fused(x, "none")

    def gelu(self, x: torch.Tensor) -> torch.Tensor:
        """Return the exact (erf) GELU of the layer's output."""
        if not self.is_packed:
            return functional.gelu(super().forward(x))
        return self._fused(x, "gelu")

    def add_to(self, residual: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        """Return residual plus the layer's output; residual's memory may be used for it.

        Args:
            residual: (B, T, out_features), contiguous.
            x: (B, T, in_features).
        """
        if self.is_packed:
            summed: torch.Tensor = torch.ops.mkldnn._linear_pointwise.binary(
                x, residual, self.weight, self.bias, "add"
            )
            return summed
        flat = residual.view(-1, residual.shape[-1])
        flat.addmm_(x.reshape(-1, x.shape[-1]), self.weight.t()).add_(self.bias)
        return residual

    def _fused(self, x: torch.Tensor, activation: str) -> torch.Tensor:
        result: torch.Tensor = torch.ops.mkldnn._linear_pointwise(
            x, self.weight, self.bias, activation, [], "none"
        )
        return result


def pack_linears(model: nn.Module) -> None:
    """Pack every layer of a model that can be; call it once the model is where it will run."""
    for module in model.modules():
        if isinstance(module, PackableLinear):
            module.pack_()


def _has_kernels() -> bool:
    # The operators are torch's own, for its compiler; a build may lack them.
    operators = torch.ops.mkldnn
    is_built = bool(torch.backends.mkldnn.is_available())  # type: ignore[no-untyped-call]
    names = ("_reorder_linear_weight", "_linear_pointwise")
    return is_built and all(hasattr(operators, name) for name in names)
