"""Our words are spelt as the dictionaries have them."""

import pytest

from docs import build


def test_spelling() -> None:
    assert build.misspelt() == []


@pytest.mark.parametrize("text", ["A recieved message.", "text = 'all the parametres'"])
def test_a_wrong_word_is_found(text: str) -> None:
    assert len(build.misspelt(text)) == 1
    assert build.misspelt("All the parameters of a received message.") == []
