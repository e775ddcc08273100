"""Attention layers."""

from tfmrc.layers.attention.additive_attention import AdditiveAttention
from tfmrc.layers.attention.dual_attention import DualAttention
from tfmrc.layers.attention.gated_self_attention import GatedSelfAttention
from tfmrc.layers.attention.luong_attention import LuongAttention
from tfmrc.layers.attention.memory_generation import MemoryGeneration
from tfmrc.layers.attention.multi_head_attention import MultiHeadAttention
from tfmrc.layers.attention.multiplicative_attention import MultiplicativeAttention
from tfmrc.layers.attention.tied_self_attention import TiedSelfAttention

__all__ = [
    "AdditiveAttention",
    "DualAttention",
    "GatedSelfAttention",
    "LuongAttention",
    "MemoryGeneration",
    "MultiHeadAttention",
    "MultiplicativeAttention",
    "TiedSelfAttention",
]
