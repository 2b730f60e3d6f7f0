"""A reader finds a whole file, the old one or the new one."""

from pathlib import Path

import pytest

from onceproof.files import write_json, write_whole


def test_nothing_else_is_left_beside_it(tmp_path: Path) -> None:
    file = tmp_path / "verdict.json"
    write_json(file, {"of": "Müller"})
    write_json(file, {"of": "Özil"})
    assert file.read_text(encoding="utf-8") == '{\n  "of": "Özil"\n}\n'
    assert list(tmp_path.iterdir()) == [file]


def test_what_was_there_stays_if_the_new_one_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "verdict.json"
    write_whole(file, "whole")

    def full(path: Path, *_: object, **__: object) -> None:
        path.touch()
        raise OSError("no space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(OSError, match="no space"):
        write_whole(file, "half")
    assert file.read_bytes() == b"whole"
