"""The one reading of natural language for all packages.

- lexicons: `numbers`, `times`, `units`, `currencies`;
- typed values: `values` makes them, `extraction` finds them, `reading` derives one from its words, `matching` says
  whether a text says one, `patterns` are its regular expressions, `normalizing` spells them one way, `computing`
  computes with them;
- times: `time_spans` resolves phrases to days of the calendar, `relative_days` to tolerant ranges of days;
- text: `sentences`, `words`, `phrases`, and `traces` of the machinery.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
