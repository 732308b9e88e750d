"""Chats with private texts planted in them, drawn with Faker; what is planted is known, and so is what is not."""

from __future__ import annotations

import random
from dataclasses import dataclass

from faker import Faker

LOCALES = {
    "latin": ("en_US", "en_GB", "de_DE", "fr_FR", "es_ES", "it_IT", "pl_PL"),
    "cyrillic": ("ru_RU",),
    "cjk": ("ja_JP", "zh_CN", "ko_KR"),
    "devanagari": ("hi_IN",),
}
CARRIERS = {
    "latin": {
        "email": ("Write to {}.", "My address is {}, by the way", "{} is mine"),
        "phone": ("Call me at {}.", "My phone number: {}", "Tel. {} (evenings)", "You can ring {} after six"),
        "iban": ("My IBAN is {}.", "Send it to {} please", "Konto {}"),
        "card": ("The card is {}, it expires soon", "I paid with {}.", "card number {}"),
        "ssn": ("My SSN is {}.", "social security {}"),
        "ip": ("The server {} is down.", "ssh to {} and look"),
        "password": ("password: {}", "The wifi password is {}", "pwd={}", "api_key={}", "my passphrase is {} ok?"),
        "key": ("I pushed {} by mistake", "token {}"),
    },
    "cyrillic": {"email": ("Пишите на {}.",), "phone": ("Мой телефон {}.", "Звоните {}"), "password": ("пароль: {}",)},
    "cjk": {
        "email": ("メールは{}です。", "我的邮箱是{}。"),
        "phone": ("電話は{}です。", "我的电话是{}。"),
        "password": ("密码：{}",),
    },
    "devanagari": {"email": ("मेरा ईमेल {} है।",), "phone": ("मेरा फ़ोन {} है।",)},
}
PLAIN = (
    "It cost $1,200.50 on 2024-03-05 at 10:30.",
    "Order 12345678 has 3 parts.",
    "Version 2.3.1 has 1,234,567 users.",
    "We met on 03/05/2024 and again on 12.11.2024.",
    "The password is wrong again.",
    "In 2019-2023 it grew by 14.5 %.",
    "Room 404, floor 12, row 7.",
    "The score was 3-2, 6-4, 7-5.",
    "My token of thanks is small.",
    "Chapter 10.2.4.1 of it",
    "The ratio is 16:9 at 1920x1080.",
    "It weighs 12 000 000 kg.",
    "See section 3.4 and table 12.",
    "At 12:30:05 it broke.",
    "Reset your password in the settings.",
    "ISBN 978-3-16-148410-0",
    "Use @decorator and a@b in the code.",
)


@dataclass(frozen=True)
class Planted:
    """A text with private texts in it."""

    text: str
    items: tuple[tuple[str, str, str], ...]
    """Kind, script and text of each private text, in order."""


def planted(seed: int, count: int) -> Planted:
    """Return a text with `count` private texts, with plain sentences between them."""
    rng = random.Random(seed)
    fakers = {name: Faker(name) for names in LOCALES.values() for name in names}
    for faker in fakers.values():
        faker.seed_instance(rng.random())
    sentences, items = [], []
    for _ in range(count):
        script = rng.choices(list(LOCALES), weights=(12, 2, 3, 1))[0]
        faker = fakers[rng.choice(LOCALES[script])]
        kind = rng.choice(list(CARRIERS[script]))
        value = _value(kind, faker, fakers, rng)
        items.append((kind, script, value))
        sentences += [rng.choice(CARRIERS[script][kind]).format(value), rng.choice(PLAIN)]
    return Planted("\n".join(sentences), tuple(items))


def _value(kind: str, faker: Faker, fakers: dict[str, Faker], rng: random.Random) -> str:
    letters = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"

    def drawn(length: int) -> str:
        return "".join(rng.choices(letters, k=length))

    match kind:
        case "email":
            return str(faker.ascii_email() if rng.random() < 0.7 else faker.company_email())
        case "phone":
            return str(faker.phone_number())
        case "iban":
            compact = str(fakers[rng.choice(("de_DE", "en_GB", "fr_FR", "es_ES", "it_IT", "pl_PL"))].iban())
            return " ".join(compact[i : i + 4] for i in range(0, len(compact), 4)) if rng.random() < 0.5 else compact
        case "card":
            number = str(faker.credit_card_number(rng.choice(("visa16", "mastercard", "amex", "discover"))))
            groups = (4, 6, 5) if len(number) == 15 else (4, 4, 4, 4)
            cuts = [sum(groups[:i]) for i in range(len(groups))]
            parts = [number[a : a + n] for a, n in zip(cuts, groups, strict=True)]
            return rng.choice(("", " ", "-", "\u00a0")).join(parts)
        case "ssn":
            return str(fakers["en_US"].ssn())
        case "ip":
            return str(faker.ipv4() if rng.random() < 0.7 else faker.ipv6())
        case "password":
            return str(faker.password(length=rng.randint(8, 16), special_chars=False)) + rng.choice(("", "!", "#7"))
    heads = ("sk-proj-", "ghp_", "xoxb-", "AKIA", "glpat-", "hf_")
    head = rng.choice(heads)
    return head + (drawn(16).upper() if head == "AKIA" else drawn(36))
