"""Our words are spelt as the dictionaries have them."""

import pytest

from docs import build


@pytest.mark.network
def test_spelling() -> None:
    assert build.misspelt() == []


@pytest.mark.network
def test_only_the_wrong_words_are_found() -> None:
    text = "A recieved message.\ntext = 'all the parametres'\nAll the parameters of a received message.\n"
    found = build.misspelt(text)
    assert len(found) == 2
    assert "recieved" in found[0]
    assert "parametres" in found[1]
