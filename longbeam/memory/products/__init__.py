"""Adapters of memory products and vector stores: packages of the index behind `longbeam.memory.product.Product`."""
