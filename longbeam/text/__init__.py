"""The one reading of natural language for all packages.

- lexicons: `numbers` (with units and lists), `times`, `currencies`;
- typed values: `values` makes them and computes with them, `extraction` finds them, `reading` derives one from its
  words, `matching` says whether a text says one, `grounding` finds those that are known;
- days and times: `time_spans` resolves phrases to days of the calendar, `days` reads days as people say them;
- text: `sentences`, `words`, `traces` of the machinery, `redaction` of private data, `side_texts`;
- what a text says: `claims` reads who, thing, values, polarity, tense and mood; `later_evidence` ranks the passages
  that may change an answer.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
