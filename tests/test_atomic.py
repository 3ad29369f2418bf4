"""Files are replaced as a whole or not at all: errors, full disks and kills leave the old content."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from treewright._atomic import replacing

OLD, NEW = b"the old content", b"the new content" * 1000
posix = pytest.mark.skipif(os.name != "posix", reason="signals, limits and devices of POSIX")


def others(folder: Path) -> list[str]:
    """What lies in a folder beside the file itself."""
    return [name for name in os.listdir(folder) if name != "file"]


def test_a_new_file_and_its_replacement(tmp_path: Path) -> None:
    path = tmp_path / "file"
    for content in (OLD, NEW):
        with replacing(path) as file:
            file.write(content)
            assert not path.exists() or path.read_bytes() != content  # not before the end
        assert path.read_bytes() == content
    assert not others(tmp_path)


def test_an_error_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(OLD)
    for error in (RuntimeError, KeyboardInterrupt, MemoryError):
        with pytest.raises(error), replacing(path) as file:  # noqa: PT012 - the error comes after the writing
            file.write(NEW)
            raise error
        assert path.read_bytes() == OLD
        assert not others(tmp_path)


def test_a_step_that_fails_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    path.write_bytes(OLD)

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    for step in ("fsync", "chmod", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(os, step, fail)
            with pytest.raises(OSError, match="space"), replacing(path) as file:
                file.write(NEW)
        assert path.read_bytes() == OLD
        assert not others(tmp_path)


@posix
def test_the_mode_is_that_of_the_old_file_or_of_a_new_one(tmp_path: Path) -> None:
    path, plain = tmp_path / "file", tmp_path / "plain"
    plain.write_bytes(OLD)
    with replacing(path) as file:
        file.write(NEW)
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)
    path.chmod(0o640)
    with replacing(path) as file:
        file.write(OLD)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


@posix
def test_a_link_stays_a_link(tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "file").write_bytes(OLD)
    link = tmp_path / "link"
    link.symlink_to(folder / "file")
    with replacing(link) as file:
        file.write(NEW)
    assert link.is_symlink()
    assert (folder / "file").read_bytes() == NEW


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    path = tmp_path / "nowhere" / "file"
    with pytest.raises(FileNotFoundError) as error, replacing(path):
        pass
    assert error.value.filename == str(path)


@posix
def test_a_folder_that_takes_no_files(tmp_path: Path) -> None:
    if sys.platform == "linux":  # nobody, not even root, makes files here
        with pytest.raises(OSError, match="file"), replacing("/proc/self/file"):
            pass
    if os.geteuid() != 0:
        path = tmp_path / "file"
        path.write_bytes(OLD)
        tmp_path.chmod(0o500)
        with pytest.raises(PermissionError, match="file"), replacing(path) as file:
            file.write(NEW)
        tmp_path.chmod(0o700)
        assert path.read_bytes() == OLD


def test_a_folder_in_the_place_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "file").mkdir()
    with pytest.raises(OSError), replacing(tmp_path / "file") as file:  # noqa: PT011 - Windows says it otherwise
        file.write(NEW)
    assert not others(tmp_path)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full is a device of Linux")
def test_a_full_device() -> None:
    with pytest.raises(OSError, match="space"), replacing("/dev/full") as file:
        file.write(NEW)


@posix
def test_a_pipe_is_written_directly() -> None:
    read, write = os.pipe()
    with replacing(f"/dev/fd/{write}") as file:
        file.write(OLD)
    os.close(write)
    assert os.read(read, 100) == OLD
    os.close(read)


def test_long_names(tmp_path: Path) -> None:
    for name in ("n" * 255, "\N{PALM TREE}" * 63):
        with replacing(tmp_path / name) as file:
            file.write(OLD)
        assert (tmp_path / name).read_bytes() == OLD


def in_a_process(code: str, path: Path) -> int:
    """The return code of a process that runs `code` and then replaces the file."""
    code = f"import os, resource, signal, sys\nfrom treewright import _atomic as files\n{code}\n" + (
        f"with files.replacing({str(path)!r}) as file:\n    file.write({NEW!r})\n"
    )
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, timeout=60, check=False
    ).returncode


@posix
def test_a_disk_that_is_full(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(OLD)
    assert in_a_process("resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))", path) == 1
    assert path.read_bytes() == OLD
    assert not others(tmp_path)


@posix
@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("step", ["fdopen", "fsync", "chmod", "replace"])
def test_a_kill_at_any_step(step: str, moment: str, tmp_path: Path) -> None:
    """Killed by the system, a process cannot tidy up: its new file stays behind as a hidden `.part`."""
    path = tmp_path / "file"
    path.write_bytes(OLD)
    kill = "os.kill(os.getpid(), signal.SIGKILL)"
    then = ("real(*given)", kill) if moment == "after" else (kill, "real(*given)")
    code = f"real = os.{step}\ndef dying(*given):\n    {then[0]}\n    {then[1]}\nos.{step} = dying"
    assert in_a_process(code, path) == -signal.SIGKILL
    assert path.read_bytes() == (NEW if (step, moment) == ("replace", "after") else OLD)
    assert all(name.startswith(".file.") and name.endswith(".part") for name in others(tmp_path))


@posix
def test_a_kill_in_the_middle_of_writing(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(OLD)
    code = f"with files.replacing({str(path)!r}) as file:\n    file.write({NEW!r})\n    file.flush()\n"
    assert in_a_process(code + "    os.kill(os.getpid(), signal.SIGKILL)", path) == -signal.SIGKILL
    assert path.read_bytes() == OLD
