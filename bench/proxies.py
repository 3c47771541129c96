"""Runs the recipes of docs/how-to/put-behind-a-proxy.md: `python -m bench.proxies [--caddy PROGRAM] [--nginx PROGRAM]`.

Each recipe, as it stands in the page but for ports and certificates, before `dolmen serve`, with a certificate of a
private authority. Through it: metadata, a sign-in by the `mcp` Python client and a real browser, `dolmen login`'s way,
a large body, a stream that must come in parts, and limits that a forged header does not escape.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
from playwright.sync_api import Page, sync_playwright

from dolmen.client.signin import asking, finding
from dolmen.interfaces.http.options import HttpOptions
from dolmen.services import people
from dolmen.services.accounts import keys
from tests.interfaces.conftest import Served, serving
from tests.web.hosted import Hosted, allow

PAGE = Path(__file__).resolve().parents[1] / "docs" / "how-to" / "put-behind-a-proxy.md"
_RECIPE = re.compile(r"^```(caddy|nginx) (root|path)\n(.*?)^```$", re.M | re.S)
BASES = {"root": "https://memory.example.com", "path": "https://example.com/memory"}
NAMES = ("memory.example.com", "example.com")
PASSWORD = "four words without sense"
PARTS, PAUSE = 5, 0.2
"""Of the stream, and seconds between them."""


@dataclass(frozen=True, slots=True)
class Through:
    """One recipe that runs."""

    base: str
    served: Served
    tls: ssl.SSLContext
    page: Page

    def http(self) -> httpx2.Client:
        return httpx2.Client(verify=self.tls, timeout=20)


# --------------------------------------------------------------------------------------------------------- what is seen
def metadata(through: Through) -> str:
    with through.http() as http:
        refused = http.post(f"{through.base}/mcp", json={})
        address = re.findall(r'resource_metadata="([^"]+)"', refused.headers["www-authenticate"])[0]
        parts = urlsplit(through.base)
        origin, path = f"{parts.scheme}://{parts.netloc}", parts.path
        found = [http.get(address), http.get(f"{origin}/.well-known/oauth-protected-resource{path}/mcp")]
        found += [http.get(f"{origin}/.well-known/{name}{path}") for name in _SERVERS]
        assert all(each.status_code == 200 for each in found), [each.status_code for each in found]
        assert found[0].json() == found[1].json()
        assert found[0].json()["resource"] == f"{through.base}/mcp"
        assert found[2].json()["issuer"] == found[3].json()["issuer"] == through.base
    return "found where the RFCs say"


_SERVERS = ("oauth-authorization-server", "openid-configuration")


def sign_in(through: Through) -> str:
    """A person from the first link on, and a client that returns to a host of its own."""
    page, owner = through.page, through.served.owner()
    page.goto(f"{through.base}/enter/{people.entry_link(through.served.rt, owner, owner.person)}")
    page.get_by_label("Login").fill("ada")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("heading", name="You are signed in").wait_for()
    with Hosted(f"{through.base}/mcp", "https://claude.ai/api/mcp/auth_callback", tls=through.tls) as client:
        location, asked, complaints = allow(page, client.address())
        assert location in asked, complaints
        tools = client.returned(location)
    return f"signed in, {len(tools)} tools"


def device(through: Through) -> str:
    """What `dolmen login` does, and the person with the code that it shows."""

    def decide(prompt: asking.Prompt) -> None:
        page = through.page
        page.goto(prompt.complete)
        page.get_by_role("button", name="It shows the same code").click()
        page.get_by_role("button", name="Allow").click()
        page.get_by_role("heading", name="The device is let in").wait_for()

    new = asking.sign_in(finding.find(through.base), decide, wait=lambda _: None)
    assert asking.sign_out(new.url)
    return "let in and signed out"


def large(through: Through) -> str:
    bearer = {
        "authorization": f"Bearer {through.served.key('codex')}",
        "accept": "application/json, text/event-stream",
        "content-type": "application/json",
    }
    with through.http() as http:
        said = [http.post(f"{through.base}/mcp", content=b" " * size, headers=bearer) for size in (3 << 20, 4_500_000)]
    assert said[0].status_code not in (413, 502), said[0].text
    assert said[1].status_code in (413, 502), said[1].text  # 502: the proxy was still sending when it was refused
    whose = "in Dolmen's words" if "DOLMEN_BODY_LIMIT" in said[1].text else f"with {said[1].status_code}"
    return f"3 MiB taken, 4.5 MB refused {whose}"


def forged(through: Through) -> str:
    wish = {"redirect_uris": ["https://claude.ai/cb"]}
    with through.http() as http:
        codes = [
            http.post(f"{through.base}/oauth/register", json=wish, headers={"X-Forwarded-For": f"203.0.113.{n}"})
            for n in range(14)
        ]
    assert [each.status_code for each in codes].count(429) >= 4
    return "counted as one"


def streamed(base: str, tls: ssl.SSLContext) -> str:
    came: list[float] = []
    with httpx2.Client(verify=tls, timeout=20) as http, http.stream("GET", f"{base}/stream") as answer:
        came += [time.monotonic() for _ in answer.iter_raw()]
    spread = came[-1] - came[0]
    assert spread > PAUSE * (PARTS - 2), spread
    return f"{len(came)} parts over {spread:.1f} s"


LOOKS: dict[str, Callable[[Through], str]] = {
    "metadata": metadata, "sign-in": sign_in, "device": device, "large bodies": large, "forged addresses": forged,
}  # fmt: skip


# ---------------------------------------------------------------------------------------------------------- the proxies
def caddy(program: str, recipe: str, place: Path, port: int) -> list[str]:
    """The command that runs a recipe; its files are written."""
    certificate = f"tls {place}/cert.pem {place}/key.pem"
    site = re.sub(r"^(\S+) \{\n", rf"\1:{port} {{\n    {certificate}\n", recipe, count=1)
    (place / "Caddyfile").write_text("{\n    admin off\n    auto_https disable_redirects\n}\n" + site)
    return [program, "run", "--config", str(place / "Caddyfile"), "--adapter", "caddyfile"]


def nginx(program: str, recipe: str, place: Path, port: int) -> list[str]:
    site = recipe.replace("listen 443 ssl", f"listen 127.0.0.1:{port} ssl")
    site = re.sub(r"ssl_certificate( +)\S+;", rf"ssl_certificate\1{place}/cert.pem;", site)
    site = re.sub(r"ssl_certificate_key \S+;", f"ssl_certificate_key {place}/key.pem;", site)
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    temporary = "".join(f"{kind}_temp_path {place}/{kind};\n" for kind in kinds)
    (place / "nginx.conf").write_text(
        f"user root;\ndaemon off;\npid {place}/nginx.pid;\nerror_log {place}/error.log;\nevents {{}}\n"
        f"http {{\naccess_log off;\n{temporary}{site}}}\n"
    )
    return [program, "-e", f"{place}/error.log", "-c", str(place / "nginx.conf"), "-p", str(place)]


PROXIES = {"caddy": caddy, "nginx": nginx}


@contextmanager
def running(kind: str, program: str, recipe: str, upstream: int, port: int, files: Path) -> Iterator[None]:
    recipe = recipe.replace("127.0.0.1:7077", f"127.0.0.1:{upstream}")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        place = Path(folder)
        for name in ("cert.pem", "key.pem"):
            shutil.copy(files / name, place / name)
        command = PROXIES[kind](program, recipe, place, port)
        homes = {"HOME": folder, "XDG_DATA_HOME": folder, "XDG_CONFIG_HOME": folder}
        with (
            (place / "log").open("wb") as log,
            subprocess.Popen(command, stdout=log, stderr=log, env={**os.environ, **homes}) as process,
        ):
            try:
                _listening(port, process, place)
                yield
            finally:
                process.terminate()


def _listening(port: int, process: subprocess.Popen[bytes], place: Path) -> None:
    for _ in range(200):
        with socket.socket() as probe:
            if process.poll() is None and probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise SystemExit(f"The proxy does not start:\n{(place / 'log').read_text()}")


@contextmanager
def streaming() -> Iterator[int]:
    """A server whose answer comes in parts; its port."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("connection", "close")
            self.end_headers()
            for n in range(PARTS):
                self.wfile.write(f"data: {n}\n\n".encode())
                self.wfile.flush()
                time.sleep(PAUSE)

        def log_message(self, *_: object) -> None:
            """Nothing on the terminal."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    yield server.server_port
    server.shutdown()
    thread.join()
    server.server_close()


# --------------------------------------------------------------------------------------------------------- surroundings
def certificates(place: Path) -> ssl.SSLContext:
    """A certificate for the names of the page in `place`, and what believes it."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Dolmen bench")])
    now = datetime.now(UTC)
    names = x509.SubjectAlternativeName([x509.DNSName(each) for each in NAMES])
    made = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
        .serial_number(x509.random_serial_number()).not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=2)).add_extension(names, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True).sign(key, hashes.SHA256())
    )  # fmt: skip
    pem = serialization.Encoding.PEM
    (place / "cert.pem").write_bytes(made.public_bytes(pem))
    private = serialization.PrivateFormat.PKCS8
    (place / "key.pem").write_bytes(key.private_bytes(pem, private, serialization.NoEncryption()))
    return ssl.create_default_context(cafile=str(place / "cert.pem"))


def at_home() -> None:
    """The names of the page are this machine's, for this process."""
    real = socket.getaddrinfo

    def resolve(host: object, *rest: object, **more: object) -> object:
        named = host.decode() if isinstance(host, bytes) else host
        return real("127.0.0.1" if named in NAMES else host, *rest, **more)  # type: ignore[arg-type]

    socket.getaddrinfo = resolve  # type: ignore[assignment]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def judged(kind: str, program: str, variant: str, recipe: str, files: Path, tls: ssl.SSLContext) -> dict[str, str]:
    """What was seen through one recipe; the first failure ends the run."""
    port = free_port()
    parts = urlsplit(BASES[variant])
    base = f"{parts.scheme}://{parts.netloc}:{port}{parts.path}"
    seen: dict[str, str] = {}
    with ExitStack() as stack:
        store = Path(stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True))) / "dolmen.db"
        options = HttpOptions(public_url=base, trusted_proxies=("127.0.0.1",))
        served = stack.enter_context(serving(f"sqlite:///{store}", options, embedder="none"))
        upstream = urlsplit(served.base).port or 0
        stack.enter_context(running(kind, program, recipe, upstream, port, files))
        playwright = stack.enter_context(sync_playwright())
        rules = ", ".join(f"MAP {name} 127.0.0.1" for name in NAMES)
        flags = ["--no-sandbox", "--disable-gpu", f"--host-resolver-rules={rules}"]
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=flags)
        page = browser.new_context(ignore_https_errors=True, java_script_enabled=False).new_page()
        page.set_default_timeout(10_000)
        through = Through(base, served, tls, page)
        for name, look in LOOKS.items():
            seen[name] = look(through)
        assert len(keys(served.rt, served.owner())) >= 2
        browser.close()
    with streaming() as upstream, running(kind, program, recipe, upstream, port, files):
        seen["streams"] = streamed(base, tls)
    return seen


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    for kind in PROXIES:
        arguments.add_argument(f"--{kind}", default=shutil.which(kind))
    programs = vars(arguments.parse_args())
    os.environ["XDG_CONFIG_HOME"] = tempfile.mkdtemp()
    at_home()
    print("| proxy | version | recipe | " + " | ".join([*LOOKS, "streams"]) + " |")
    print("|---" * (len(LOOKS) + 4) + "|")
    with tempfile.TemporaryDirectory() as folder:
        tls = certificates(Path(folder))
        os.environ["SSL_CERT_FILE"] = f"{folder}/cert.pem"
        for kind, variant, recipe in _RECIPE.findall(PAGE.read_text(encoding="utf-8")):
            if programs[kind] is None:
                print(f"{kind} is not installed", file=sys.stderr)
                continue
            seen = judged(kind, programs[kind], variant, recipe, Path(folder), tls)
            version = _version(kind, programs[kind])
            print(f"| {kind} | {version} | {variant} | " + " | ".join(seen.values()) + " |", flush=True)
    return 0


def _version(kind: str, program: str) -> str:
    said = subprocess.run([program, "version" if kind == "caddy" else "-v"], capture_output=True, text=True, check=True)
    found = re.search(r"\d+\.\d+\.\d+", said.stdout + said.stderr)
    return found[0] if found else "?"


if __name__ == "__main__":
    sys.exit(main())
