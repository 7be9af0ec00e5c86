"""Turning text into vectors: providers behind `ports.Embedder`, and questions embedded within a deadline."""

from app.embedding.factory import create_embedder, create_query_embedder

__all__ = ["create_embedder", "create_query_embedder"]
