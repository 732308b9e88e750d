"""Hits of a block-wise prefix cache, counted by hand: blocks of 16 tokens, the last token always computed."""

from __future__ import annotations

from longbeam.models import MESSAGE_OVERHEAD, PrefixCache, PromptEncoder, tokens_in
from longbeam.schemas import ChatMessage


def _encoded(*contents: str) -> bytes:
    """Each character is a token."""
    encoder = PromptEncoder(lambda text: [ord(c) for c in text])
    return encoder(tuple(ChatMessage(role="user", content=c) for c in contents))


def test_tokens_count_the_template() -> None:
    assert tokens_in(_encoded("abc", "de")) == 5 + 2 * MESSAGE_OVERHEAD


def test_nothing_is_hit_the_first_time_and_whole_blocks_the_second() -> None:
    cache = PrefixCache()
    prompt = _encoded("a" * 40)  # 44 tokens: two full blocks of 16 and 12 more
    assert cache.serve(prompt) == 0
    assert cache.serve(prompt) == 32


def test_last_token_is_always_computed() -> None:
    cache = PrefixCache()
    prompt = _encoded("a" * 28)  # 32 tokens: two blocks, but then nothing would be left to compute
    cache.serve(prompt)
    assert cache.serve(prompt) == 16


def test_hits_end_at_the_first_block_that_differs() -> None:
    cache = PrefixCache()
    cache.serve(_encoded("a" * 60 + "b" * 36))  # blocks 0-3 are all "a" (with the opening), then "b"
    assert cache.serve(_encoded("a" * 60 + "c" * 36)) == 48  # the fourth block holds 3 + 45..60 a: 63 < 64
    # The same block behind another beginning is another block.
    assert cache.serve(_encoded("x" + "a" * 95)) == 0


def test_append_only_prompts_hit_all_that_was_sent_before() -> None:
    cache = PrefixCache()
    cache.serve(_encoded("s" * 60, "q" * 28))  # 64 + 32 tokens
    assert cache.serve(_encoded("s" * 60, "q" * 28, "r" * 60)) == 96


def test_small_cache_forgets_what_was_used_longest_ago_from_its_end() -> None:
    cache = PrefixCache(max_tokens=64)  # four blocks
    first, second = _encoded("a" * 44), _encoded("b" * 28)  # three blocks and two
    cache.serve(first)
    cache.serve(second)  # five blocks are one too many: the last block of the first prompt goes
    assert cache.serve(first) == 32
    assert PrefixCache(max_tokens=0).serve(first) == 0
