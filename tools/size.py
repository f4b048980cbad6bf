"""How much code there is to own: names, numbers and strings outside docstrings, so that layout and comments do not count.

python tools/size.py [FOLDER …]        by default src/shoal, each of its folders and the whole
"""

import ast
import io
import sys
import tokenize
from pathlib import Path

_COUNTED = {tokenize.NAME, tokenize.NUMBER, tokenize.STRING}


def tokens(source: str) -> int:
    """The names, numbers and strings of a file that are no part of a docstring."""
    lines = {
        line
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and ast.get_docstring(node, clean=False) is not None
        for line in range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1)
    }
    found = tokenize.generate_tokens(io.StringIO(source).readline)
    return sum(token.type in _COUNTED and token.start[0] not in lines for token in found)


def main(folders: list[str]) -> None:
    """Print the count of each folder, and of all."""
    whole = 0
    for folder in folders or sorted(str(path) for path in Path("src/shoal").iterdir()):
        paths = [Path(folder)] if folder.endswith(".py") else sorted(Path(folder).rglob("*.py"))
        count = sum(tokens(path.read_text(encoding="utf-8")) for path in paths)
        whole += count
        if count:
            print(f"{count:>9,}  {folder}")
    print(f"{whole:>9,}  in all")


if __name__ == "__main__":
    main(sys.argv[1:])
