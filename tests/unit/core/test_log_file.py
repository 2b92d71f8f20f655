import logging
import os
from pathlib import Path

import pytest

from engine.core.log_file import LOG_NAME, LogFileHandler

pytestmark = [
    pytest.mark.unit,
    pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no disk that is full"),
]


def test_log_when_the_disk_is_full_then_says_so_once_and_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / LOG_NAME).symlink_to("/dev/full")
    mode = Path("/dev/full").stat().st_mode & 0o777
    handler = LogFileHandler(tmp_path, delay=True)
    log = logging.getLogger("full")
    log.addHandler(handler)
    try:
        for number in range(3):
            log.warning("line %d", number)
        handler.close()
    finally:
        log.removeHandler(handler)
    assert Path("/dev/full").stat().st_mode & 0o777 == mode
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "cannot be written: No space left on device." in told
