from collections.abc import Iterator

import httpx
import pytest
from tests.waiting import GUARD
from tests.web.serving import Served, cancel_all, served


@pytest.fixture(scope="session")
def workbench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("bench") / "workspace", "--max-upload", "3") as found:
        yield found


@pytest.fixture
def api(workbench: Served) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=workbench.root, headers=workbench.headers, timeout=GUARD) as client:
        try:
            yield client
        finally:
            cancel_all(client)
