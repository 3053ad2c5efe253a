"""One adapter for each framework: recognise, view, allocate, current stream. None imports a framework the caller did
not. `register` adds others.
"""

from xpops.frameworks.adapter import Adapter, View
from xpops.frameworks.dlpack import DLPackAdapter
from xpops.frameworks.registry import adapter_of, register

__all__ = ["Adapter", "DLPackAdapter", "View", "adapter_of", "register"]
