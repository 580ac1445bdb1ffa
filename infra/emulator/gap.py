"""The form of an entry of `gaps.py` and `iam_gaps.py`."""

import sys
from dataclasses import dataclass


@dataclass(frozen=True)
class Gap:
    module: str
    """How the emulator differs, and the page or the source of AWS that says so."""
    reason: str
    old: str
    new: str

    def closed_in(self, text):
        count = text.count(self.old)
        if count != 1:
            sys.exit(f"{self.module} has {count} places for this gap, not one. Remove or correct it: {self.reason}")
        return text.replace(self.old, self.new)
