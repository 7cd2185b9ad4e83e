"""The packages that carry the suites, at pinned versions: fetched by the registries' own clients into the cache folder
outside the checkout, verified by hash."""

import hashlib
import os
import pathlib
import subprocess
import sys
import tarfile
from typing import NamedTuple

CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "ccsurvey" / "suites"
# Build back ends of older source packages still import what newer setuptools no longer has.
CONSTRAINTS = "setuptools<80\n"


class Package(NamedTuple):
    """A source package, and the file that holds it."""

    registry: str
    name: str
    version: str
    file: str
    sha256: str

    def __str__(self):
        return f"{self.registry} {self.name} {self.version}"

    def fetched(self):
        """The path of the verified archive."""
        path = CACHE / self.file
        if not path.is_file():
            CACHE.mkdir(parents=True, exist_ok=True)
            {"crate": fetch_crate, "PyPI": fetch_sdist}[self.registry](self)
        found = hashlib.sha256(path.read_bytes()).hexdigest()
        if found != self.sha256:
            path.unlink()
            sys.exit(f"{self}: {self.file} has sha256 {found}, expected {self.sha256}; it was removed")
        return path

    def texts(self, inside):
        """The files below a folder of the package, by their path there, in order."""
        top = f"{self.name.replace('-', '_') if self.registry == 'PyPI' else self.name}-{self.version}/{inside}"
        found = {}
        with tarfile.open(self.fetched()) as archive:
            for member in archive:
                if member.isfile() and member.name.startswith(top):
                    found[member.name[len(top) :].lstrip("/")] = archive.extractfile(member).read()
        if not found:
            sys.exit(f"{self}: no file below {inside!r}")
        return dict(sorted(found.items()))

    def text(self, path):
        """One file of the package."""
        return self.texts(path)[""]


def fetch_crate(package):
    """`cargo info` downloads the one crate that it describes."""
    run(["cargo", "info", "--quiet", f"{package.name}@{package.version}"])
    home = pathlib.Path(os.environ.get("CARGO_HOME") or pathlib.Path.home() / ".cargo")
    found = sorted(home.glob(f"registry/cache/*/{package.file}"))
    if not found:
        sys.exit(f"{package}: cargo has not left {package.file} in {home}")
    (CACHE / package.file).write_bytes(found[0].read_bytes())


def fetch_sdist(package):
    constraints = CACHE / "constraints.txt"
    constraints.write_text(CONSTRAINTS)
    run(
        [
            sys.executable,
            "-m",
            "pip",
            "download",
            "--quiet",
            "--disable-pip-version-check",
            "--no-deps",
            "--no-binary",
            package.name,
            "--dest",
            CACHE,
            f"{package.name}=={package.version}",
        ],
        PIP_CONSTRAINT=str(constraints),
    )


def run(words, **environment):
    done = subprocess.run(
        [str(word) for word in words],
        check=False,
        cwd=CACHE,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}: {done.stdout.strip()[-2000:]}")


# The parser that tells what pages hold whose tree no suite has.
JUDGE = "PyPI justhtml 3.16.0"


def judges():
    """The folder that an HTML parser and a URL parser that others wrote in Python are installed in (judges.txt)."""
    wanted = pathlib.Path(__file__).with_name("judges.txt")
    folder = CACHE / f"judges-{hashlib.sha256(wanted.read_bytes()).hexdigest()[:12]}"
    if not folder.is_dir():
        CACHE.mkdir(parents=True, exist_ok=True)
        partial = folder.with_suffix(".partial")
        run(
            [
                sys.executable,
                "-m",
                "pip",
                "install",
                "--quiet",
                "--disable-pip-version-check",
                "--no-deps",
                "--require-hashes",
                "--upgrade",
                "--target",
                partial,
                "--requirement",
                wanted,
            ]
        )
        partial.rename(folder)
    return folder


HTML5LIB = Package(
    "PyPI",
    "html5rdf",
    "1.2.1",
    "html5rdf-1.2.1.tar.gz",
    "ace9b420ce52995bb4f05e7425eedf19e433c981dfe7a831ab391e2fa2e1a195",
)
JUSTHTML = Package(
    "PyPI",
    "justhtml",
    "3.16.0",
    "justhtml-3.16.0.tar.gz",
    "600c95a6a9b766cffe50688a6335617fbcc33ef47f364317e92d6b8dd7a25ce9",
)
LLHTTP = Package(
    "PyPI",
    "aiohttp",
    "3.13.2",
    "aiohttp-3.13.2.tar.gz",
    "40176a52c186aefef6eb3cad2cdd30cd06e3afbe88fe8ab2af9c0b90f228daca",
)
ADA_URL = Package(
    "crate",
    "ada-url",
    "4.0.0",
    "ada-url-4.0.0.crate",
    "c153db7a5a9f8a92a313dff0fecbbb28198542fc98bf024b961baf9896408347",
)
URL = Package("crate", "url", "2.5.8", "url-2.5.8.crate", "ff67a8a4397373c3ef660812acab3268222035010ab8680ec4215f38ba3d0eed")
DATA_URL = Package(
    "crate",
    "data-url",
    "0.3.2",
    "data-url-0.3.2.crate",
    "be1e0bca6c3637f992fc1cc7cbc52a78c1ef6db076dbf1059c4323d6a2048376",
)
ENCODING_RS = Package(
    "crate",
    "encoding_rs",
    "0.8.44",
    "encoding_rs-0.8.44.crate",
    "89253175e704ab869b04f9db224d38630e0211a53841a79181deae0889e169f5",
)

if __name__ == "__main__":
    print(judges())
