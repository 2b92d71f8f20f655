"""Downloads a model file over TLS: resumed where it broke off, checked before it counts."""

import http.client
import ssl
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote, urlsplit

from engine.core.errors import ModelFileError, ModelMissingError
from engine.core.sync import CancelToken
from engine.store.integrity import (
    BLOCK_BYTES,
    ProgressCallback,
    check_member,
    format_bytes,
    looks_like_web_page,
)
from engine.store.manifest import HubSource, Member, UrlSource

HUB_ENDPOINT = "https://huggingface.co"
_TIMEOUT_S = 30.0
_TELL_BYTES = 1 << 16
_LOOPBACK = ("127.0.0.1", "::1", "localhost")
# Not OSError at large: a full disk is no fault of the network.
_NETWORK_ERRORS = (
    urllib.error.URLError,
    http.client.HTTPException,
    ConnectionError,
    TimeoutError,
    ssl.SSLError,
)


def member_url(source: HubSource | UrlSource, name: str, hub_endpoint: str = HUB_ENDPOINT) -> str:
    """Return the address of a member."""
    if isinstance(source, UrlSource):
        return f"{source.base.rstrip('/')}/{quote(name)}"
    path = f"{source.folder}/{name}" if source.folder else name
    return f"{hub_endpoint}/{source.repo}/resolve/{quote(source.revision, safe='')}/{quote(path)}"


def download(
    url: str, member: Member, part: Path, progress: ProgressCallback, cancel: CancelToken
) -> None:
    """Download a member into `part`, going on where an earlier try broke off.

    Afterwards `part` is complete and checked. After a lost connection it keeps what came.

    Raises:
        ModelMissingError: the address cannot be reached or has no such file.
        ModelFileError: what came is not the member; `part` is deleted.
        CancelledError: cancel was set; `part` keeps what came.
    """
    have = part.stat().st_size if part.exists() else 0
    if have > member.size_bytes:
        part.unlink()
        have = 0
    if have < member.size_bytes:
        try:
            with _open(url, have) as (response, start):
                _receive(response, start, member, part, progress, cancel)
        except _NETWORK_ERRORS as error:
            raise _unreachable(url, error) from error
    try:
        check_member(part, member, cancel)
    except ModelFileError:
        part.unlink()
        raise


def fetch_small(url: str, max_bytes: int) -> bytes:
    """Return what lies at an address.

    Raises:
        ModelMissingError: it cannot be reached, or there is nothing.
        ModelFileError: it is larger than `max_bytes`.
    """
    try:
        with _open(url, 0) as (response, _):
            content = response.read(max_bytes + 1)
    except _NETWORK_ERRORS as error:
        raise _unreachable(url, error) from error
    if len(content) > max_bytes:
        raise ModelFileError(
            f"{url} was refused: expected {format_bytes(max_bytes)} at most, found more.",
            advice="Use another source.",
        )
    return content


@contextmanager
def _open(url: str, have: int) -> Iterator[tuple[http.client.HTTPResponse, int]]:
    """Open an address; yield the response and the byte it starts at."""
    _require_tls(url)
    request = urllib.request.Request(url, headers={"User-Agent": "vivavoce"})
    if have:
        request.add_header("Range", f"bytes={have}-")
    opener = urllib.request.build_opener(
        urllib.request.HTTPSHandler(context=ssl.create_default_context()), _TlsRedirects()
    )
    with opener.open(request, timeout=_TIMEOUT_S) as response:
        resumed = response.status == HTTPStatus.PARTIAL_CONTENT
        yield response, have if resumed else 0


def _receive(
    response: http.client.HTTPResponse,
    start: int,
    member: Member,
    part: Path,
    progress: ProgressCallback,
    cancel: CancelToken,
) -> None:
    done, total, told = start, member.size_bytes, start
    with part.open("r+b" if start else "wb") as file:
        file.seek(start)
        file.truncate()
        # What has come, and not as much as fits: a slow line must be shown, and can be given up.
        while block := response.read1(BLOCK_BYTES):
            if done == 0 and looks_like_web_page(block):
                file.close()
                part.unlink()
                raise ModelFileError(
                    f"{member.name} was refused: expected {total} bytes of a model, "
                    f"found something that looks like a web page ({response.url}).",
                    advice="Log in to the network if it asks for it, or use another source.",
                )
            file.write(block)
            done += len(block)
            if done > total:
                file.close()
                part.unlink()
                raise ModelFileError(
                    f"{member.name} was refused: expected {total} bytes, found more "
                    f"({response.url}).",
                    advice="Use another source.",
                )
            if done - told >= _TELL_BYTES or done == total:
                told = done
                of_all = f"{format_bytes(done)} of {format_bytes(total)}"
                progress(done / total, f"{member.name}: {of_all}")
            cancel.check()
    if done < total:
        raise ModelMissingError(
            f"The connection ended after {done} of {total} bytes of {member.name}.",
            advice="Try again: what came is kept.",
        )


def _unreachable(url: str, error: Exception) -> ModelMissingError:
    host = urlsplit(url).hostname
    if isinstance(error, urllib.error.HTTPError):
        status = error.code
        error.close()
        return ModelMissingError(
            f"{host} has no file for us at {url} (HTTP status {status}).",
            advice="Try again later, or use another source.",
        )
    reason = error.reason if isinstance(error, urllib.error.URLError) else error
    return ModelMissingError(
        f"{host} cannot be reached ({reason}).",
        advice="Check the network connection, or install the model from a local file.",
    )


def _require_tls(url: str) -> None:
    parts = urlsplit(url)
    is_local = parts.scheme == "http" and parts.hostname in _LOOPBACK
    if parts.scheme != "https" and not is_local:
        raise ModelMissingError(
            f"{url} is not fetched: only https addresses are.", advice="Use another source."
        )


class _TlsRedirects(urllib.request.HTTPRedirectHandler):
    """Follows redirects, but never from TLS to plain HTTP."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: Any,
        newurl: str,
    ) -> urllib.request.Request | None:
        try:
            _require_tls(newurl)
        except ModelMissingError:
            fp.close()
            raise
        return super().redirect_request(req, fp, code, msg, headers, newurl)
