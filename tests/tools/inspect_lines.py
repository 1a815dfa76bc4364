"""Lines that several tests of the inspector read."""

from tests.tools.inspect_support import (
    message,
)

CANCEL = message(method="session/cancel", params={"sessionId": "s"})
LIST = message(id=1, method="session/list", params={})
OUT, IN, CLIENT, AGENT, NONE = (None, True), (None, False), ("client", None), ("agent", None), (None, None)
