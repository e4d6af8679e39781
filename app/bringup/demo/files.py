"""The SFTP subsystem of the demo's host: this machine's own paths, to be read only."""

from __future__ import annotations

from typing import NoReturn, cast

import asyncssh
from asyncssh.channel import SSHChannel, SSHServerChannel

WRITING = asyncssh.FXF_WRITE | asyncssh.FXF_APPEND | asyncssh.FXF_CREAT | asyncssh.FXF_TRUNC | asyncssh.FXF_EXCL


def open_files(chan: SSHChannel[bytes]) -> asyncssh.SFTPServer:
    """Serve one SFTP channel."""
    return ReadOnlyFiles(cast(SSHServerChannel[bytes], chan))


class ReadOnlyFiles(asyncssh.SFTPServer):
    """Opens files for reading and refuses everything that changes one.

    No folder is the root: /proc/PID/fd has to work as on a real host.
    """

    def open(self, path: bytes, pflags: int, attrs: asyncssh.SFTPAttrs) -> object:
        """Open a file for reading."""
        if pflags & WRITING:
            _refuse()
        return super().open(path, pflags, attrs)

    def write(self, file_obj: object, offset: int, data: bytes) -> NoReturn:
        """Refuse."""
        _refuse()

    def setstat(self, path: bytes, attrs: asyncssh.SFTPAttrs) -> NoReturn:
        """Refuse."""
        _refuse()

    def lsetstat(self, path: bytes, attrs: asyncssh.SFTPAttrs) -> NoReturn:
        """Refuse."""
        _refuse()

    def fsetstat(self, file_obj: object, attrs: asyncssh.SFTPAttrs) -> NoReturn:
        """Refuse."""
        _refuse()

    def remove(self, path: bytes) -> NoReturn:
        """Refuse."""
        _refuse()

    def mkdir(self, path: bytes, attrs: asyncssh.SFTPAttrs) -> NoReturn:
        """Refuse."""
        _refuse()

    def rmdir(self, path: bytes) -> NoReturn:
        """Refuse."""
        _refuse()

    def rename(self, oldpath: bytes, newpath: bytes) -> NoReturn:
        """Refuse."""
        _refuse()

    def posix_rename(self, oldpath: bytes, newpath: bytes) -> NoReturn:
        """Refuse."""
        _refuse()

    def symlink(self, oldpath: bytes, newpath: bytes) -> NoReturn:
        """Refuse."""
        _refuse()

    def link(self, oldpath: bytes, newpath: bytes) -> NoReturn:
        """Refuse."""
        _refuse()


def _refuse() -> NoReturn:
    raise asyncssh.SFTPPermissionDenied("the demo's files can only be read")
