"""Made-up secrets of every shape that the recorder must remove, and the texts around them.

`secret_shapes()` yields (label, secret, contexts). A context is a function from the secret to a text, and the label of
where such a text may stand: `argv` (a list of words), `env` (a variable and its value), `output` (bytes of a program).
Nothing here is a real credential: all are built from a seeded generator.
"""

from __future__ import annotations

import base64
import json
import random
import string
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from urllib.parse import quote

LETTERS, ALNUM = string.ascii_letters, string.ascii_letters + string.digits
UPPER, HEX, URLSAFE = string.ascii_uppercase + string.digits, "0123456789abcdef", ALNUM + "_-"


@dataclass(frozen=True)
class Contexts:
    """Where a secret stands. Each function makes the words, the variable or the text around it."""

    argv: tuple[Callable[[str], list[str]], ...] = ()
    env: tuple[str, ...] = ()
    output: tuple[Callable[[str], str], ...] = ()


# A token of a known format is recognised wherever it stands.
ANYWHERE = Contexts(
    argv=(lambda s: [s], lambda s: ["--value", s], lambda s: [f"--x={s}"], lambda s: ["sh", "-c", f"fetch {s} now"]),
    env=("PLAIN_VARIABLE",),
    output=(
        lambda s: s,
        lambda s: f"using {s} for login",
        lambda s: json.dumps({"a": [s], "b": 1}),
        lambda s: json.dumps(json.dumps({"a": s})),
        lambda s: f"a: {s}\nb: 2",
        lambda s: f"https://host/path?x={s}&y=1",
        lambda s: f"x%3D{s}%26y%3D1",
        lambda s: f"\x1b[32m{s}\x1b[0m",
        lambda s: f"line\\n{s}\\n",
        lambda s: f"['{s}', 'b']",
        lambda s: f"({s})",
        lambda s: f"<a>{s}</a>",
    ),
)
NAMED_OUTPUT = (
    lambda s: f"API_KEY={s}",
    lambda s: f"export API_KEY='{s}'",
    lambda s: f"api_key: {s}",
    lambda s: f'{{"api_key": "{s}", "n": 1}}',
    lambda s: f"{{'apiKey': '{s}'}}",
    lambda s: json.dumps(json.dumps({"client_secret": s})),
    lambda s: f"https://host/?access_token={s}&page=2",
    lambda s: f"access_token%3D{quote(s, safe='')}%26page%3D2",
    lambda s: f"Authorization: Bearer {s}",
    lambda s: f"curl -H 'Authorization: Bearer {s}' https://host",
    lambda s: f'-H "X-Api-Key: {s}"',
    lambda s: f"Cookie: session={s}; theme=dark",
    lambda s: f"<apiKey>{s}</apiKey>",
    lambda s: f"  password : {s}",
    lambda s: f"DB_PASSWORD => {s}",
    lambda s: f"os.environ['HF_TOKEN'] = '{s}'",
    lambda s: f"client = Client(token='{s}', n=2)",
    lambda s: f"+ tool --api-key {s} --n 2",
    lambda s: f"['tool', '--auth-token', '{s}']",
    lambda s: f"\x1b[1mtoken\x1b[0m: \x1b[32m{s}\x1b[0m",
    lambda s: f"the password is: {s}",
    lambda s: f"--db-pass {s} --n 2",
    lambda s: json.dumps({"api_keys": ["first-key", s, "last-key"], "n": 1}),
    lambda s: json.dumps(json.dumps({"passwords": [s]})),
)
OPTIONS = (
    "--api-key", "--token", "--password", "--access-key", "--secret-key", "--aws-access-key-id", "--apikey",
    "--aws-secret-access-key", "--hf-token", "--auth-token", "--client-secret", "--passphrase", "--db-pass",
)  # fmt: skip
# A value without a format of its own is recognised by the name beside it.
NAMED = Contexts(
    argv=(
        *(make for option in OPTIONS for make in (lambda s, o=option: [o, s], lambda s, o=option: [f"{o}={s}"])),
        lambda s: ["env", f"API_KEY={s}", "true"],
        lambda s: ["-H", f"Authorization: Bearer {s}"],
        lambda s: ["Authorization:", "Bearer", s],
        lambda s: ["sh", "-c", f"API_KEY='{s}' true"],
        lambda s: ["docker", "run", "-e", f"DB_PASSWORD={s}", "image"],
    ),
    env=("API_KEY", "HF_TOKEN", "WANDB_API_KEY", "DB_PASSWORD", "AWS_SECRET_ACCESS_KEY", "clientSecret", "PGPASSWORD",
         "SMTP_PASS", "dbPass", "SSHPASS"),
    output=NAMED_OUTPUT,
)  # fmt: skip
HEX_OUTPUT = (lambda s: f"key {s}", lambda s: f"your token is {s}", lambda s: f"secret: {s}", lambda s: f"key={s}")
PROGRAMS: tuple[tuple[str, Callable[[str], list[str]]], ...] = (
    ("mysql", lambda s: ["mysql", "-u", "root", f"-p{s}", "db"]),
    ("sshpass", lambda s: ["sshpass", "-p", s, "ssh", "-p", "22", "host"]),
    ("docker login", lambda s: ["docker", "login", "-u", "me", "-p", s, "registry"]),
    ("curl", lambda s: ["curl", "-u", f"user:{s}", "https://host"]),
    ("redis-cli", lambda s: ["redis-cli", "-a", s, "ping"]),
    ("7z", lambda s: ["7z", "x", f"-p{s}", "a.7z"]),
    ("unzip", lambda s: ["unzip", "-P", s, "a.zip"]),
    ("openssl", lambda s: ["openssl", "enc", "-pass", f"pass:{s}"]),
    ("mongo", lambda s: ["mongosh", "-u", "me", "-p", s]),
    ("ldapsearch", lambda s: ["ldapsearch", "-w", s]),
    ("wandb login", lambda s: ["wandb", "login", s]),
    ("git URL", lambda s: ["git", "clone", f"https://me:{s}@host/a.git"]),
)


def _tokens(pick: Callable[[str, int], str]) -> Iterator[tuple[str, str]]:
    """Label and token of each known format."""
    yield "hugging face", "hf_" + pick(LETTERS, 34)
    for kind in "pousr":
        yield f"github gh{kind}", f"gh{kind}_" + pick(ALNUM, 36)
    yield "github fine-grained", "github_pat_" + pick(ALNUM, 22) + "_" + pick(ALNUM, 59)
    for prefix in ("glpat-", "gldt-", "glrt-", "glptt-"):
        yield f"gitlab {prefix}", prefix + pick(URLSAFE, 20)
    for kind in "abprs":
        yield (
            f"slack xox{kind}",
            f"xox{kind}-" + "-".join(pick(string.digits, 12) for _ in range(2)) + "-" + pick(ALNUM, 24),
        )
    yield "slack webhook", "hooks.slack.com/services/T" + pick(UPPER, 8) + "/B" + pick(UPPER, 8) + "/" + pick(ALNUM, 24)
    yield "discord webhook", f"discord.com/api/webhooks/{pick(string.digits, 18)}/" + pick(URLSAFE, 68)
    for prefix in ("AKIA", "ASIA"):
        yield f"aws {prefix}", prefix + pick("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16)
    yield "openai", "sk-" + pick(ALNUM, 48)
    yield "openai project", "sk-proj-" + pick(URLSAFE, 80)
    yield "anthropic", "sk-ant-api03-" + pick(URLSAFE, 93) + "AA"
    yield "google api", "AIza" + pick(URLSAFE, 35)
    yield "google oauth", "ya29." + pick(URLSAFE, 60)
    yield "npm", "npm_" + pick(ALNUM, 36)
    yield "pypi", "pypi-AgEIcHlwaS5vcmc" + pick(URLSAFE, 80)
    yield "docker", "dckr_pat_" + pick(URLSAFE, 27)
    yield "wandb", "wandb_v1_" + pick(ALNUM, 40)
    yield "replicate", "r8_" + pick(ALNUM, 37)
    yield "groq", "gsk_" + pick(ALNUM, 52)
    yield "nvidia", "nvapi-" + pick(URLSAFE, 64)
    yield "databricks", "dapi" + pick(HEX, 32)
    yield "sendgrid", "SG." + pick(URLSAFE, 22) + "." + pick(URLSAFE, 43)
    yield "stripe", "sk_live_" + pick(ALNUM, 24)
    yield "vault", "hvs." + pick(URLSAFE, 90)
    yield "telegram", pick("123456789", 9) + ":AA" + pick(URLSAFE, 33)
    header = base64.urlsafe_b64encode(b'{"alg":"HS256","typ":"JWT"}').decode().rstrip("=")
    body = base64.urlsafe_b64encode(json.dumps({"sub": pick(ALNUM, 12)}).encode()).decode().rstrip("=")
    yield "json web token", f"{header}.{body}.{pick(URLSAFE, 43)}"


def secret_shapes(seed: int = 1) -> Iterator[tuple[str, str, Contexts]]:
    """Label, secret, and the contexts in which it must be removed: more than 100 shapes."""
    chance = random.Random(seed)

    def pick(alphabet: str, length: int) -> str:
        # Both kinds of characters, so that a value is random and no word.
        return "".join(chance.choice(alphabet) for _ in range(length))

    for label, token in _tokens(pick):
        yield label, token, ANYWHERE
    values = {
        "hex 32": pick(HEX, 32),
        "hex 40": pick(HEX, 40),
        "hex 64": pick(HEX, 64),
        "alnum 20": pick(ALNUM, 18) + "7x",
        "base64": base64.b64encode(chance.randbytes(30)).decode(),
        "uuid": f"{pick(HEX, 8)}-{pick(HEX, 4)}-4{pick(HEX, 11)}",
        "short": pick(LETTERS, 6) + "9z",
        "word": "correct" + pick(string.ascii_lowercase, 8),
        "symbols": "p@ss/w0rd+" + pick(ALNUM, 6),
    }
    for label, value in values.items():
        for number, make in enumerate(NAMED.argv):
            if label in {"hex 40", "base64", "word"} or number % 5 == 0:
                yield f"argument {number}, {label}", value, Contexts(argv=(make,))
        yield f"variables, {label}", value, Contexts(env=NAMED.env)
        texts = NAMED.output if label not in {"symbols", "base64"} else NAMED.output[:6]
        yield f"output, {label}", value, Contexts(output=texts)
        if label.startswith("hex"):
            yield f"beside a name, {label}", value, Contexts(output=HEX_OUTPUT)
    for label, words in PROGRAMS:
        value = pick(ALNUM, 10) + "4k"
        line = (lambda s, make=words: " ".join(make(s)), lambda s, make=words: f"Command '{make(s)}' returned 1")
        yield f"program {label}", value, Contexts(argv=(words,), output=line)
    # The value has characters of a URL or of a path, so that it is not recognised as random.
    signature = base64.b64encode(chance.randbytes(30) + b"\xff\xff").decode()
    for label, value in (("plain", signature), ("escaped", quote(signature, safe=""))):
        url = (lambda s: f"https://a.blob.host/c?sv=2022&sig={s}&se=1", lambda s: f"GET '/c?sig={s}' 200")
        yield f"azure signature, {label}", value, Contexts(argv=(lambda s, u=url[0]: [u(s)],), output=url)
    key = "\n".join(base64.b64encode(chance.randbytes(48)).decode() for _ in range(12))
    for kind in ("RSA PRIVATE KEY", "PRIVATE KEY", "OPENSSH PRIVATE KEY", "EC PRIVATE KEY"):
        block = f"-----BEGIN {kind}-----\n{key}\n-----END {kind}-----"
        yield (
            f"{kind.lower()} block",
            key,
            Contexts(output=(lambda s, whole=block: whole, lambda s, whole=block: json.dumps(whole))),
        )


# Texts that look like secrets to a careless search, and must stay as they are.
HARMLESS = (
    "commit 9fceb02d0ae598e95dc970b74767f19372d61af8\nAuthor: A B <a@b.example>\nDate: Mon\n\n    Fix token embedding",
    "9fceb02 Add key frames\n1f7ec5e Merge branch 'tokenizer'",
    "sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae  model.safetensors",
    "2c26b46b68ffc68ff99b453c1d304134  ./weights/tokenizer.json",
    "crc32 deadbeef, adler 0x11e60398, md5 d41d8cd98f00b204e9800998ecf8427e",
    "torch 2.12.0+rocm7.2.git7a9f1c3 triton 3.5.0+gitb3a5c1d2 hip 7.2.26015-fc0010cf6",
    "step 100 loss 0.1234 tokens/s 51234 tokens: 8192 max_tokens=512 num_tokens: 77",
    "missing key: model.layers.0.self_attn.q_proj.weight unexpected key: lm_head.weight",
    "pad_token: <pad> eos_token_id=2 bos_token: <s> vocab size 32000",
    "/home/me/.cache/huggingface/hub/models--a--b/snapshots/9fceb02d0ae598e95dc970b74767f19372d61af8/model.bin",
    "_ZN7rocprim6detail17trampoline_kernelINS0_14default_configENS1_22reduce_config_selectorIfEE",
    "Cijk_Ailk_Bljk_HHS_BH_MT128x128x32_MI32x32x8x1_SN_1LDSB0_APM1_ABV0_ACED0_AF0EM8_AF1EM1",
    "GPU-ab00000000000001 0000:03:00.0 gfx942:sramecc+:xnack- uuid 123e4567-e89b-42d3-a456-426614174000",
    "ssh -p 2222 host; python -p train.py; mkdir -p out/a; tar -p",
    "https://github.com/owner/repo@9fceb02d0ae598e95dc970b74767f19372d61af8#egg=x git@github.com:owner/repo.git",
    "tokenizer: LlamaTokenizer, keyframes: 30, author: someone, passed: 12, keypoints: 17, turkey: 3",
    "triton cache key: 9fceb02d0ae598e95dc970b74767f19372d61af8, cache_key=2c26b46b68ffc68ff99b453c1d304134",
    "forward_pass: 3.2ms two_pass=fused render_pass: shadow_map_gfx942 bypass: cache0123456789ab pass_rate: 0.98765",
    "tokens: ['hello', 'world'] special_tokens: ['<pad>', '<s>']",
    "password is required; token expired; no api key found; usage: tool [--token TOKEN] [--api-key API_KEY]",
)
