"""Types of the arguments that decoders share."""

from typing import Literal

Buffer = bytes | bytearray | memoryview | str
"""JSON: UTF-8 bytes of any kind, or text."""
Unknown = Literal["reject", "keep"]
"""What an unknown tag in a closed union leads to: an error, or an `UnknownVariant`."""
