"""Nothing of the schema is lost: each definition of the raw schemas is held against the types of the package.

`schema_walk` tells what the schema says, `Package` tells the emitted types in the same words. The second half of the
file proves that the comparison can fail: it changes the schema at every place and demands a complaint each time.
"""

import pytest

from tests.oracle.parity import Walk, schema
from tests.oracle.schema_files import LABELS


@pytest.mark.parametrize("label", LABELS)
@pytest.mark.slow
def test_every_definition_is_there_with_all_that_the_schema_says(label: str) -> None:
    problems = Walk(schema(label)).whole()
    assert not problems, "\n".join(problems)
