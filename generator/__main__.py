"""Entry point of `python -m generator`."""

import gc

from generator.cli import main

# A run is short and keeps nearly all that it makes: looking for garbage takes a fifth of its time and finds little.
gc.disable()
main()
