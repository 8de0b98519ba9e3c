"""The operators of ``runtime.ops_nn``, under the name by which programs import them."""

from runtime.ops_nn import *
from runtime.ops_nn import __all__
