"""What a SPIR-V module declares, as far as a job needs it; and the few words of it that a job changes.

Numbers are those of the SPIR-V specification, 1.6.
"""

import array

MAGIC = 0x07230203
# Instructions.
OP_NAME, OP_EXTENSION, OP_ENTRY_POINT, OP_CAPABILITY, OP_TYPE_INT, OP_TYPE_VECTOR, OP_TYPE_MATRIX = 5, 10, 15, 17, 21, 23, 24
OP_TYPE_IMAGE, OP_TYPE_SAMPLER, OP_TYPE_ARRAY, OP_TYPE_RUNTIME_ARRAY, OP_TYPE_STRUCT, OP_TYPE_POINTER = 25, 26, 28, 29, 30, 32
OP_CONSTANT, OP_VARIABLE, OP_DECORATE, OP_PARTITION, OP_TYPE_ACCELERATION_STRUCTURE, OP_DECORATE_STRING = 43, 59, 71, 5296, 5341, 5632
PARTITIONED = 5297  # a capability
# Decorations.
BLOCK, LOCATION, BINDING, DESCRIPTOR_SET, USER_SEMANTIC = 2, 30, 33, 34, 5635
# Storage classes.
UNIFORM_CONSTANT, INPUT, UNIFORM, OUTPUT, STORAGE_BUFFER = 0, 1, 2, 3, 12
DIMENSIONS = {0: "1D", 1: "2D", 2: "3D", 3: "CUBE", 5: "BUFFER"}
STORAGE_IMAGE_READ_WITHOUT_FORMAT, STORAGE_IMAGE_WRITE_WITHOUT_FORMAT = 55, 56
FORMAT_UNKNOWN = 0
# Image formats by the names of wgpu::TextureFormat, those that dxc declares by itself.
IMAGE_FORMATS = {
    "Rgba32Float": 1, "Rgba16Float": 2, "R32Float": 3, "Rgba8Unorm": 4, "Rgba8Snorm": 5, "Rg32Float": 6, "Rg16Float": 7, "R16Float": 9,
    "Rgba32Sint": 21, "Rgba16Sint": 22, "Rgba8Sint": 23, "R32Sint": 24, "Rg32Sint": 25, "Rgba32Uint": 30, "Rgba16Uint": 31,
    "Rgba8Uint": 32, "R32Uint": 33, "Rg32Uint": 35, "R16Uint": 38, "R64Uint": 40,
}  # fmt: skip


def string_of(words):
    data = array.array("I", words).tobytes()
    return data[: data.index(0)].decode()


class Resource:
    """A variable that is bound: `kind` is ubo, ssbo, utb or stb (texel buffers), tex or img (storage), smp, or acs."""

    def __init__(self, kind, variable, name, set_, binding, count, dimension=None, arrayed=False, multisampled=False, image=None):
        self.kind, self.variable, self.name, self.space, self.original = kind, variable, name, set_, binding
        self.count = count  # None: an array without bounds
        self.dimension, self.arrayed, self.multisampled = dimension, arrayed, multisampled
        self.image = image  # id of the image type


class Module:
    """A module of one entry point, or several that share what they declare."""

    def __init__(self, data):
        self.words = array.array("I", data)
        if len(self.words) < 5 or self.words[0] != MAGIC:
            raise ValueError("no SPIR-V")
        self.names, self.decorations, self.semantics, self.defined, self.variables, self.entries = {}, {}, {}, {}, [], []
        self.capabilities = set()
        partitions, unused, at = False, [], 5
        while at < len(self.words):
            size, code = self.words[at] >> 16, self.words[at] & 0xFFFF
            if not size or at + size > len(self.words):
                raise ValueError(f"an instruction of {size} words at word {at}")
            operands = self.words[at + 1 : at + size]
            if code == OP_CAPABILITY:
                self.capabilities.add(operands[0])
                if operands[0] == PARTITIONED:
                    unused.append((at, size))
            elif code == OP_EXTENSION and string_of(operands) == "SPV_NV_shader_subgroup_partitioned":
                unused.append((at, size))
            elif code == OP_NAME:
                self.names[operands[0]] = string_of(operands[1:])
            elif code == OP_DECORATE:
                # The last operand's place, so that it can be changed.
                self.decorations.setdefault(operands[0], {})[operands[1]] = at + size - 1
            elif code == OP_DECORATE_STRING and operands[1] == USER_SEMANTIC:
                self.semantics[operands[0]] = string_of(operands[2:])
            elif code == OP_ENTRY_POINT:
                self.entries.append((operands[0], string_of(operands[2:])))
            elif code == OP_VARIABLE:
                self.variables.append((operands[1], operands[0], operands[2]))
            elif OP_TYPE_INT <= code <= OP_TYPE_POINTER or code in (OP_CONSTANT, OP_TYPE_ACCELERATION_STRUCTURE):
                self.defined[operands[1 if code == OP_CONSTANT else 0]] = (code, list(operands), at)
            elif code == OP_PARTITION:
                partitions = True
            at += size
        if not partitions:
            # dxc declares it for any reduction.
            self.capabilities.discard(PARTITIONED)
            self.left_out = unused

    def decoration(self, id_, kind):
        place = self.decorations.get(id_, {}).get(kind)
        return None if place is None else self.words[place]

    def decorate(self, id_, kind, value):
        """Changes a decoration that is there."""
        self.words[self.decorations[id_][kind]] = value

    def elements(self, type_):
        """Number of elements of an array, or of arrays of them, and the type of one; None where it has no bounds."""
        count = 1
        while True:
            code, operands, _ = self.defined.get(type_, (0, (), 0))
            if code == OP_TYPE_ARRAY:
                count = count and count * self.defined[operands[2]][1][2]
            elif code == OP_TYPE_RUNTIME_ARRAY:
                count = None
            else:
                return count, type_
            type_ = operands[1]

    def resources(self):
        for variable, pointer, storage in self.variables:
            if storage not in (UNIFORM_CONSTANT, UNIFORM, STORAGE_BUFFER):
                continue
            count, type_ = self.elements(self.defined[pointer][1][2])
            code, operands, _ = self.defined[type_]
            place = (variable, self.names.get(variable, ""), self.decoration(variable, DESCRIPTOR_SET), self.decoration(variable, BINDING), count)
            if code == OP_TYPE_IMAGE:
                buffer, sampled = operands[2] == 5, operands[6] == 1
                kind = ("utb" if sampled else "stb") if buffer else "tex" if sampled else "img"
                yield Resource(kind, *place, DIMENSIONS.get(operands[2]), bool(operands[4]), bool(operands[5]), type_)
            elif code == OP_TYPE_SAMPLER:
                yield Resource("smp", *place)
            elif code == OP_TYPE_ACCELERATION_STRUCTURE:
                yield Resource("acs", *place)
            elif code == OP_TYPE_STRUCT:
                block = storage == UNIFORM and BLOCK in self.decorations.get(type_, {})
                yield Resource("ubo" if block else "ssbo", *place)

    def interface(self, storage):
        """Variables with a location that are inputs or outputs: (id, semantic, index, location, rows)."""
        for variable, pointer, found in self.variables:
            location = self.decoration(variable, LOCATION)
            if found != storage or location is None:
                continue
            semantic = self.semantics.get(variable, "").upper()
            name = semantic.rstrip("0123456789")
            rows, type_ = self.elements(self.defined[pointer][1][2])
            code, operands, _ = self.defined.get(type_, (0, (), 0))
            if code == OP_TYPE_MATRIX:
                rows *= operands[2]
            yield variable, name, int(semantic[len(name) :] or 0), location, rows

    def image_format(self, image):
        return self.words[self.defined[image][2] + 8]

    def forget_format(self, image):
        """Makes a storage image one of any format."""
        self.words[self.defined[image][2] + 8] = FORMAT_UNKNOWN
        self.any_format = True

    any_format = False
    left_out = ()

    def bytes(self):
        words = self.words[:]
        for at, size in sorted(self.left_out, reverse=True):
            del words[at : at + size]
        if self.any_format:
            capabilities = []
            for capability in (STORAGE_IMAGE_READ_WITHOUT_FORMAT, STORAGE_IMAGE_WRITE_WITHOUT_FORMAT):
                capabilities += [2 << 16 | OP_CAPABILITY, capability]
            words = words[:5] + array.array("I", capabilities) + words[5:]
        return words.tobytes()
