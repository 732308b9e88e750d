"""Messages with private texts planted in them, for measuring redaction.

The script was written from public formats (Faker's providers, key formats that their makers publish) by somebody
who had not read the rules of `longbeam.text.Redaction`; the decoys in code came later. Every planted text has its
place, kind, script and variant; decoys look like private texts and are none.
"""

from __future__ import annotations

import base64
import json
import random
import string
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from faker import Faker

from longbeam.text import Redaction

if TYPE_CHECKING:
    from collections.abc import Callable

LOCALES = {
    "Latin": ("en_US", "en_GB", "de_DE", "fr_FR", "es_ES", "it_IT", "pl_PL", "pt_BR", "nl_NL", "sv_SE", "tr_TR"),
    "Cyrillic": ("ru_RU", "uk_UA", "bg_BG"),
    "Greek": ("el_GR",),
    "Arabic": ("ar_SA", "fa_IR"),
    "Hebrew": ("he_IL",),
    "Chinese": ("zh_CN", "zh_TW"),
    "Japanese": ("ja_JP",),
    "Korean": ("ko_KR",),
    "Devanagari": ("hi_IN",),
    "Thai": ("th_TH",),
}
"""Faker's locales by script."""
CARRIERS = {
    "Latin": {
        "email": (
            "write to {} please", "{} is my address", "Kontakt: {}, danke", "mail me ({})",
            "meine Adresse lautet {}.",
        ),
        "phone": (
            "call me at {} after six", "Tel: {}", "Handy {} oder Festnetz", "mon numéro est le {}.",
            "WhatsApp {}, thanks", "(phone: {})",
        ),
        "iban": ("IBAN {}", "please transfer it to {}, thanks", "Konto: {}.", "mi cuenta es {}"),
        "card": (
            "my card number is {}", "Kreditkarte {}, gültig bis 09/27", "charge {} please", "carte bancaire : {}.",
        ),
        "ssn": ("my social security number is {}", "SSN: {}", "the form wants my SSN ({})"),
        "ip": ("the box at {} is down", "ssh root@{}", "ping {} fails", "the server {} answers"),
        "password": (
            "password: {}", "my password is {}", "pwd={}", "Passwort: {}", "mot de passe : {}", "contraseña: {}",
            "hasło: {}", "senha: {}", "the wifi password is {}", "DB_PASSWORD={}", '"password": "{}"',
            "login bob / password {}", "mysql --password={} shop", "wachtwoord: {}", "passphrase = '{}'",
        ),
        "key": (
            "I pushed {} to the repo", "API_KEY={}", "Authorization: Bearer {}", 'token = "{}"', "my key is {}.",
            "here it is: {}",
        ),
    },
    "Cyrillic": {
        "email": ("пишите на {}", "моя почта {}, спасибо"), "phone": ("мой телефон {}", "звоните по номеру {}."),
        "iban": ("переведите на счёт {}",), "card": ("номер карты {}", "оплата картой {}, спасибо"),
        "ssn": ("мой SSN {}",), "ip": ("сервер {} не отвечает",),
        "password": ("пароль: {}", "мой пароль {}"), "key": ("вот ключ {}", "токен: {}"),
    },
    "Greek": {
        "email": ("γράψε στο {}", "το email μου είναι {}."), "phone": ("το τηλέφωνό μου είναι {}", "τηλ. {}"),
        "iban": ("ο λογαριασμός είναι {}",), "card": ("αριθμός κάρτας {}",), "ssn": ("το SSN μου: {}",),
        "ip": ("ο διακομιστής {} δεν απαντά",), "password": ("κωδικός: {}", "ο κωδικός μου είναι {}"),
        "key": ("το κλειδί {} διέρρευσε",),
    },
    "Arabic": {
        "email": ("بريدي الإلكتروني {}",), "phone": ("رقم هاتفي {}", "اتصل بي على {}"), "iban": ("حسابي {}",),
        "card": ("رقم البطاقة {}",), "ssn": ("رقم SSN هو {}",), "ip": ("الخادم {} لا يعمل",),
        "password": ("كلمة المرور: {}", "كلمة السر {}"), "key": ("المفتاح {}",),
    },
    "Hebrew": {
        "email": (
            "המייל שלי {}",), "phone": ("הטלפון שלי {}",), "iban": ("החשבון הוא {}",), "card": ("מספר הכרטיס {}",
        ),
        "ssn": (
            "SSN שלי {}",), "ip": ("השרת {} לא עונה",), "password": ("סיסמה: {}",
            "הסיסמה שלי היא {}"), "key": ("המפתח {}",
        ),
    },
    "Chinese": {
        "email": ("请发邮件到{}。", "我的邮箱是 {}"), "phone": ("我的电话是{}。", "手机号：{}"),
        "iban": ("账户是{}。",),
        "card": ("卡号是{}，谢谢", "银行卡 {}"), "ssn": ("我的SSN是{}。",), "ip": ("服务器{}连不上",),
        "password": ("密码：{}", "我的密码是{}"), "key": ("密钥是{}。", "令牌：{}"),
    },
    "Japanese": {
        "email": ("{}にメールしてください",), "phone": ("電話番号は{}です", "携帯:{}"), "iban": ("口座は{}です",),
        "card": ("カード番号は{}です",), "ssn": ("SSNは{}です",), "ip": ("サーバー{}が落ちています",),
        "password": ("パスワード：{}", "パスワードは {} です"), "key": ("キーは{}です",),
    },
    "Korean": {
        "email": ("제 이메일은 {}입니다",), "phone": ("제 번호는 {}입니다", "전화: {}"), "iban": ("계좌는 {}입니다",),
        "card": ("카드 번호는 {}입니다",), "ssn": ("SSN은 {}입니다",), "ip": ("서버 {}가 죽었어요",),
        "password": ("비밀번호: {}", "비밀번호는 {} 입니다"), "key": ("키는 {} 입니다",),
    },
    "Devanagari": {
        "email": ("मेरा ईमेल {} है",), "phone": ("मेरा फ़ोन नंबर {} है", "मोबाइल: {}"), "iban": ("खाता {} है",),
        "card": ("कार्ड नंबर {} है",), "ssn": ("मेरा SSN {} है",), "ip": ("सर्वर {} बंद है",),
        "password": ("पासवर्ड: {}", "मेरा पासवर्ड {} है"), "key": ("कुंजी {} है",),
    },
    "Thai": {
        "email": ("อีเมลของฉันคือ {}",), "phone": ("โทร {}", "เบอร์โทรศัพท์ของฉันคือ {}"), "iban": ("บัญชี {}",),
        "card": ("หมายเลขบัตร {}",), "ssn": ("SSN ของฉันคือ {}",), "ip": ("เซิร์ฟเวอร์ {} ล่ม",),
        "password": ("รหัสผ่าน: {}", "รหัสผ่านคือ {}"), "key": ("คีย์คือ {}",),
    },
}  # fmt: skip
"""Sentences around a planted text, by script and kind."""
DECOYS = {
    "Latin": (
        "we meet on 2024-03-18 at 14:30 in room 204", "version 2.14.3 of the library came out",
        "order no. 4471-2024 was shipped",
        "it cost 1,249.50 euros and 12% tax", "ISBN 978-3-16-148410-0 is the book", "see commit 9f2c1e7 in the log",
        "the years 1998-2004 were hard", "use RFC 2822 and section 4.3.2.1 of it", "coordinates 48.8566, 2.3522",
        "the ratio is 1234567 to 7654321", "f(x) = x @ y in numpy", "the decorator @app.route and @dataclass",
        "I forgot my password again", "how do I reset a password?", "the password must have 12 characters",
        "the key is to stay calm", "token limits are 128000 per request", "an API key is needed for this",
        "my pin board is full", "build 10.0.19045 of Windows", "population 8419000 in 2020", "ticket #1029384756",
        "invoice 20240318 is due", "the score was 21-19, 21-17, 15-13", "from 09:00-17:30 on weekdays",
        "chapter 12, pages 100-145",
        "uuid 3f2504e0-4f89-11d3-9a0c-0305e82c3301", "sha256 of the file differs", "timestamp 1700000000 in seconds",
        "pi is 3.14159265358979", "the card game needs 52 cards", "pass the salt please",
        "phone batteries last 2 years",
        "model number WH-1000XM5", "tracking 1Z999AA10123456784", "pixels 1920x1080 at 144 Hz",
        "batch size 32, lr 0.0003",
        "password = request.form['password']", "password=hashed_password)", "export DB_PASSWORD=${SECRET}",
        "P = 45 * 0.16777216",
        "listen on 0.0.0.0:8000", "def login(user: str, password: str) -> None:",
        "https://example.org/a/Xk29fLq0aZ8kTb3mNv7c",
        "flight LH 1234 at 6.15", "password manager or passphrase, which is better?",
        "the secret of good bread is time",
    ),
    "Cyrillic": (
        "встреча 18.03.2024 в 14:30", "цена 12 500 рублей", "версия 2.14.3 вышла", "забыл пароль",
        "глава 12, страницы 100-145",
    ),
    "Greek": (
        "το ραντεβού είναι 18/03/2024 στις 14:30", "κοστίζει 1.249,50 ευρώ", "ξέχασα τον κωδικό", "έκδοση 2.14.3",
    ),
    "Arabic": ("الموعد 2024-03-18 الساعة 14:30", "السعر 12500 ريال", "نسيت كلمة المرور", "الإصدار 2.14.3"),
    "Hebrew": ("הפגישה ב-18.03.2024 בשעה 14:30", "המחיר 12500 שקל", "שכחתי את הסיסמה", "גרסה 2.14.3"),
    "Chinese": ("会议在2024年3月18日14:30", "价格是12500元", "我忘了密码", "版本2.14.3发布了"),
    "Japanese": ("会議は2024年3月18日14:30です", "値段は12500円です", "パスワードを忘れました", "バージョン2.14.3"),
    "Korean": ("회의는 2024년 3월 18일 14:30입니다", "가격은 12500원입니다", "비밀번호를 잊었어요", "버전 2.14.3"),
    "Devanagari": ("बैठक 18-03-2024 को 14:30 बजे है", "कीमत 12500 रुपये है", "मैं पासवर्ड भूल गया", "संस्करण 2.14.3"),
    "Thai": ("ประชุมวันที่ 18/03/2567 เวลา 14:30", "ราคา 12500 บาท", "ฉันลืมรหัสผ่าน", "เวอร์ชัน 2.14.3"),
}  # fmt: skip
"""Sentences in which nothing is private, though some look so."""
VARIANTS = ("plain",) * 6 + (
    "no-break space",
    "zero-width space",
    "repeated",
    "wide digits",
    "own digits",
    "soft hyphen",
)
"""Half of the texts stand as they are; the others are hidden or repeated in the way named."""
HIDDEN = {"zero-width space": "\u200b", "soft hyphen": "\u00ad"}
ALPHANUMERIC = string.ascii_letters + string.digits
OWN_DIGITS = {"Arabic": "٠١٢٣٤٥٦٧٨٩", "Devanagari": "०१२३४५६७८९", "Thai": "๐๑๒๓๔๕๖๗๘๙"}


@dataclass(frozen=True)
class PlantedText:
    """A private text and where it stands."""

    kind: str
    script: str
    variant: str
    start: int
    end: int


@dataclass(frozen=True)
class PlantedMessage:
    """A message and the private texts in it; a decoy has none."""

    text: str
    planted: tuple[PlantedText, ...]


def planted_messages(seed: int, count: int) -> list[PlantedMessage]:
    """Return `count` messages: each kind in each script equally often, and a decoy after every second one."""
    rng = random.Random(seed)
    fakers = {script: [Faker(locale) for locale in locales] for script, locales in LOCALES.items()}
    for number, faker in enumerate(faker for group in fakers.values() for faker in group):
        faker.seed_instance(seed + number)
    pairs = [(script, kind) for script in CARRIERS for kind in CARRIERS[script]]
    messages = []
    for number in range(count):
        if number % 3 == 2:
            script = rng.choice([*DECOYS, *["Latin"] * 4])
            messages.append(PlantedMessage(rng.choice(DECOYS[script]), ()))
            continue
        script, kind = pairs[(number - number // 3) % len(pairs)]
        messages.append(_message(rng, rng.choice(fakers[script]), script, kind))
    return messages


def _message(rng: random.Random, faker: Faker, script: str, kind: str) -> PlantedMessage:
    value = private_text(rng, faker, kind)
    variant = rng.choice(VARIANTS)
    shown = _varied(value, variant, script, kind)
    if shown == value and variant != "repeated":
        variant = "plain"
    before, after = rng.choice(CARRIERS[script][kind]).split("{}")
    text, places = before + shown + after, [(len(before), len(before) + len(shown))]
    if variant == "repeated":
        text += ". "
        places.append((len(text), len(text) + len(value)))
        text += value
    return PlantedMessage(text, tuple(PlantedText(kind, script, variant, *place) for place in places))


def _varied(value: str, variant: str, script: str, kind: str) -> str:
    """Return the text as the variant shows it; where it cannot, unchanged."""
    if variant == "no-break space":
        return value.replace(" ", "\u00a0")
    if variant in HIDDEN and kind not in {"password", "key"}:
        return value[: len(value) // 2] + HIDDEN[variant] + value[len(value) // 2 :]
    if variant == "wide digits" and script in {"Chinese", "Japanese", "Korean"} and kind in {"phone", "card"}:
        return value.translate({ord(d): chr(0xFF10 + int(d)) for d in string.digits})
    if variant == "own digits" and script in OWN_DIGITS and kind in {"phone", "card"}:
        return value.translate({ord(d): OWN_DIGITS[script][int(d)] for d in string.digits})
    return value


def private_text(rng: random.Random, faker: Faker, kind: str) -> str:
    """Return a private text of the kind, in one of the spellings in which people write it."""
    makers: dict[str, Callable[[], str]] = {
        "email": faker.email,
        "phone": lambda: _phone(rng, faker),
        "iban": lambda: _iban(rng),
        "card": lambda: _card(rng, faker),
        "ssn": lambda: f"{_of(rng, 1, 665):03}-{_of(rng, 1, 99):02}-{_of(rng, 1, 9999):04}",
        "ip": lambda: (
            faker.ipv4_public()
            if rng.random() < 0.6
            else (faker.ipv6() if rng.random() < 0.5 else faker.ipv4_private())
        ),
        "password": lambda: _password(rng, faker),
        "key": lambda: _key(rng),
    }
    return makers[kind]()


def _of(rng: random.Random, low: int, high: int) -> int:
    return rng.randint(low, high)


def _phone(rng: random.Random, faker: Faker) -> str:
    number: str = faker.phone_number()
    if rng.random() < 0.4:  # E.164 and its 00 form, grouped as people group it
        code, first = rng.choice(NUMBERING)
        digits = first[:-1] + "".join(rng.choice(string.digits) for _ in range(int(first[-1])))
        number = rng.choice(("+", "00")) + code + rng.choice(("", " ", "-"))
        number += rng.choice((digits, f"{digits[:3]} {digits[3:6]} {digits[6:]}"))
    return number


NUMBERING = (
    *(("1", "2127"), ("44", "798"), ("49", "1768"), ("33", "68"), ("34", "68"), ("39", "3477"), ("48", "607")),
    *(("7", "9167"), ("30", "6978"), ("966", "508"), ("972", "528"), ("86", "1388"), ("81", "908"), ("82", "108")),
    *(("91", "988"), ("66", "818"), ("90", "5327"), ("380", "677"), ("46", "707"), ("55", "119")),
)
"""Country codes, first digits of a mobile number, and, as the last digit, how many more there are."""
IBANS = {
    "DE": "n18", "FR": "n10c11n2", "GB": "a4n14", "ES": "n20", "IT": "a1n10c12", "PL": "n24", "NL": "a4n10",
    "GR": "n7c16",
    "SE": "n20", "CH": "n5c12", "AT": "n16", "SA": "n2c18", "IL": "n19", "TR": "n5n1c16", "UA": "n6c19", "BG": "a4n6c8",
}  # fmt: skip
"""Account parts by country as the IBAN registry lays them out: n digits, a letters, c either."""


def _iban(rng: random.Random) -> str:
    country = rng.choice(list(IBANS))
    bank, layout = "", IBANS[country]
    while layout:
        sort, rest = layout[0], layout[1:]
        length = int("".join(c for c in rest[:2] if c.isdigit()))
        layout = rest[len(str(length)) :]
        letters = {"n": string.digits, "a": string.ascii_uppercase, "c": string.digits + string.ascii_uppercase}[sort]
        bank += "".join(rng.choice(letters) for _ in range(length))
    check = 98 - int("".join(str(int(c, 36)) for c in bank + country + "00")) % 97
    iban = f"{country}{check:02}{bank}"
    spelling = rng.randrange(3)
    if spelling == 0:
        return " ".join(iban[i : i + 4] for i in range(0, len(iban), 4))
    return iban if spelling == 1 else iban.lower() if rng.random() < 0.3 else iban


def _card(rng: random.Random, faker: Faker) -> str:
    digits: str = faker.credit_card_number()
    if rng.random() < 0.5:
        return digits
    mark = rng.choice(" -")
    if len(digits) == 15:
        return mark.join((digits[:4], digits[4:10], digits[10:]))
    return mark.join(digits[i : i + 4] for i in range(0, len(digits), 4))


def _password(rng: random.Random, faker: Faker) -> str:
    made: str = faker.password(length=rng.randint(8, 16))
    joined = rng.choice(("hunter", "dragon", "sommer", "azerty", "tesoro", "Falcon")) + str(rng.randint(10, 9999))
    # Quotes, brackets and what ends a sentence would make the place of the end a matter of taste.
    made = "".join(c for c in made if c not in "\"'()[]{}<>,;:\\") or "Xk4_plain9"
    return rng.choice((made.rstrip(".!?"), joined))


def _random(rng: random.Random, letters: str, count: int) -> str:
    return "".join(rng.choice(letters) for _ in range(count))


def _key(rng: random.Random) -> str:
    hexadecimal, url = "0123456789abcdef", ALPHANUMERIC + "-_"
    some = lambda letters, count: _random(rng, letters, count)  # noqa: E731
    forms: tuple[Callable[[], str], ...] = (
        lambda: "AKIA" + some(string.ascii_uppercase + "234567", 16),
        lambda: "ghp_" + some(ALPHANUMERIC, 36),
        lambda: "github_pat_" + some(ALPHANUMERIC, 22) + "_" + some(ALPHANUMERIC, 59),
        lambda: "sk-" + some(ALPHANUMERIC, 48),
        lambda: "sk-proj-" + some(url, 74).strip("-_"),
        lambda: "sk-ant-api03-" + some(url, 93) + "AA",
        lambda: "xoxb-" + some(string.digits, 12) + "-" + some(string.digits, 13) + "-" + some(ALPHANUMERIC, 24),
        lambda: "sk_live_" + some(ALPHANUMERIC, 24),
        lambda: "rk_live_" + some(ALPHANUMERIC, 24),
        lambda: "whsec_" + some(ALPHANUMERIC, 32),
        lambda: "AIza" + some(ALPHANUMERIC, 35),
        lambda: "SG." + some(ALPHANUMERIC, 22) + "." + some(ALPHANUMERIC, 43),
        lambda: "glpat-" + some(ALPHANUMERIC, 20),
        lambda: "hf_" + some(string.ascii_letters, 34),
        lambda: "npm_" + some(ALPHANUMERIC, 36),
        lambda: "pypi-AgEIcHlwaS5vcmc" + some(ALPHANUMERIC, 60),
        lambda: "dop_v1_" + some(hexadecimal, 64),
        lambda: "shpat_" + some(hexadecimal, 32),
        lambda: "dckr_pat_" + some(ALPHANUMERIC, 27),
        lambda: some(string.digits, 10) + ":AA" + some(ALPHANUMERIC, 33),
        lambda: _token(rng),
        lambda: (
            "-----BEGIN PRIVATE KEY-----\n"
            + some(ALPHANUMERIC + "+/", 64)
            + "\n"
            + some(ALPHANUMERIC + "+/", 40)
            + "==\n-----END PRIVATE KEY-----"
        ),
        lambda: "gsk_" + some(ALPHANUMERIC, 52),
        lambda: "xai-" + some(ALPHANUMERIC, 80),
        lambda: "r8_" + some(ALPHANUMERIC, 37),
        lambda: "lin_api_" + some(ALPHANUMERIC, 40),
        lambda: "ya29." + some(url, 60).strip("-_"),
    )
    return rng.choice(forms)()


def _token(rng: random.Random) -> str:
    """Return a JSON Web Token."""
    parts = (
        {"alg": "HS256", "typ": "JWT"},
        {"sub": _random(rng, string.digits, 10), "iat": rng.randint(1_600_000_000, 1_700_000_000)},
    )
    packed = [base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts]
    return ".".join((*packed, _random(rng, ALPHANUMERIC, 43)))


@dataclass(frozen=True)
class RedactionScore:
    """Planted and met texts by kind and script (or `all`), and found and right ones by kind."""

    there: Counter[tuple[str, str]]
    met: Counter[tuple[str, str]]
    found: Counter[str]
    right: Counter[str]

    def recall(self, kind: str, script: str) -> float:
        """Return the share of planted texts of which nothing is left."""
        return self.met[kind, script] / max(1, self.there[kind, script])

    def precision(self, kind: str) -> float:
        """Return the share of found texts that touch a planted one."""
        return self.right[kind] / max(1, self.found[kind])


def redaction_score(messages: list[PlantedMessage]) -> RedactionScore:
    """Redact each message as a chat of its own, and count what was met."""
    score = RedactionScore(Counter(), Counter(), Counter(), Counter())
    for message in messages:
        redaction = Redaction()
        redaction.spans(message.text)  # a chat is read once before, so that repeats are known
        spans = [span for span in redaction.spans(message.text) if span.kind != "name"]
        hidden = {place for span in spans for place in range(span.start, span.end)}
        for one in message.planted:
            is_met = all(at in hidden for at in range(one.start, one.end) if message.text[at].isalnum())
            for script in (one.script, "all"):
                score.there[one.kind, script] += 1
                score.met[one.kind, script] += is_met
        for span in spans:
            score.found[span.kind] += 1
            score.right[span.kind] += any(one.start < span.end and span.start < one.end for one in message.planted)
    return score
