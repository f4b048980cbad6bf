"""A number for each cell that it has in every table it is part of, so that one secret treats it alike everywhere."""

from hashlib import blake2b

import numpy as np

from shoal.tables.model.table import TOTAL, Table


def identities(table: Table) -> np.ndarray:
    """A 64-bit number for each cell from its coordinates; dimensions at their total do not count.

    >>> plain = Table.from_matrix([[1.0, 2.0], [3.0, 4.0]])
    >>> more = Table.from_matrix([[1.0, 2.0, 5.0], [3.0, 4.0, 6.0]])
    >>> bool(identities(plain)[0] == identities(more)[0]), len(set(identities(plain).tolist()))
    (True, 9)
    """
    found = np.empty(table.cells, dtype=np.uint64)
    told = [_in_words(name, table.keys[name]) for name in sorted(table.dimensions)]
    for cell, key in enumerate(zip(*told, strict=True)):
        inner = f"[{', '.join(part for part in key if part)}]"
        digest = blake2b(inner.encode(), digest_size=8, person=b"shoal cell").digest()
        found[cell] = int.from_bytes(digest, "little")
    return found


def _in_words(name: str, codes: np.ndarray) -> list[str]:
    """For each cell the dimension with its code in words, and nothing where it stands at its total."""
    texts = [str(code) for code in codes.tolist()]
    words = {code: "" if code == TOTAL else repr((name, code)) for code in dict.fromkeys(texts)}
    return [words[code] for code in texts]
