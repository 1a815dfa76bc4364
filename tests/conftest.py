"""What holds for all tests.

An example of Hypothesis has no deadline, as other programs may hold it up; a test that names no number tries 100.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import settings

from tests.examples import examples

settings.register_profile("acp", examples(100))
settings.load_profile("acp")


@pytest.fixture(scope="session")
def relaying(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Any, Any]]:
    """A package and the module of the case `messages`, whose method `relay` has both sides, both kinds and any result.

    Upstream's schemas may have such a method or not.
    """
    from tests.support import CASES, generate_case, imported

    folder = tmp_path_factory.mktemp("relaying")
    generate_case(CASES / "shapes" / "messages" / "schema.json", "case", folder)
    with imported(folder, "case", "relaying") as found:
        yield found
