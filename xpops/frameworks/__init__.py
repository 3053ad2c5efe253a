"""Adapters, one for each framework: they recognise and view its arrays, allocate, and know its current stream.

No framework is imported unless the caller has imported it. `register` adds adapters.
"""

from xpops.frameworks.adapter import Adapter, View
from xpops.frameworks.dlpack import DLPackAdapter
from xpops.frameworks.registry import adapter_of, register

__all__ = ["Adapter", "DLPackAdapter", "View", "adapter_of", "register"]
