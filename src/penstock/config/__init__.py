"""References in configs (``${provider:path:key}``), and the providers that resolve them."""
