"""What must never be kept of a comment, and what a technical comment may say unharmed."""

from __future__ import annotations

import random
import string

import pytest

from app.scrub import scrub

BAR = "¦"
SHA = "3f786850e387550fdab836ed7e6dc881de23001b"
HEX64 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
# Each with the part that must be gone. The bar is left out: it keeps secret scanners from taking samples for leaks.
PRIVATE = [
    # Payment cards: every usual length, grouping and separator.
    ("card 4111111111111111 was declined", "4111111111111111"),
    ("card 4111 1111 1111 1111 was declined", "1111 1111"),
    ("card 4111-1111-1111-1111 was declined", "1111-1111"),
    ("paid with 5555555555554444.", "5555555555554444"),
    ("paid with 5555 5555 5555 4444, twice", "5555 4444"),
    ("Amex 3782 822463 10005 fails the check", "822463"),
    ("Amex 378282246310005 fails the check", "378282246310005"),
    ("Discover: 6011000990139424", "6011000990139424"),
    ("Diners 30569309025904", "30569309025904"),
    ("JCB=3530111333300000", "3530111333300000"),
    ("old Visa 4222222222222", "4222222222222"),
    ("Mastercard 2-series 2223003122003222", "2223003122003222"),
    ("Visa of 19 digits 4000000000000000006", "4000000000000000006"),
    ("UnionPay 6200 0000 0000 0005!", "6200 0000"),
    ("no-break blanks 4242\u00a04242\u00a04242\u00a04242", "4242\u00a04242"),
    # US social security numbers.
    ("the customer's SSN 123-45-6789 is logged", "123-45-6789"),
    ("(078-05-1120)", "078-05-1120"),
    ("ssn: 123 45 6789", "123 45 6789"),
    ("Social Security number 123456789", "123456789"),
    # Keys with a beginning of their own.
    ("key kb¦_live_abcdefabcdef_0123456789 leaks", "0123456789"),
    ("AK¦IAIOSFODNN7EXAMPLE is the id", "IOSFODNN7EXAMPLE"),
    ("use gh¦p_16C7e42F292c6912E7710c838347Ae178B4a", "16C7e42F292c"),
    ("gi¦thub_pat_11ABCDEFG0abcdefghijkl_mnopqrstuv", "11ABCDEFG0"),
    ("gl¦pat-ABCdef123456_xyz789", "ABCdef123456"),
    ("xo¦xb-123456789012-abcdefghijkl", "123456789012"),
    ("sk¦-proj-abc123def456ghi789jkl", "abc123def456"),
    ("sk¦_live_4eC39HqLyjWDarjtT1zdp7dc", "4eC39HqLyjWD"),
    ("sk¦_test_4eC39HqLyjWDarjtT1zdp7dc", "4eC39HqLyjWD"),
    ("wh¦sec_5WbX5kEWLlfzsGNjH64I8lOOqUB6e8FH", "5WbX5kEWLlfz"),
    ("np¦m_aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789", "aBcDeFgH"),
    ("py¦pi-AgEIcHlwaS5vcmcCJDU3ZTk4", "AgEIcHlwaS5"),
    ("AI¦zaSyDaGmWKa4JsXZ-HjGw7ISLn_3namBGewQe", "SyDaGmWKa4"),
    ("hf¦_abcdefGHIJ1234567890klmno", "abcdefGHIJ"),
    ("SG¦.ngeVfQFYQlKU0ufo8x5d1A.TwL2iGABf9DHoTf-09kqeF8tAmbihYzrnopKc-1s5cr", "ngeVfQFYQl"),
    ("ey¦JhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N", "eyJzdWIi"),
    ("--¦---BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\n-----END RSA PRIVATE KEY-----", "MIIEpAIB"),
    ("--¦---BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEA", "b3BlbnNz"),
    # Credentials by what stands before them.
    ("postgres://app:hunter2@db.internal/app", "hunter2"),
    ("redis://:s3cr3tpw@cache:6379/0", "s3cr3tpw"),
    ("https://bob:pa55@git.corp.net/x.git", "pa55"),
    ("Authorization: Basic dXNlcjpwYXNzd29yZDEyMw==", "dXNlcjpw"),
    ("Authorization: Bearer abcDEF123456789ghi", "abcDEF123456"),
    ("password=hunter2", "hunter2"),
    ("PASSWORD = 'correct horse'", "correct"),
    ('{"password": "hunter2!"}', "hunter2"),
    ("DB_PASSWORD=tr0ub4dor", "tr0ub4dor"),
    ("api_key: a8f5f167f44f4964e6c998dee827110c", "a8f5f167"),
    ("client_secret=8Q~abcdEFGH1234", "8Q~abcd"),
    ("AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "wJalrXUt"),
    ("AccountKey=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq==", "Eby8vdM0"),
    ("my password is hunter2", "hunter2"),
    ("the secret wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY works", "wJalrXUt"),
    (f"our token {SHA} still works", SHA),
    (f"signed with {HEX64} by us", HEX64),
    ("session k3j5h2g4x8c7v6b5n4m3q2w1e9r8t7y6 expired", "k3j5h2g4"),
    ("Cookie: session=abcdefgh12345678", "abcdefgh"),
    ("Set-Cookie: sid=abc123def; Path=/; HttpOnly", "abc123"),
    ("session cookie JSESSIONID=8F2A61D0B3C94E7F", "8F2A61D0"),
    ("postgres://u:pa/ss@h", "pa/ss"),
    ("sk¦-proj-abcdefghijklmnopqrstuvwx", "abcdefgh"),
    ("passphrase: correct-horse", "correct-horse"),
    ("accessToken: 'ab12cd34ef'", "ab12cd34"),
    ("curl -u jane:Winter2024! https://x", "Winter2024"),
    ("mysqldump --password Fr1edrich shop", "Fr1edrich"),
    ("sshpass -p hunter2! ssh web", "hunter2"),
    ("Authorization: ApiKey c2VjcmV0OnNlY3JldA==", "c2VjcmV0"),
    ("?sv=2022-11-02&sig=Ab1%2Fcd9Zk3%3D", "Ab1%2F"),
    ("pw: letmein123", "letmein"),
    ("recovery phrase: legal winner thank year wave sausage worth useful legal winner thank yellow", "sausage"),
    ("backup codes 8391-2047 and 5528-9910", "5528"),
    ("AES key 0x2b7e151628aed2a6abf7158809cf4f3c", "2b7e1516"),
    # What stands for ASCII.
    ("ask ann\uff20example.org", "example"),
    ("ask ann\uff20example\uff0eorg", "example"),
    ("card \uff14111 1111 1111 1111", "1111 1111"),
    # Account numbers with their check digits.
    ("to DE89 3704 0044 0532 0130 00 at once", "3704"),
    ("to DE89370400440532013000.", "3704"),
    ("BE68 5390 0754 7034 and so on", "5390"),
    ("gb29-nwbk-6016-1331-9268-19", "nwbk"),
    # People and machines.
    ("/home/jdoe", "jdoe"),
    ("cannot read /home/jdoe.", "jdoe"),
    ("/Users/janedoe", "janedoe"),
    ("C:\\Users\\Jane Doe", "Doe"),
    ("jdoe@build-host:~$ make", "build-host"),
    ("ask ann (at) example (dot) org", "example"),
    ("call me on 0171 2345678", "2345678"),
    ("born 1984-03-12", "1984"),
    ("12 Elm Street, Springfield", "Elm"),
    ("Hauptstra\u00dfe 12", "Haupt"),
    ("passport number C01X00T47", "C01X00T47"),
    ("cvv 837", "837"),
    ("write to ann@example.org", "ann@example.org"),
    ("Ann.Lee+dev@mail.example.co.uk asked", "Ann.Lee"),
    ("jürgen@bücher.de asked", "jürgen"),
    ("call +49 30 901820 today", "901820"),
    ("call +1 (415) 555-2671", "555-2671"),
    ("call (415) 555-2671", "555-2671"),
    ("call 415-555-2671", "555-2671"),
    ("from 203.0.113.7 it times out", "203.0.113.7"),
    ("10.1.2.3:5432 refuses", "10.1.2.3"),
    ("host=198.51.100.23", "198.51.100.23"),
    ("ssh root@203.0.113.9 hangs", "203.0.113.9"),
    ("scp ops@203.0.113.9:/etc/x .", "203.0.113.9"),
    ("ip == 203.0.113.9", "203.0.113.9"),
    ("the version on 203.0.113.9 is old", "203.0.113.9"),
    ("2001:db8:85a3::8a2e:370:7334 is down", "8a2e"),
    ("fe80::1ff:fe23:4567:890a answers", "fe23"),
    ("device 00:1A:2B:3C:4D:5E", "1A:2B"),
    ("the host 10.1.2.3/24 is mine", "10.1.2.3"),
    ("the host 203.0.113.128/25 is in a small network", "203.0.113.128"),
    ("routed to 2001:db8:85a3::/48", "85a3"),
    # Keys that nothing announces, as short as they are taken for one.
    ("we use aB3dE6gH9jK2mN5pQ8rS for it", "aB3dE6gH"),
    ("the key is ab/Ab1Cd2Ef3Gh4Ij5Kl6Mn", "Ab1Cd2"),
    ("session 0123456789abcdefabcdefabcdef0000 expired", "0123456789"),
]
CLEAN = [
    "The linked page moved.",
    "React 18.2.0 behaves differently; see react@18.2.0 and react-dom@^18.2.0.",
    "Fails in version 18.2.0.1.",
    "Fails in v18.2.0.1 only.",
    "Fails in v 18.2.0.1 only.",
    "Versions 4.2.8.1 and 4.2.8.2 differ.",
    "From version 1.2.3.4 to 1.2.4.0 the flag is gone.",
    "Pinned to rails@7.0.8.1 here.",
    "npm i @scope/pkg@1.2.3.4 works.",
    "requirements: grpc==1.60.0.1",
    'requirements: "grpc == 1.60.0.1"',
    "version >= 2.1.0.5 is needed",
    "Chrome 96.0.46.110 shows it, release 5.4.3.2 does not.",
    "Version: 10.0.22.1",
    "Mozilla/5.0 (X11) Chrome/120.0.0.0 Safari/537.36",
    "build 10.0.190.41 and later",
    f"Fixed by commit {SHA}.",
    f"Fixed by {SHA}.",
    f"Since {SHA[:12]} it works.",
    f"https://github.com/Org/Repo/commit/{SHA}",
    f"https://github.com/OrgName/RepoName42/blob/{SHA}/src/Main.java",
    f"git show {SHA}:app/main.py",
    f"sha256:{HEX64}",
    f"image python@sha256:{HEX64} is old",
    f"SHA-256 {HEX64} does not match",
    "integrity sha512-vKQqRkPn6yCz1ZkPb8fvmMnQ5W2yRkb0yXhVb5R9HcQ0nK1iPp6mJb4CqLk2yE3VhYvQ5Zz== is stale",
    "The server listens on 127.0.0.1:8080 and [::1]:8080.",
    "Binding to 0.0.0.0 exposes it.",
    "At 12:30:45 or 2026-11-30T12:30:45Z it stops.",
    "Date range 2024-01-15 to 2024-02-15.",
    "Epoch 1700000000000 ms is 2023-11-14.",
    "20231130123456 is the migration's number.",
    "Number.MAX_SAFE_INTEGER is 9007199254740991.",
    "BIGINT ends at 9223372036854775807.",
    "Order 1234567890123456 has no such check digit.",
    "Ports 443 80 8080 are open.",
    "Error 404-12 and RFC 9110-15 are cited.",
    "uuid 550e8400-e29b-41d4-a716-446655440000 is an example.",
    "UUID 01234567-89AB-CDEF-0123-456789ABCDEF too.",
    "Use std::vector<int>::iterator, not a::b::c.",
    "Basic authentication over HTTP is insecure.",
    "The bearer authentication-scheme is case-insensitive.",
    "Set npm_config_registry_url before installing.",
    "scikit-learn, sk-learn-contrib and pypi-publish-action are names.",
    "Read password = os.environ['DB_PASSWORD'] at start.",
    "token = get_token() must be awaited.",
    "apiKey: process.env.API_KEY is undefined in the browser.",
    "secret = None is the default.",
    "password: required, at least 12 characters",
    "token_budget=2500 is not enough; max_tokens=4096 is.",
    "csrf_token = form.csrf_token is missing.",
    "api_key=${API_KEY} is not expanded.",
    "Hash passwords with argon2id, t=3, m=65536, p=4.",
    "Tokens expire after 3600 seconds; secrets rotate every 90 days.",
    "git clone git@github.com:org/repo.git fails.",
    "icon@2x.png is not picked up.",
    "@app.get('/items/{item_id}') needs a type.",
    "C = A@B.T in numpy.",
    "use-stable-keys-for-dynamic-react-lists is out of date",
    "src/components/UserProfile2/EditDialogV2/StrictModeEffects.test.tsx is wrong",
    "node_modules/@types/react/index.d.ts line 1234",
    "AbstractSingletonProxyFactoryBean2AdvisorAutoProxyCreator is a real class name.",
    "/usr/lib/x86_64-linux-gnu/libcrypto.so.3 is missing",
    "CVE-2024-12345 and GHSA-345p-7cg4-v4c7 apply.",
    "PostgreSQL 15.4, pgvector 0.8.0: `vector(384)` with m = 16, ef_construction = 64.",
    "0x7ffee3b0a9c8 and 0xDEADBEEF are addresses in memory.",
    "color #ff00aa, rgba(255, 0, 170, 0.5)",
    "It costs 1,234,567.89 or 1 000 000 000 000.",
    "lodash 4.17.20 || 4.17.21",
    "Card 4111111111111112 fails its check digit, 4111111111 is too short.",
    "Networks 10.0.0.0/8 and 192.168.1.0/24 are private; the mask is 255.255.255.0.",
    "aB3dE6gH9jK2mN5pQ8r is one character short of a key.",
    "ab3de6gh9jk2mn5pq8rs has no capitals, AbcdefghijKlmnopqrst1 hardly changes, aB1aB1aB1aB1aB1aB1aB is monotonous.",
    "a_key_with-many-words-in-it-and-no-figure, AbCdEfGhIjKlMnOpQrStUvWxYzAbCdEfGh, deadbeefdeadbeefdeadbeefdeadbeef",
    "k3-j5_h2-g4_x8-c7_v6-b5_n4-m3_q2-w1-r9_t0 has separators and no capitals.",
    "some-long-name-in-kebab-case-with-1-figure, abcdefghijklmnopqrstuvwxyzabcdef12",
    "docker run -u 1000:1000, -u node:node and curl -u $USER:$TOKEN or --user name:password",
    "http://localhost:3000/@vite/client and https://registry.npmjs.org:443/@types/node load.",
    "Set-Cookie: id=1; SameSite=Strict; Path=/; Max-Age=3600",
    "cookie: {session} is empty; Cookie: session=<value>",
    "The /home/dashboard route and `GET /home/orders` are pages; so is example.org/home/about.",
    "Put it into /Users/file.txt or C:\\Users\\YourName",
    "pass: 3, fail: 2; pass: test_login2; pw = pw[:-1]",
    "self._token = token, startToken = endToken, token = refresh_token, passwd='', acct=''",
    "--token is required, --password prompts, --password-file /run/x1",
    "The passphrase: the user types it.",
    "The recovery phrase: the words that the app shows you when you are about to begin",
    "The IBAN GB82 WEST 1234 5698 7654 33 has a wrong check digit; py39 with some more text here",
    "GB82 means nothing; AB12 CDEF GHIJ KLMN OPQR is no account",
    "Numbers 00 01 02 03 04 05, call 0x7ffe, call foo(0, 12345)",
    "\uff08\u6ce8\uff09\uff1a full width punctuation, ligature \ufb01, x\u00b2 and \u2122 stay",
    "bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi names content",
    "2 Open Source libraries, passport 0.7.0, MIT licence 2024",
    "日本語のコメントと emoji 🙂 stay.\n\tSo do line ends and tabs.",
]


def test_the_tables_are_large_enough() -> None:
    """A share of few samples says little."""
    assert min(len(PRIVATE), len(CLEAN)) >= 60


@pytest.mark.parametrize(("comment", "private"), PRIVATE)
def test_what_is_private_is_taken_out(comment: str, private: str) -> None:
    """Credentials and personal data are replaced by what kind of thing they were."""
    scrubbed = scrub(comment.replace(BAR, ""))
    assert private not in scrubbed.text
    assert "[redacted:" in scrubbed.text
    assert sum(scrubbed.redactions.values()) >= 1


@pytest.mark.parametrize("comment", CLEAN)
def test_a_technical_comment_stays_as_it_is(comment: str) -> None:
    """Versions, commits, digests, names and code are what feedback is about."""
    assert scrub(comment).text == comment


@pytest.mark.parametrize(
    "alphabet", [string.ascii_letters + string.digits + "+/", string.ascii_letters + string.digits]
)
def test_random_keys_of_no_known_form_are_nearly_all_taken_out(alphabet: str) -> None:
    """Of base64 and base62 keys with 40 characters at most one in fifty slips through."""
    draw = random.Random(7)  # noqa: S311 - reproducible samples
    keys = ["".join(draw.choices(alphabet, k=40)) for _ in range(1000)]
    assert sum(key in scrub(f"we use {key} for it").text for key in keys) <= 20


def test_what_is_taken_out_is_said_by_its_kind_and_counted() -> None:
    """An owner sees what people send that they should not, and none of it."""
    scrubbed = scrub(
        "ann@example.org, bob@example.org at 203.0.113.7 paid with 4111111111111111 and "
        "aB3dE6gH9jK2mN5pQ8rS, password=hunter2"
    )
    assert scrubbed.text == (
        "[redacted:email], [redacted:email] at [redacted:address] paid with [redacted:card] and "
        "[redacted:secret], [redacted:password]"
    )
    assert scrubbed.redactions == {"email": 2, "address": 1, "card": 1, "secret": 1, "password": 1}


def test_nothing_is_counted_where_nothing_is_taken_out() -> None:
    """A zero would make a comment look as if something had been found in it."""
    assert scrub("The linked page moved.").redactions == {}


def test_invisible_characters_are_taken_out_and_counted() -> None:
    """They could carry what nobody reads."""
    scrubbed = scrub("ze\u200bro\u202e \x00width")
    assert scrubbed.text == "zero width"
    assert scrubbed.redactions == {"invisible": 3}
