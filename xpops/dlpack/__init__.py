"""Exchange of arrays with any other library: DLPack and ``__cuda_array_interface__``."""
