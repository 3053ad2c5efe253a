"""The CUDA engine: compile, cache, memory, streams, launch, tuning."""
