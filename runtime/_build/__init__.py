"""What the builders of every schema share: reading files for prompts, media types, addresses, diffs, labels.

It knows no schema. The emitted `build.py` of each schema turns what is found here into the classes of that schema.
"""
