from __future__ import annotations

import base64
import json

import pytest

from longbeam.models import Redactor

KEY = "sk-live/0123456789+abc"
ESCAPED = "".join(f"\\u{ord(c):04X}" for c in KEY)


@pytest.mark.parametrize(
    "form",
    [
        KEY,
        KEY.replace("/", "\\/"),
        ESCAPED,
        json.dumps(ESCAPED)[1:-1],
        f"{KEY[:5]}{ESCAPED[30:]}",
        base64.b64encode(KEY.encode()).decode(),
        base64.b64encode(f"Bearer {KEY}".encode()).decode(),
        base64.urlsafe_b64encode(f"Authorization: Bearer {KEY}\r\n".encode()).decode(),
        "sk-live%2F0123456789%2Babc",
    ],
)
def test_a_key_is_masked_in_every_form(form: str) -> None:
    masked = Redactor(KEY)(f"The key was {form}, they say.")
    assert "***" in masked
    assert "56789" not in masked
    assert base64.b64encode(KEY.encode())[4:-4].decode() not in masked


def test_other_text_is_left_alone() -> None:
    text = 'A path \\/ and "\\u00e9" and sk-live.'
    assert Redactor(KEY)(text) == text
    assert Redactor("")(text) == text
