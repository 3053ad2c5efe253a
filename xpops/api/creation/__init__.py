"""Creation functions of the standard: new arrays."""
