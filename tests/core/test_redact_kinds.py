"""Secrets by where they stand: lists, headers, queries, addresses, environments; and words that only look like them."""

from __future__ import annotations

import pytest

from bringup.core.redact import LineMasker, mask, mask_argv, mask_excerpt, mask_lines

LONG = "XsecretX1" * 5
KINDS = [
    (
        "non-default args: {'model_tag': 'm', 'api_key': ['XsecretX1', 'XsecretX2'], 'port': 1}",
        "'api_key': ***, 'port': 1",
    ),
    ("Namespace(api_key=['XsecretX1', 'XsecretX2'], port=1)", "api_key=***, port=1"),
    ("Namespace(api_key=['XsecretX1', 'Xsecre", "api_key=***"),
    ("args(api_key=b'XsecretX1', port=1)", "api_key=***, port=1"),
    ("args(api_key=SecretStr('XsecretX1'), port=1)", "api_key=***, port=1"),
    ("api_key=('XsecretX1', 'XsecretX2'), port=1", "api_key=***, port=1"),
    ('api_keys={"a": "XsecretX1", "b": "XsecretX2"}, port=1', "api_keys=***, port=1"),
    (r'{"env": "{\"api_key\": \"XsecretX1\", \"port\": 1}"}', r"\"port\": 1"),
    ("vllm serve m --api-key XsecretX1 XsecretX2 --port 1", "--api-key *** --port 1"),
    ("vllm serve m --api-key -XsecretX1 --port 1", "--api-key *** --port 1"),
    ("vllm serve m --api-key XsecretX1 XsecretX2 2>&1 | tee log", "*** 2>&1 | tee log"),
    ("--passphrase 'XsecretX1 with blanks' --port 1", "--passphrase *** --port 1"),
    ('export PASSPHRASE="XsecretX1 with \\"blanks\\" and more"', "PASSPHRASE=***"),
    ("the passphrase is 'XsecretX1 with blanks' there", "the passphrase is *** there"),
    ("GET /x?X-Amz-Credential=XsecretX1&X-Amz-Signature=XsecretX1&a=b HTTP/1.1", "&X-Amz-Signature=***&a=b HTTP/1.1"),
    ("GET /blob?sv=2024&sig=XsecretX1%3D&sp=r", "?sv=2024&sig=***&sp=r"),
    ("https://host/x?token=XsecretX1", "https://host/x?token=***"),
    ("https://host/x?a=1&signature=XsecretX1", "?a=1&signature=***"),
    ("AWS4-HMAC-SHA256 SignedHeaders=host, Signature=" + "0a" * 32, "Signature=***"),
    ("using gsk_XsecretX1XsecretX1", "using ***"),
    ("using AIzaXsecretX1XsecretX1XsecretX1XsecX1", "using ***"),
    ("Incorrect API key: XsecretX1.", "Incorrect API key: ***"),
    ("Cookie: a=XsecretX1; b=XsecretX2", "Cookie: ***"),
    ("set-cookie: sid=XsecretX1; Path=/", "set-cookie: ***"),
    ("curl -H 'Cookie: a=XsecretX1' http://host", "curl -H 'Cookie: ***' http://host"),
    ("{'cookie': 'a=XsecretX1; b=2', 'port': 1}", "{'cookie': ***, 'port': 1}"),
    ("Authorization: XsecretX1", "Authorization: ***"),
    ("Authorization: Custom XsecretX1", "Authorization: ***"),
    ('Authorization: Digest username="me", response="XsecretX1"', "Authorization: ***"),
    ("{'authorization': 'XsecretX1', 'port': 1}", "'port': 1"),
    ("DB_PASS=XsecretX1 MYSQL_PWD=XsecretX1", "DB_PASS=*** MYSQL_PWD=***"),
    ("db_pass: XsecretX1", "db_pass: ***"),
    ("SSHPASS=XsecretX1 ssh host", "SSHPASS=*** ssh host"),
    ("sshpass -p XsecretX1 ssh host", "sshpass -p *** ssh host"),
    ("SECRET_KEY_BASE=XsecretX1", "SECRET_KEY_BASE=***"),
    ("GITHUB_PAT=XsecretX1", "GITHUB_PAT=***"),
    ("login(token=XsecretX1, port=1)", "login(token=***, port=1)"),
    ("login(token='XsecretX1', port=1)", "login(token=***, port=1)"),
    ("the token: XsecretX1 was refused", "the token: *** was refused"),
    ("PRIVATE-TOKEN: XsecretX1", "PRIVATE-TOKEN: ***"),
    ('[{"name":"HF_TOKEN","value":"XsecretX1"},{"name":"A","value":"b"}]', '"value":***},{"name":"A","value":"b"}'),
    ('{"value": "XsecretX1", "name": "API_KEY"}', '{"value": ***, "name": "API_KEY"}'),
    ("curl -su me:XsecretX1 http://host", "curl -su me:*** http://host"),
    ("curl --user 'me:XsecretX1' http://host", "curl --user 'me:***' http://host"),
    ("postgres://me:XsecretX1@a/XsecretX2@host:1/db", "postgres://***@host:1/db"),
    ("redis://me:XsecretX1@a,redis://me:XsecretX2@b", "redis://***@a,redis://***@b"),
    (r"KEY='-----BEGIN PRIVATE KEY-----\nXsecretX1\n-----END PRIVATE KEY-----' x", "-----BEGIN PRIVATE KEY-----***"),
]


@pytest.mark.parametrize(("text", "kept"), KINDS)
def test_a_secret_goes_and_what_is_around_it_stays(text: str, kept: str) -> None:
    assert "Xsecre" not in mask(text)
    assert kept in mask(text)
    assert mask(text.encode()) == mask(text).encode()
    assert mask_lines([text.encode()]) == [mask(text).encode()]
    assert mask(mask(text)) == mask(text)


@pytest.mark.parametrize(
    "text",
    [
        "bos_token='<s>', eos_token_id=2, pad_token=None, num_tokens=12, max_tokens=4096, tokenizer=/m/x",
        "token=12, token=5,120 token=<|im_end|> token='<s>' token=None",
        "time per token: 0.0123456ms, first token: 12.5ms, #token: 51200000, token: 2048",
        "max_num_batched_tokens=8192, mask_token=abcdefgh12, next_token=abcdefgh12",
        "http://127.0.0.1:30000/models/demo@v1 http://[::1]:30000/x@v1",
        "LD_LIBRARY_PATH=/usr/lib PWD=/root OLDPWD=/tmp COMPASS=north forward_pass=3 compile_pass: on",
        "signature=(a, b) signature={'0': '*fp32'} config=12",
        "cookie: 17",
        "curl: (7) Failed to connect to host -u",
        "api_key=[], api_key=[None], api_key=None",
        "KeyError: 'password'",
        "trailing -----BEGIN CERTIFICATE-----",
        "Asia/Tokyo task-force-of-ten risk-averse-people",
    ],
)
def test_an_ordinary_line_stays(text: str) -> None:
    assert mask(text) is text or mask(text) == text


def test_flags_that_take_many_keys_hide_them_all() -> None:
    argv = ["vllm", "serve", "m", "--api-key", "k one", "-k2", "three", "-tp", "8"]
    assert mask_argv(argv) == ("vllm", "serve", "m", "--api-key", "***", "***", "***", "-tp", "8")
    assert mask_argv(["--api-key=a", "b", "--port", "1"]) == ("--api-key=***", "***", "--port", "1")
    assert mask_argv(["--admin-api-key", "a", "b"]) == ("--admin-api-key", "***", "b")


def test_logins_of_other_programs_are_hidden() -> None:
    assert mask_argv(["/usr/bin/curl", "-u", "me:x", "-s"]) == ("/usr/bin/curl", "-u", "***", "-s")
    assert mask_argv(["sshpass", "-p", "x", "ssh", "h"]) == ("sshpass", "-p", "***", "ssh", "h")
    assert mask_argv(["python", "-u", "x.py", "-p", "1"]) == ("python", "-u", "x.py", "-p", "1")


def key_lines(stamp: str = "") -> list[bytes]:
    body = [LONG[:40] + "Ab/+" * 6, LONG[:40] + "Cd/+" * 6, "XsecretX1Q=="]
    lines = ["-----BEGIN OPENSSH PRIVATE KEY-----", *body, "-----END OPENSSH PRIVATE KEY-----", "Loading weights now"]
    return [f"{stamp}{line}".encode() for line in lines]


@pytest.mark.parametrize("stamp", ["", "[2026-01-02 03:04:05 TP0] ", "pod-1 | "])
def test_the_lines_of_a_private_key_are_hidden_however_they_come(stamp: str) -> None:
    lines = key_lines(stamp)
    hidden = [*lines[:1], *[f"{stamp}***".encode()] * 3, *lines[4:]]
    assert mask_lines(lines) == hidden
    masker = LineMasker()
    assert [shown for line in lines for shown in masker.lines([line])] == hidden
    assert mask(b"\n".join(lines)) == b"\n".join(hidden)
    assert mask(b"\n".join(lines).decode()) == b"\n".join(hidden).decode()


def test_another_ranks_line_among_them_stays() -> None:
    lines = key_lines()
    lines.insert(1, b"[TP1] Load weight begin. avail mem=78.1 GB")
    assert mask_lines(lines)[1] == lines[1]
    assert not any(b"Xsecre" in line for line in mask_lines(lines))


def test_an_excerpt_from_the_middle_of_a_key() -> None:
    assert mask_excerpt(key_lines()[1:3]) == [b"***", b"***"]
    plain = [b"/mnt/Data1/" + b"Models" * 10, b"sha256 " + b"0a" * 32, b"Loading weights"]
    assert mask_excerpt(plain) == plain


def test_an_unfinished_line_of_a_key_is_hidden() -> None:
    masker = LineMasker()
    assert masker.peek(b"Loading weights") == b"Loading weights"
    masker.lines(key_lines()[:1])
    assert masker.is_within_key
    assert masker.peek(b"[TP0] Xsecr") == b"[TP0] ***"


def test_a_key_without_an_end_does_not_hide_for_ever() -> None:
    masker = LineMasker()
    masker.lines(key_lines()[:1])
    masker.lines([b"Loading weights"] * 200)
    assert not masker.is_within_key
