"""Encoder and decoder layers."""

from tfmrc.layers.encoders.bidirectional_lstm import BidirectionalLSTM
from tfmrc.layers.encoders.concatenated_encoder import ConcatenatedEncoder
from tfmrc.layers.encoders.decoder_block import RecurrentDecoderBlock, TransformerDecoderBlock
from tfmrc.layers.encoders.encoder_block import RecurrentEncoderBlock, TransformerEncoderBlock
from tfmrc.layers.encoders.feed_forward import FeedForward
from tfmrc.layers.encoders.highway import Highway
from tfmrc.layers.encoders.input_feeding_decoder import InputFeedingDecoder
from tfmrc.layers.encoders.linear import linear
from tfmrc.layers.encoders.local_convolution import LocalConvolution
from tfmrc.layers.encoders.residual import Residual
from tfmrc.layers.encoders.stacked_bilstm import StackedBiLSTM

__all__ = [
    "BidirectionalLSTM",
    "ConcatenatedEncoder",
    "FeedForward",
    "Highway",
    "InputFeedingDecoder",
    "LocalConvolution",
    "RecurrentDecoderBlock",
    "RecurrentEncoderBlock",
    "Residual",
    "StackedBiLSTM",
    "TransformerDecoderBlock",
    "TransformerEncoderBlock",
    "linear",
]
