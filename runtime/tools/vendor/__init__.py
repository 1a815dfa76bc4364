"""Vendoring: a copy of this package in another project, under any name, that can be checked and updated."""

from .command import ORIGIN, RELEASES, VERSION, VendorError, vendor

__all__ = ["ORIGIN", "RELEASES", "VERSION", "VendorError", "vendor"]
