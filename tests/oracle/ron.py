"""Reads RON, the notation of the cases, as far as they use it.

Structures and maps become dictionaries, lists and tuples lists, `Some(x)` x, and `None`, `true` and `false` what they say. A name
alone becomes a `Name`, and a name with arguments a `Variant`: of it too the arguments are a dictionary where they have names.
"""

import re

TOKEN = re.compile(
    r"""(?:\s+|//[^\n]*)*(?:
        (?P<string>"(?:[^"\\]|\\.)*")
      | (?P<number>[-+]?(?:0x[0-9A-Fa-f_]+|inf\b|NaN\b|[0-9._]+(?:[eE][-+]?[0-9]+)?))
      | (?P<name>[A-Za-z_][A-Za-z0-9_]*)
      | (?P<mark>[()\[\]{}:,])
      | (?P<end>\Z))""",
    re.VERBOSE | re.DOTALL,
)


class Name(str):
    """A variant without arguments."""


class Variant:
    """A variant with arguments: a list, or a dictionary where they have names (positional ones before them are `leading`)."""

    def __init__(self, name, leading, named):
        self.name, self.leading, self.named = name, leading, named


class Reader:
    def __init__(self, text):
        self.text, self.at = text, 0
        self.next()

    def next(self):
        taken = getattr(self, "value", None)
        found = TOKEN.match(self.text, self.at)
        if not found:
            raise ValueError(f"no RON at offset {self.at}")
        self.at, self.kind = found.end(), found.lastgroup
        self.value = found[self.kind]
        return taken

    def take(self, mark):
        if self.kind == "mark" and self.value == mark:
            self.next()
            return True
        return False

    def need(self, mark):
        if not self.take(mark):
            raise ValueError(f"{mark!r} was expected before offset {self.at}, not {self.value!r}")

    def item(self):
        """A value, or a name that a colon follows: the second says that it is a field's name."""
        if self.kind == "name":
            name = self.next()
            if self.kind == "mark" and self.value == ":":
                return name, True
            return self.after(name), False
        return self.plain(), False

    def after(self, name):
        if name in ("true", "false", "None"):
            return {"true": True, "false": False, "None": None}[name]
        if not self.take("("):
            return Name(name)
        leading, named = self.fields()
        if name == "Some":
            return leading[0]
        return Variant(name, leading, named)

    def fields(self):
        """What stands in parentheses: values, and values with names."""
        leading, named = [], {}
        while not self.take(")"):
            value, is_name = self.item()
            if is_name:
                self.need(":")
                named[value] = self.read()
            else:
                leading.append(value)
            if not self.take(","):
                self.need(")")
                break
        return leading, named

    def read(self):
        value, is_name = self.item()
        if is_name:
            raise ValueError(f"a field's name where a value was expected, before offset {self.at}")
        return value

    def plain(self):
        if self.kind == "string":
            return re.sub(r"\\(.)", lambda it: {"n": "\n", "t": "\t"}.get(it[1], it[1]), self.next()[1:-1])
        if self.kind == "number":
            text = self.next().replace("_", "")
            return int(text, 0) if re.fullmatch(r"[-+]?(0x[0-9A-Fa-f]+|[0-9]+)", text) else float(text)
        if self.take("("):
            leading, named = self.fields()
            return named if named else leading
        if self.take("["):
            values = []
            while not self.take("]"):
                values.append(self.read())
                if not self.take(","):
                    self.need("]")
                    break
            return values
        if self.take("{"):
            values = {}
            while not self.take("}"):
                key = self.read()
                self.need(":")
                values[key] = self.read()
                if not self.take(","):
                    self.need("}")
                    break
            return values
        raise ValueError(f"a value was expected before offset {self.at}, not {self.value!r}")


def loads(text):
    """The value that a text holds."""
    reader = Reader(text)
    value = reader.read()
    if reader.kind != "end":
        raise ValueError(f"more text before offset {reader.at}")
    return value
