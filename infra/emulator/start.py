"""Starts ministack on loopback, without its gaps. `npm run emulator` runs it, so that functions find the Node.js of this project."""

import os
import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import PathFinder, SourceFileLoader

sys.dont_write_bytecode = True  # the checkout stays clean

from gaps import GAPS

# By default, the emulator listens on all interfaces.
os.environ["BIND_HOST"] = "127.0.0.1"
os.environ["IOT_MTLS_ENABLED"] = "false"
# By default, it evaluates no IAM policies.
os.environ.setdefault("AUTH", "true")
# The functions inherit it. A webhook can then call an endpoint of this machine.
os.environ.setdefault("ALLOW_PRIVATE_ENDPOINTS", "true")


class ClosingLoader(SourceFileLoader):
    """Loads a module of the emulator without its gaps."""

    def get_code(self, fullname):
        text = self.get_source(fullname)
        for gap in GAPS:
            if gap.module == fullname:
                text = gap.closed_in(text)
        return self.source_to_code(text, self.path)


class ModuleFinder(MetaPathFinder):
    def find_spec(self, fullname, path, target=None):
        if not any(gap.module == fullname for gap in GAPS):
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        spec.loader = ClosingLoader(fullname, spec.origin)
        return spec


if __name__ == "__main__":
    sys.meta_path.insert(0, ModuleFinder())
    for name in {gap.module for gap in GAPS}:
        __import__(name)  # stops the start if the emulator closed a gap
    from ministack.app import main

    main()
