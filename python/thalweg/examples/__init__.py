"""Small complete examples; tested."""
