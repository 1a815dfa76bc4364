"""The code generator: from the Agent Client Protocol's JSON Schema to the package `acp_msgspec`."""
