"""Statistical functions of the standard, those that ignore NaN, and order statistics."""
