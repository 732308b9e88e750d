"""A language model of random weights, made on the spot in under a second: it writes words, and makes no sense.

A one-layer llama with a byte-level BPE of the words of our own prompts, so that prompts are few tokens. Its first
dimension is a constant, through which single tokens are made likelier or never written: no control characters and no
half characters, quotation marks and ends of text often enough that replies end, blanks and digits seldom. Its second
says that the token before was a quotation mark, behind which another is unlikely: texts are seldom empty.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import gguf
import numpy as np

SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
WORDS = 1_200
WIDTH, FEED_FORWARD, SEED = 32, 64, 0
NEVER, SELDOM, END, QUOTE, BRACKET = -20.0, -1.5, 1.6, 3.6, 0.8
QUOTE_AFTER_QUOTE = -3.0
CONSTANT, AFTER_QUOTE = 0, 1
TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def write_tiny_model(path: Path, texts: Path) -> None:
    """Write the model as a GGUF file; its vocabulary is taken from the prompt templates under `texts`."""
    tokens, merges = _vocabulary(" ".join(p.read_text(encoding="utf-8") for p in sorted(texts.rglob("*.j2"))))
    writer = gguf.GGUFWriter(str(path), "llama")
    writer.add_context_length(131_072)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(1)
    writer.add_feed_forward_length(FEED_FORWARD)
    writer.add_head_count(1)
    writer.add_head_count_kv(1)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(WIDTH)
    writer.add_vocab_size(len(tokens))
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    writer.add_token_types([3] * len(SPECIAL) + [1] * (len(tokens) - len(SPECIAL)))
    writer.add_token_merges(merges)
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(2)
    writer.add_pad_token_id(0)
    writer.add_add_bos_token(False)
    writer.add_chat_template(TEMPLATE)
    for name, tensor in _tensors(tokens).items():
        writer.add_tensor(name, tensor)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _characters() -> dict[int, str]:
    """The character that stands for each byte in a byte-level BPE, as GPT-2 has it."""
    own = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [b for b in range(256) if b not in own]
    return {**{b: chr(b) for b in own}, **{b: chr(256 + i) for i, b in enumerate(others)}}


def _vocabulary(text: str) -> tuple[list[str], list[str]]:
    characters = _characters()
    tokens = [*SPECIAL, *(characters[b] for b in range(256))]
    known, merges = set(tokens), []
    frequent = Counter(re.findall(r" ?[A-Za-z]{2,}", text)).most_common(WORDS)
    for word in [*(word for word, _ in frequent), "\n\n", "  ", "    "]:
        said, *rest = (characters[b] for b in word.encode())
        for character in rest:
            if said + character not in known:
                merges.append(f"{said} {character}")
                tokens.append(said + character)
                known.add(said + character)
            said += character
    return tokens, merges


def _tensors(tokens: list[str]) -> dict[str, np.ndarray]:
    random = np.random.default_rng(SEED)

    def drawn(*shape: int) -> np.ndarray:
        return (random.standard_normal(shape) * 0.02).astype(np.float32)

    def sparing(weights: np.ndarray) -> np.ndarray:
        weights[[CONSTANT, AFTER_QUOTE]] = 0  # nothing is added to these on their way
        return weights

    embedding, output = drawn(len(tokens), WIDTH) * 25, drawn(len(tokens), WIDTH) * 5
    embedding[:, CONSTANT], embedding[:, AFTER_QUOTE] = 1.0, 0.0
    output[:, CONSTANT], output[:, AFTER_QUOTE] = _biases(tokens), 0.0
    quote = tokens.index('"')
    embedding[quote, AFTER_QUOTE], output[quote, AFTER_QUOTE] = 1.0, QUOTE_AFTER_QUOTE
    ones = np.ones(WIDTH, np.float32)
    return {
        "token_embd.weight": embedding,
        "output_norm.weight": ones,
        "output.weight": output,
        "blk.0.attn_norm.weight": ones,
        "blk.0.ffn_norm.weight": ones,
        "blk.0.attn_q.weight": drawn(WIDTH, WIDTH),
        "blk.0.attn_k.weight": drawn(WIDTH, WIDTH),
        "blk.0.attn_v.weight": drawn(WIDTH, WIDTH),
        "blk.0.attn_output.weight": sparing(drawn(WIDTH, WIDTH)),
        "blk.0.ffn_gate.weight": drawn(FEED_FORWARD, WIDTH),
        "blk.0.ffn_up.weight": drawn(FEED_FORWARD, WIDTH),
        "blk.0.ffn_down.weight": sparing(drawn(WIDTH, FEED_FORWARD)),
    }


def _biases(tokens: list[str]) -> list[float]:
    characters = _characters()
    blanks = {characters[10], characters[32], characters[10] * 2, characters[32] * 2, characters[32] * 4}
    unwritten = {characters[b] for b in range(256) if b >= 127 or (b < 32 and b != 10)} | {*SPECIAL[:2]}
    chosen = {SPECIAL[2]: END, '"': QUOTE, "]": BRACKET, "}": BRACKET}
    chosen |= dict.fromkeys(blanks | set("0123456789"), SELDOM) | dict.fromkeys(unwritten, NEVER)
    return [chosen.get(token, 0.0) for token in tokens]
