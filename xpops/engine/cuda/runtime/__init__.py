"""What one GPU offers: memory, streams, compilation, launches. Nothing here knows an operator."""
