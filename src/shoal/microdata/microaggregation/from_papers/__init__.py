"""The local searches as they were published: ``ls``, ``lsc``, ``ilsm``, ``ilsmc``."""
