"""Numbers and formats of cases, and how two numbers compare: as src/cases has them."""

import math
import re
import struct

import ron


class NotExpressible(Exception):
    """The case cannot be put to the other compiler; says why, in few words that are counted."""


TYPES = {"U8": "B", "I8": "b", "U16": "H", "I16": "h", "F16": "e", "U32": "I", "I32": "i", "F32": "f", "U64": "Q", "I64": "q", "F64": "d"}


def size_of(type_):
    return int(type_[1:]) // 8


def encode(type_, number):
    """The bytes of an element. Integers of either sign that fit the bits; floats rounded once."""
    if type_[0] != "F":
        return (int(number) & (1 << 8 * size_of(type_)) - 1).to_bytes(size_of(type_), "little")
    try:
        return struct.pack("<" + TYPES[type_], number)
    except OverflowError:
        return struct.pack("<" + TYPES[type_], math.copysign(math.inf, number))


def decode(type_, data):
    count = len(data) // size_of(type_)
    return struct.unpack(f"<{count}{TYPES[type_]}", data[: count * size_of(type_)])


def ordinal(type_, value):
    """A value's place among those of its type: neighbours differ by one, and both zeros are 0."""
    if type_[0] != "F":
        return value
    bits = int.from_bytes(struct.pack("<" + TYPES[type_], value), "little")
    sign = 1 << 8 * size_of(type_) - 1
    return bits if bits < sign else sign - bits


def equal(type_, got, expected, rule):
    """As src/cases/compare.rs has it."""
    if got != got or expected != expected:
        return got != got and expected != expected
    if encode(type_, got) == encode(type_, expected):
        return True
    name, limit = (rule.name, rule.leading[0]) if isinstance(rule, ron.Variant) else (rule, 0)
    if name == "Ulp":
        return abs(ordinal(type_, got) - ordinal(type_, expected)) <= limit
    distance = 0 if got == expected else abs(got - expected)
    if name == "Abs":
        return distance <= limit
    if name == "Rel":
        return math.isfinite(expected) and distance <= limit * abs(expected)
    return False


def differences(expectation, type_, data):
    """Elements of one expectation that differ: (element, got, expected)."""
    type_ = expectation.get("as", type_)
    values, first, rule = expectation["values"], expectation.get("from", 0), expectation.get("rule", "Exact")
    got = decode(type_, data)
    best = None
    for numbers in values if isinstance(values[0], list) else [values]:
        expected = decode(type_, b"".join(encode(type_, number) for number in numbers))
        pairs = zip(range(first, first + len(expected)), got[first:], expected, strict=False)
        found = [(element, a, b) for element, a, b in pairs if not equal(type_, a, b, rule)]
        if best is None or len(found) < len(best):
            best = found
    return best


VULKAN_FORMATS = {
    "Rgb9e5Ufloat": "E5B9G9R9_UFLOAT_PACK32", "Rgb10a2Uint": "A2B10G10R10_UINT_PACK32", "Rgb10a2Unorm": "A2B10G10R10_UNORM_PACK32",
    "Rg11b10Ufloat": "B10G11R11_UFLOAT_PACK32", "Depth16Unorm": "D16_UNORM", "Depth32Float": "D32_SFLOAT",
    "Rgba8UnormSrgb": "R8G8B8A8_SRGB", "Bgra8UnormSrgb": "B8G8R8A8_SRGB",
    "Unorm10_10_10_2": "A2B10G10R10_UNORM_PACK32", "Unorm8x4Bgra": "B8G8R8A8_UNORM",
}  # fmt: skip


def vulkan_format(name):
    """Vulkan's name for one of wgpu::TextureFormat."""
    if name in VULKAN_FORMATS:
        return VULKAN_FORMATS[name]
    found = re.fullmatch(r"([RGBA]|[RrGgBbAa]+?)(\d+)(Unorm|Snorm|Uint|Sint|Float)", name)
    if not found:
        raise NotExpressible(f"format {name}")
    kind = {"Float": "SFLOAT"}.get(found[3], found[3].upper())
    return "".join(channel + found[2] for channel in found[1].upper()) + "_" + kind


def vertex_format(name):
    """Vulkan's name for one of wgpu::VertexFormat."""
    if name in VULKAN_FORMATS:
        return VULKAN_FORMATS[name]
    kind, width, count = re.fullmatch(r"([A-Z][a-z]+)(\d+)(?:x(\d))?", name).groups()
    kind = {"Float": "SFLOAT"}.get(kind, kind.upper())
    return "".join(channel + width for channel in "RGBA"[: int(count or 1)]) + "_" + kind


def aspect(format_):
    return "VK_IMAGE_ASPECT_DEPTH_BIT" if format_.startswith("Depth") else "VK_IMAGE_ASPECT_COLOR_BIT"


def element_type(format_):
    """The type in which a case writes a format's texels, as src/cases/formats.rs has it."""
    if re.match("Rgb10a2|Rg11b10|Rgb9e5", format_):
        return "U32"
    width = next(it for it in ("64", "32", "16", "8") if it in format_)
    kind = "F" if "Float" in format_ else "I" if re.search("Sint|Snorm", format_) else "U"
    return kind + width


def texel_size(format_):
    if re.match("Rgb10a2|Rg11b10|Rgb9e5", format_):
        return 4
    channels = 1 if format_.startswith("Depth") else len(re.match("[A-Z][a-z]*", format_)[0])
    return channels * size_of(element_type(format_))
