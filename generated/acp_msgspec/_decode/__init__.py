"""The slow path: repairs plain JSON values that the strict decode rejected, and explains why it rejected them."""
