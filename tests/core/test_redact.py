from __future__ import annotations

import pytest

from bringup.core.redact import mask, mask_argv, mask_lines

SECRETS = [
    "--api-key X1secret",
    "--api-key=X1secret --port 30000",
    "python -m s --admin-api-key X1secret --tp 8",
    "--hf-token X1secret",
    "--token X1secret",
    "ServerArgs(api_key='X1secret', port=1)",
    'ServerArgs(api_key="X1secret", port=1)',
    "{'api_key': 'X1secret', 'port': 1}",
    '{"admin_api_key": "X1secret"}',
    "ssl_keyfile_password='X1secret'",
    "'token': 'X1secret'",
    "HF_TOKEN=X1secret",
    "export HUGGING_FACE_HUB_TOKEN=X1secret",
    "OPENAI_API_KEY=X1secret",
    "AWS_SECRET_ACCESS_KEY=X1secret",
    "MY_PASSWORD=X1secret",
    "accessToken: X1secret",
    "auth-token=X1secret",
    "X-Auth-Token: X1secret",
    "login -token X1secret",
    "Api-Key=X1secret aPi_kEy=X1secret",
    "password: X1secret",
    "Authorization: Bearer X1secret",
    "authorization: Basic X1secret",
    "'Authorization': 'Bearer X1secret'",
    "curl -H 'X-Api-Key: X1secret'",
    "https://user:X1secret@host/path",
    "http://X1secret@host/path",
    "downloading with hf_X1secretX1secret",
    "key sk-X1secret-demo",
    "ghp_X1secretX1secretX1secret",
    "eyJX1secretAA.eyJX1secretAA.X1secret",
]


@pytest.mark.parametrize("text", SECRETS)
def test_secrets_are_masked_in_text_and_in_bytes(text: str) -> None:
    assert "X1secret" not in mask(text)
    assert "***" in mask(text)
    assert mask(text.encode()) == mask(text).encode()


@pytest.mark.parametrize(
    "text",
    [
        "Decode batch, #running-req: 4, #token: 5120, token usage: 0.00, #cached-token: 12",
        "max_total_num_tokens=2402201, chunked_prefill_size=8192",
        "DFLASH draft runner ready. mask_token=<|MASK|>, mask_token_id=12",
        "ServerArgs(tokenizer_path='/models/m', api_key=None, admin_api_key=None, skip_tokenizer_init=False)",
        "{'api_key': None, 'ssl_keyfile_password': None}",
        "--max-total-tokens 4096 --tokenizer-mode auto --tokenizer-path /m",
        "Uvicorn running on http://0.0.0.0:30000 (Press CTRL+C to quit)",
        "KeyError: 'demo_moe'",
        "missing keys: ['lm_head.weight']",
        "--api-key --port 30000",
        "task-force",
        "Prefill batch. #new-seq: 1, #new-token: 7, #cached-token: 0, gen throughput (token/s): 9, Tokenizer: slow",
    ],
)
def test_what_is_no_secret_stays_as_it_is(text: str) -> None:
    assert mask(text) is text


def test_what_is_around_a_secret_stays() -> None:
    assert mask("{'api_key': 'abc', 'port': 30000}") == "{'api_key': ***, 'port': 30000}"
    assert mask("--api-key abc --port 30000") == "--api-key *** --port 30000"
    assert mask("https://me:abc@host/x") == "https://***@host/x"


def test_argv_is_masked_argument_by_argument() -> None:
    argv = ["python", "-m", "sglang.launch_server", "--api-key", "a b", "--admin-api-key=xyz", "--port", "30000"]
    assert mask_argv(argv) == (*argv[:4], "***", "--admin-api-key=***", "--port", "30000")
    assert mask_argv(["--token", "--port", "1"]) == ("--token", "--port", "1")


def test_lines_are_masked_only_where_it_is_needed() -> None:
    lines = [b"plain", b"HF_TOKEN=abcdef"]
    assert mask_lines(lines) == [b"plain", b"HF_TOKEN=***"]
    assert mask_lines(lines[:1]) == [b"plain"]
