"""Output is complete or absent; devices, FIFOs and links stay what they are."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from coevo.errors import FileError
from coevo.files.checkpoints import write_arrays
from coevo.files.files import (
    check_output_path,
    remove_temporary_files,
    replace_file,
    write_text,
)

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX files")


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_fifo_gets_the_bytes_and_stays_a_fifo(here):
    os.mkfifo("pipe")
    got = []
    reader = threading.Thread(target=lambda: got.append(Path("pipe").read_bytes()))
    reader.start()
    check_output_path(Path("pipe"))
    write_text(Path("pipe"), "rows")
    reader.join()
    assert got == [b"rows"]
    assert stat.S_ISFIFO(os.stat("pipe").st_mode)
    assert os.listdir() == ["pipe"]


def test_a_device_stays_a_device(here):
    try:
        os.mknod("null", stat.S_IFCHR | 0o666, os.makedev(1, 3))
        Path("null").open("wb").close()
    except OSError:
        pytest.skip("only root can make a device, and not everywhere")
    write_text(Path("null"), "rows")
    assert stat.S_ISCHR(os.stat("null").st_mode)
    assert os.listdir() == ["null"]


@pytest.mark.parametrize("exists", [True, False])
def test_a_link_stays_and_its_file_is_replaced(here, exists):
    Path("there").mkdir()
    if exists:
        Path("there/file").write_text("old")
    os.symlink("there/file", "second")
    os.symlink("second", "first")
    check_output_path(Path("first"))
    write_text(Path("first"), "new")
    assert (os.readlink("first"), os.readlink("second")) == ("second", "there/file")
    assert Path("there/file").read_text() == "new"
    assert sorted(os.listdir()) == ["first", "second", "there"]
    assert os.listdir("there") == ["file"]


def test_a_link_into_no_folder_and_a_link_to_itself(here):
    os.symlink("none/file", "lost")
    expected = f"'lost' cannot be written: there is no folder '{here / 'none'}'."
    for write in (check_output_path, lambda path: write_text(path, "new")):
        with pytest.raises(FileError) as caught:
            write(Path("lost"))
        assert str(caught.value) == expected
    os.symlink("loop", "loop")
    with pytest.raises(FileError, match=r"^'loop' cannot be written: Too many levels"):
        write_text(Path("loop"), "new")


@pytest.mark.skipif(not os.path.exists("/dev/stdout"), reason="needs /dev/stdout")
@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "link"])
def test_the_standard_output_by_its_name(here, name):
    """The text goes where the shell sent the output, in the order of the program."""
    os.symlink("/dev/stdout", "link")
    code = (
        "import sys; from pathlib import Path; from coevo.files.files import write_text;"
        "print('before', flush=True); write_text(Path(sys.argv[1]), 'text\\n'); print('after')"
    )
    with open("out.txt", "wb") as out:
        subprocess.run([sys.executable, "-c", code, name], stdout=out, check=True)
    assert Path("out.txt").read_text() == "before\ntext\nafter\n"


def test_the_permissions_stay(here):
    path = Path("private")
    path.write_text("old")
    path.chmod(0o600)
    write_text(path, "new")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.read_text() == "new"


def test_the_bytes_are_on_the_disk_before_the_name(here, monkeypatch):
    calls = []
    real = os.fsync, os.replace

    def sync(descriptor):
        calls.append("folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file")
        real[0](descriptor)

    def rename(*names):
        calls.append("rename")
        real[1](*names)

    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(os, "replace", rename)
    write_text(Path("file"), "new")
    assert calls == ["file", "rename", "folder"]


@pytest.mark.parametrize("failing", ["fsync", "replace"])
def test_a_failure_leaves_the_old_file_and_nothing_else(here, monkeypatch, failing):
    Path("file").write_text("old")

    def fail(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, failing, fail)
    with pytest.raises(FileError) as caught:
        write_text(Path("file"), "new")
    assert str(caught.value) == "'file' cannot be written: No space left on device."
    assert Path("file").read_text() == "old"
    assert os.listdir() == ["file"]


def test_a_file_system_without_fsync(here, monkeypatch):
    def fail(_):
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))

    monkeypatch.setattr(os, "fsync", fail)
    write_text(Path("file"), "new")
    assert Path("file").read_text() == "new"


def test_an_error_of_the_block_is_not_changed(here):
    with pytest.raises(FileError) as caught, replace_file(Path("file")):
        raise FileError("The table ends too early.")
    assert str(caught.value) == "The table ends too early."
    assert os.listdir() == []


def test_temporary_files_of_others_stay_while_they_are_written(here):
    Path(".dead.00ff00ff.tmp").write_text("half")
    Path(".other.tmp").write_text("not ours")
    with replace_file(Path("file")) as stream:
        stream.write(b"first half, ")
        code = (
            "from pathlib import Path; from coevo.files.files import remove_temporary_files;"
            "remove_temporary_files(Path('.'))"
        )
        subprocess.run([sys.executable, "-c", code], check=True)  # a second command
        stream.write(b"second half")
    assert Path("file").read_text() == "first half, second half"
    assert sorted(os.listdir()) == [".other.tmp", "file"]


def test_a_temporary_file_that_was_removed_before_its_lock(here, monkeypatch):
    """Another process may remove the file between its creation and its lock."""
    from coevo.files import output_files

    real, n_calls = output_files.fcntl.flock, []

    def remove_then_lock(stream, operation):
        if not n_calls:
            os.unlink(stream.name)
        n_calls.append(1)
        real(stream, operation)

    monkeypatch.setattr(output_files.fcntl, "flock", remove_then_lock)
    write_text(Path("file"), "new")
    assert Path("file").read_text() == "new"
    assert len(n_calls) == 2


def test_a_killed_process_leaves_a_file_that_is_removed(here):
    code = (
        "import os; from pathlib import Path; from coevo.files.files import replace_file\n"
        "with replace_file(Path('file')) as stream:\n"
        "    stream.write(b'half'); os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", code], check=False)
    assert len(os.listdir()) == 1
    remove_temporary_files(here)
    assert os.listdir() == []


def test_the_longest_name(here):
    path = Path("ä" * 127 + "x")  # 255 bytes
    write_text(path, "new")
    assert path.read_text() == "new"


def test_lone_surrogates_become_escapes(here):
    write_text(Path("file"), '{"path": "asia\udcff.csv"}')
    assert Path("file").read_bytes() == b'{"path": "asia\\udcff.csv"}'


def test_arrays_are_stored_without_a_pickle_and_nothing_else(tmp_path):
    """NumPy before 2.2 stores what newer versions take as options."""
    path = tmp_path / "a.npz"
    write_arrays(path, {"codes": np.arange(3), "name": "a", "n": 2})
    with np.load(path, allow_pickle=False) as archive:
        assert sorted(archive.files) == ["codes", "n", "name"]
    before = path.read_bytes()
    with pytest.raises(ValueError, match="'b' holds objects"):
        write_arrays(path, {"b": np.array([object()])})
    assert path.read_bytes() == before
