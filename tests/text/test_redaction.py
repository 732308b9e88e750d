from __future__ import annotations

import time

import pytest

from longbeam.text import KINDS, Redaction, render_found
from tests.text.planted import planted_messages, redaction_score


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("Write to ana.b+x@mail.example.org.", "Write to [email 1]."),
        ("Call +49 170 1234567 or 0170/1234567.", "Call [phone 1] or [phone 2]."),
        ("Call (212) 555-0187 or 212-555-0187.", "Call [phone 1] or [phone 1]."),
        ("IBAN DE89 3704 0044 0532 0130 00, card 4111 1111 1111 1111", "IBAN [iban 1], card [card 1]"),
        ("key sk-proj-abcdefghij0123456789 and AKIAABCDEFGHIJKLMNOP", "key [key 1] and [key 2]"),
        ("password: hunter2hunter", "password: [password 1]"),
        ("I log in with password hunter2!Zz50, as ever.", "I log in with password [password 1], as ever."),
        ("My password manager, the password reset of 2024", "My password manager, the password reset of 2024"),
        ("I met Jennifer Walker. Jennifer's car", "I met Person 1. Person 1's car"),
        ("Grace Walker will come; Mark it. Will it rain in May?", "Person 1 will come; Mark it. Will it rain in May?"),
    ],
)
def test_private_texts_get_placeholders(text: str, redacted: str) -> None:
    assert Redaction().redacted(text) == redacted


@pytest.mark.parametrize(
    "text",
    [
        "It cost $1,200.50 on 2024-03-05 at 10:30, order 12345.",
        "Version 2.3.1 has 1,234,567 users; 100 200 300 units.",
        "Will Monday do? Grace is a virtue. Rose bushes in June.",
    ],
)
def test_values_and_words_stay(text: str) -> None:
    assert Redaction().redacted(text) == text


def test_given_names_are_replaced_everywhere_by_one_placeholder() -> None:
    redaction = Redaction(["Zvjezdana Kovač"])
    assert (
        redaction.redacted("Zvjezdana Kovač called. Then Zvjezdana Kovač left.")
        == "Person 1 called. Then Person 1 left."
    )
    assert render_found(redaction.found()) == "Person 1     2  Zvjezdana Kovač\nname 1\n"


def test_placeholders_of_an_earlier_redaction_are_not_given_to_others() -> None:
    redaction = Redaction(names=("Zyx",))
    redaction.pass_over("Person 2 wrote to [email 7], and Person 1 did not.")
    assert redaction.redacted("Zyx wrote to a@b.org.") == "Person 3 wrote to [email 8]."


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("pwd=Sommer22 and later Sommer22 again", "pwd=[password 1] and later [password 1] again"),
        ("call 0044 20 7946 0958", "call [phone 1]"),
        ("amex 3782 822463 10005", "amex [card 1]"),
        ("a\u200bna@mail\u200b.org", "[email 1]"),
        ("card 4111\u00a01111\u00a01111\u00a01111", "card [card 1]"),
        ("my SSN is 536-90-4399", "my SSN is [ssn 1]"),
        ("ssh root@10.11.12.13 or 2001:db8::1", "ssh root@[ip 1] or [ip 2]"),
        ("我的邮箱是abc@x.com。", "我的邮箱是[email 1]。"),
        ("пароль: Зима2024!", "пароль: [password 1]!"),
        ("postgres://app:s3cr3t@db/x", "postgres://app:[password 1]@db/x"),
        ("Anna Kowalska came. Anna left.", "Person 1 came. Person 1 left."),
        ("+48 601 234 567, again +48601234567", "[phone 1], again [phone 1]"),
        ("4111.1111.1111.1111, 4111/1111/1111/1111, 4111-1111-1111-1111", "[card 1], [card 1], [card 1]"),
        (
            "DE89.3704.0044.0532.0130.00 by Friday, de89 3704 0044 0532 0130 00 by Monday",
            "[iban 1] by Friday, [iban 1] by Monday",
        ),
        ("ES91/2100/0418/4502/0005/1332", "[iban 1]"),
        ("my SSN is 219099998; social security no. 219/09/9995", "my SSN is [ssn 1]; social security no. [ssn 2]"),
        (
            "用户@例子.公司, दीपक@उदाहरण.भारत, name(at)example.com and name @ example.com",
            "[email 1], [email 2], [email 3] and [email 4]",
        ),
        ("from 203[.]0[.]113[.]12 and ::ffff:192.0.2.128", "from [ip 1] and [ip 2]"),
        (
            "<password>Xml!9876</password> PW: Short!234, Passwort ist: „Schl0ss!9“",
            "<password>[password 1]</password> PW: [password 2], Passwort ist: „[password 3]“",
        ),
        (
            "passphrase: correct horse battery staple. PIN 4821, my pin code is 938271",
            "passphrase: [password 1]. PIN [password 2], my pin code is [password 3]",
        ),
        (
            "password changed from old to New!23456; login: bob / Sup3r$ecret",
            "password changed from old to [password 1]; login: bob / [password 2]",
        ),
        (
            "AccountKey=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==",
            "AccountKey=[key 1]",
        ),
    ],
)
def test_what_hides_or_comes_again_is_found(text: str, redacted: str) -> None:
    assert Redaction().redacted(text) == redacted


def test_a_repeat_before_the_place_where_a_rule_finds_it_is_replaced_once_it_was_learnt() -> None:
    redaction = Redaction()
    texts = ["I typed Sommer22 by mistake.", "The password: Sommer22"]
    for text in texts:
        redaction.spans(text)
    assert [redaction.redacted(text) for text in texts] == [
        "I typed [password 1] by mistake.",
        "The password: [password 1]",
    ]


def test_recall_and_precision_of_structured_kinds_on_messages_planted_blind() -> None:
    score = redaction_score(planted_messages(7, 1200))  # benchmarks/bench_redaction.py takes more, and by script
    for kind in KINDS[:-1]:
        assert score.recall(kind, "all") >= 0.95, kind
        assert score.precision(kind) >= 0.9, kind


@pytest.mark.parametrize(
    "text",
    [
        "password = request.form['password']",
        "hashed_password = generate_password_hash(password)",
        "password = None, bind 0.0.0.0:8000",
        "P = 45 * 0.16777216",
        "class SettingsOfBenchmark2DrawnByUserNumber3",
        "element.getElementByIdOrClassName2, git@github.com:org/repo.git, data:image/png;base64,iVBORw0KGgoAAAANSUhEUg",
        "sk-learn_is_a_great_library_name, Basic authentication-required-here",
        "1 234 567 890 people, 1 2 3 4 5 6 7 8 9 10, the number is 100000000, number 1234567 in the list",
        "commit 9fceb02d0ae598e95dc970b74767f19372d0b3f1",
    ],
)
def test_code_is_no_secret(text: str) -> None:
    assert Redaction().redacted(text) == text


def test_a_password_that_is_a_word_is_not_looked_for_elsewhere() -> None:
    assert Redaction().redacted("password: sommer. In summer: sommer") == "password: [password 1]. In summer: sommer"


PIECES = ["a", "1", "a@", "1.", "sk-", "DE89", "de89 ", "eyJa.", "password:", "密码", "://a:", "1.1.1.1,"]
PIECES += ["-----BEGIN PRIVATE KEY-----", "a{}@longestdomainname.com ", "password: aaaaaaaaaaaa!{} ", "0170/{:07};"]


@pytest.mark.parametrize("piece", PIECES)
def test_the_time_is_linear_in_the_length(piece: str) -> None:
    def seconds(length: int) -> float:
        text = "".join(piece.format(number) for number in range(length // len(piece)))
        began = time.process_time()
        Redaction().redacted(text)
        return time.process_time() - began

    seconds(1_000)  # loads the recognisers
    # Ten times the text takes less than forty times as long; a quadratic rule would take a hundred times.
    assert seconds(400_000) < 40 * max(seconds(40_000), 0.01)
