"""A case as a job for runner.c, and what the job leaves behind."""

import hashlib
import os
import re
import subprocess

import ron
import spirv
from compiler import HERE, SHIFTS
from once import Once
from values import NotExpressible, aspect, decode, element_type, encode, size_of, texel_size, vertex_format, vulkan_format

COMPARE = {"Never": "NEVER", "Less": "LESS", "Equal": "EQUAL", "LessEqual": "LESS_OR_EQUAL", "Greater": "GREATER",
           "NotEqual": "NOT_EQUAL", "GreaterEqual": "GREATER_OR_EQUAL", "Always": "ALWAYS"}  # fmt: skip
ADDRESS = {"ClampToEdge": "CLAMP_TO_EDGE", "Repeat": "REPEAT", "MirrorRepeat": "MIRRORED_REPEAT", "ClampToBorder": "CLAMP_TO_BORDER"}
BORDER = {"TransparentBlack": "TRANSPARENT_BLACK", "OpaqueBlack": "OPAQUE_BLACK", "OpaqueWhite": "OPAQUE_WHITE"}
STAGES = {"Vertex": (0, "VERTEX_BIT"), "Pixel": (4, "FRAGMENT_BIT"), "Compute": (5, "COMPUTE_BIT"), "Library": (5, "COMPUTE_BIT"),
          "Mesh": (5365, "MESH_BIT_EXT"), "Amplification": (5364, "TASK_BIT_EXT")}  # fmt: skip
TOPOLOGY = {"PointList": "POINT_LIST", "LineList": "LINE_LIST", "LineStrip": "LINE_STRIP", "TriangleList": "TRIANGLE_LIST",
            "TriangleStrip": "TRIANGLE_STRIP"}  # fmt: skip
DESCRIPTORS = {"ubo": "UNIFORM_BUFFER", "ssbo": "STORAGE_BUFFER", "utb": "UNIFORM_TEXEL_BUFFER", "stb": "STORAGE_TEXEL_BUFFER",
               "tex": "SAMPLED_IMAGE", "img": "STORAGE_IMAGE", "smp": "SAMPLER", "acs": "ACCELERATION_STRUCTURE_KHR"}  # fmt: skip
CLASSES = {"ubo": ("Cbv",), "ssbo": ("Srv", "Uav"), "utb": ("Srv",), "stb": ("Uav",), "tex": ("Srv",), "img": ("Uav",), "smp": ("Sampler",),
           "acs": ("Srv",)}  # fmt: skip


# What became of each job, by its folder.
RUNS = Once()
TIME_LIMIT = 120  # seconds


def texels(texture):
    """Texels of a texture's mips, of one layer."""
    width, height, depth = texture["size"]
    if texture["dimension"] != "D3":
        depth = 1
    return [max(width >> mip, 1) * max(height >> mip, 1) * max(depth >> mip, 1) for mip in range(texture.get("mips", 1))]


class Job:
    """A case as a job for the runner.

    Its files are named by what they hold, in a folder for all jobs, so that cases that differ in the compiler's release alone
    are one job, and run once.
    """

    def __init__(self, path, case, compiler, folder):
        self.path, self.case, self.compiler, self.folder = path, case, compiler, folder
        self.lines, self.numbers, self.kept, self.sizes = [], {}, {}, {}
        for name, buffer in case.get("buffers", {}).items():
            self.add_buffer(name, buffer)
        for name, texture in case.get("textures", {}).items():
            self.add_texture(name, texture)
        for name, sampler in case.get("samplers", {}).items():
            self.add_sampler(name, sampler)
        for name, accel in case.get("accels", {}).items():
            self.add_scene(name, accel)
        self.bound = {}
        for binding in case.get("bindings", []):
            for element, name in enumerate(binding["of"]):
                if name:
                    key = (str(binding["class"]), binding.get("space", 0), binding["register"] + element)
                    self.bound[key] = (name, binding)
        self.add_steps(case["run"], case.get("shaders", []))
        for expectation in case.get("expect", []):
            name = expectation["of"]
            if name not in self.kept:
                self.kept[name] = f"out{len(self.kept)}"
                sampled = case.get("textures", {}).get(name, {}).get("samples", 1) > 1
                self.lines.append(f"keep {self.numbers[self.read_samples(name) if sampled else name]} {self.kept[name]}")

    def file(self, data):
        path = self.folder / hashlib.sha1(data).hexdigest()[:16]
        if not path.exists():
            path.write_bytes(data)
        return path

    def number(self, name):
        self.numbers[name] = len(self.numbers)

    def add_buffer(self, name, buffer):
        numbers = buffer["data"] if "data" in buffer else [buffer.get("fill", 0)] * buffer["count"]
        data = b"".join(encode(buffer["type"], number) for number in numbers)
        self.number(name)
        self.sizes[name] = len(data)
        self.lines.append(f"buffer {len(data)} {self.file(data)}")

    def add_texture(self, name, texture):
        width, height, last = texture["size"]
        dimension, format_ = texture["dimension"], texture["format"]
        depth, layers = (last, 1) if dimension == "D3" else (1, last)
        samples, file = texture.get("samples", 1), "-"
        data = texture.get("data")
        if data and samples == 1:
            type_ = texture.get("type", element_type(format_))
            file = self.file(b"".join(encode(type_, number) for number in data))
        kind = {"D1": "1D", "D3": "3D"}.get(dimension, "2D")
        self.number(name)
        self.lines.append(f"image VK_IMAGE_TYPE_{kind} {vulkan_format(format_)} {aspect(format_)} {width} {height} {depth} {layers} "
                          f"{texture.get('mips', 1)} {samples} {file}")  # fmt: skip
        if data and samples > 1:
            self.write_samples(name, texture)

    def samples_step(self, texture, stages):
        """Begins a step that copies samples: of `stages`, entry points of samples.hlsl."""
        self.lines.append("step")
        width, height, _ = texture["size"]
        component = {"F": "float", "I": "int", "U": "uint"}[element_type(texture["format"])[0]]
        for profile, entry, flag in stages:
            module = self.compiler.compile_file(HERE / "samples.hlsl", [
                "-T", profile, "-E", entry, f"-DCOMPONENT={component}", f"-DWIDTH={width}", f"-DHEIGHT={height}"])  # fmt: skip
            self.lines.append(f"shader VK_SHADER_STAGE_{flag} {self.file(module.bytes())} {entry}")

    def write_samples(self, name, texture):
        """A draw that fills a texture of several samples."""
        channels, type_ = texel_size(texture["format"]) // size_of(element_type(texture["format"])), element_type(texture["format"])
        numbers, wide = texture["data"], type_[0] + "32"
        if texture["size"][2] > 1:
            raise NotExpressible("texels of several samples in layers")
        texels = [numbers[at : at + channels] + [0] * (4 - channels) for at in range(0, len(numbers), channels)]
        source = f"{name} samples"
        self.number(source)
        data = b"".join(encode(wide, number) for texel in texels for number in texel)
        self.lines.append(f"buffer {len(data)} {self.file(data)}")
        depth = texture["format"].startswith("Depth")
        width, height, _ = texture["size"]
        self.samples_step(texture, [("vs_6_0", "vs", "VERTEX_BIT"), ("ps_6_0", "ps_depth" if depth else "ps_color", "FRAGMENT_BIT")])
        self.lines.append(f"bind 0 {SHIFTS['Srv']} 1 0 VK_DESCRIPTOR_TYPE_STORAGE_BUFFER {self.numbers[source]} 0 {len(data)}")
        self.lines.append(f"depth {self.numbers[name]} VK_COMPARE_OP_ALWAYS 1 0" if depth else f"target {self.numbers[name]} 0 0 0 0")
        self.lines.append(f"raster VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST VK_CULL_MODE_NONE VK_FRONT_FACE_CLOCKWISE 0 0 {width} {height} 0 1 1")
        self.lines.append("draw 3 1 0 0 - -1")

    def read_samples(self, name):
        """A dispatch that reads all samples of a texture; the name of the buffer that has them."""
        texture = self.case["textures"][name]
        width, height, layers = texture["size"]
        size = width * height * layers * texture["samples"] * 16
        result = f"{name} samples"
        if result in self.numbers:
            result += " after"
        self.number(result)
        self.lines.append(f"buffer {size} -")
        self.samples_step(texture, [("cs_6_0", "read", "COMPUTE_BIT")])
        self.lines.append(f"bind 0 {SHIFTS['Srv'] + 1} 1 0 VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE {self.numbers[name]} VK_IMAGE_VIEW_TYPE_2D_ARRAY "
                          f"{vulkan_format(texture['format'])} {aspect(texture['format'])} 0 1 0 {layers}")  # fmt: skip
        self.lines.append(f"bind 0 {SHIFTS['Uav']} 1 0 VK_DESCRIPTOR_TYPE_STORAGE_BUFFER {self.numbers[result]} 0 {size}")
        self.lines.append(f"dispatch {width} {height} {layers * texture['samples']}")
        return result

    def add_sampler(self, name, sampler):
        sampler = sampler or {}
        filters = [f"VK_FILTER_{sampler.get(which, 'Nearest').upper()}" for which in ("min", "mag")]
        mip = f"VK_SAMPLER_MIPMAP_MODE_{sampler.get('mip', 'Nearest').upper()}"
        address = [f"VK_SAMPLER_ADDRESS_MODE_{ADDRESS[mode]}" for mode in sampler.get("address", ["ClampToEdge"] * 3)]
        compare = f"VK_COMPARE_OP_{COMPARE[sampler['compare']]}" if sampler.get("compare") else "-"
        low, high = sampler.get("lod", (0.0, 32.0))
        border = f"VK_BORDER_COLOR_FLOAT_{BORDER[sampler.get('border', 'TransparentBlack')]}"
        self.number(name)
        self.lines.append(" ".join(["sampler", *filters, mip, *address, compare, str(low), str(high), border, str(sampler.get("anisotropy", 1))]))

    def add_scene(self, name, accel):
        words = ["scene", len(accel["instances"])]
        for instance in accel["instances"]:
            if "aabbs" in instance or instance.get("flags"):
                raise NotExpressible("boxes and flags of instances")
            geometries = ([instance] if "triangles" in instance else []) + instance.get("geometries", [])
            words += [len(geometries), *instance.get("transform", [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0]), instance.get("id", 0), instance.get("mask", 255)]
            for geometry in geometries:
                vertices, indices = geometry["triangles"], geometry.get("indices")
                type_ = indices and self.case["buffers"][indices]["type"]
                count = self.sizes[indices] // size_of(type_) if indices else self.sizes[vertices] // 12
                words += [self.numbers[vertices], count // 3, int(geometry.get("opaque", False))]
                words += [f"VK_INDEX_TYPE_UINT{type_[1:]}", self.numbers[indices]] if indices else ["-", -1]
        self.number(name)
        self.lines.append(" ".join(map(str, words)))

    def add_steps(self, run, shaders):
        if isinstance(run, list):
            for step in run:
                self.add_steps(step, shaders)
        elif run.name == "With":
            self.add_steps(run.named["run"], run.named["shaders"])
        elif run.name == "Dispatch":
            self.add_step(shaders, run, f"dispatch {' '.join(map(str, run.leading))}")
        elif run.name == "DrawMesh":
            self.add_step(shaders, run, f"meshes {' '.join(map(str, run.leading))}")
        elif run.name == "Draw":
            indices = run.named.get("indices")
            type_ = f"VK_INDEX_TYPE_UINT{self.case['buffers'][indices]['type'][1:]} {self.numbers[indices]}" if indices else "- -1"
            first, first_instance = run.named.get("start", (0, 0))
            self.add_step(shaders, run, f"draw {run.named['vertices']} {run.named.get('instances', 1)} {first} {first_instance} {type_}")
        else:
            raise NotExpressible(f"step {run.name}")

    def add_step(self, shaders, run, command):
        modules = {}
        for shader in shaders:
            if shader["stage"] not in STAGES:
                raise NotExpressible(f"{shader['stage'].lower()} shaders by themselves")
            model, flag = STAGES[shader["stage"]]
            entry = shader.get("entry")
            module = self.compiler.compile(self.path.parent / shader["file"], entry)
            modules[shader["stage"]] = module, flag, next(name for kind, name in module.entries if kind == model)
        if "Vertex" in modules and "Pixel" in modules:
            link(modules["Vertex"][0], modules["Pixel"][0])
        self.step = len(self.lines)
        self.lines.append("step")
        places = {}
        for module, _, _ in modules.values():
            self.bind(module, places)
        for module, flag, entry in modules.values():
            self.lines.append(f"shader VK_SHADER_STAGE_{flag} {self.file(module.bytes())} {entry}")
        if command.startswith(("draw", "meshes")):
            self.add_attachments(run.named)
        for number, input_ in enumerate(run.named.get("inputs", [])):
            self.add_input(modules["Vertex"][0], number, input_)
        self.lines.append(command)

    def bind(self, module, places):
        """Gives each resource of a module a place, and binds what the case binds there."""
        resources = list(module.resources())
        names = {resource.name: resource for resource in resources}
        for resource in resources:
            counted = names.get(resource.name.removeprefix("counter.var."))
            of = counted if resource.name.startswith("counter.var.") and counted else resource
            class_ = next((it for it in SHIFTS if SHIFTS[it] <= of.original < SHIFTS[it] + 1000), None)
            if class_ not in CLASSES[of.kind]:
                raise NotExpressible("registers that the HLSL does not give")
            register = of.original - SHIFTS[class_]
            count = resource.count
            if count is None:
                ends = [key[2] + 1 - register for key in self.bound if key[:2] == (class_, of.space) and key[2] >= register]
                count = max(ends, default=1)
            place = places.setdefault((class_, of.space, register, resource is not of), len(places))
            for element in range(count):
                name, binding = self.bound.get((class_, of.space, register + element), (None, None))
                if name and resource is not of:
                    name, binding = binding.get("counter"), {"view": ron.Name("Raw")}
                if not name and resource.kind == "smp":
                    raise NotExpressible("samplers that the case does not bind: static ones")
                view = self.view(module, resource, name, binding) if name else -1
                line = f"bind 0 {place} {count} {element} VK_DESCRIPTOR_TYPE_{DESCRIPTORS[resource.kind]} {view}"
                if line not in self.lines[self.step :]:
                    self.lines.append(line)
            module.decorate(resource.variable, spirv.DESCRIPTOR_SET, 0)
            module.decorate(resource.variable, spirv.BINDING, place)

    def view(self, module, resource, name, binding):
        """The words of a descriptor after its type."""
        if resource.kind in ("smp", "acs"):
            return self.numbers[name]
        if resource.kind in ("ubo", "ssbo", "utb", "stb"):
            return self.buffer_view(module, resource, name, binding["view"], binding.get("range"))
        return self.texture_view(module, resource, name, binding["view"])

    def buffer_view(self, module, resource, name, view, part):
        if name not in self.sizes:
            raise NotExpressible("a texture where SPIR-V has a buffer")
        kind = view.name if isinstance(view, ron.Variant) else view
        format_ = view.named["format"] if kind == "Typed" else None
        texels = resource.kind in ("utb", "stb")
        # A tbuffer's rows are no texels in SPIR-V.
        if texels != (kind == "Typed") and not (resource.kind == "ssbo" and kind == "Typed" and texel_size(format_) == 16):
            raise NotExpressible(f"a view {kind} where SPIR-V has a {DESCRIPTORS[resource.kind].lower().replace('_', ' ')}")
        unit = {"Constant": 16, "Raw": 4}.get(kind) or (view.named["stride"] if kind == "Structured" else texel_size(format_))
        first, count = part or (0, self.sizes[name] // unit)
        size = count * unit if part or texels else self.sizes[name]
        if first * unit % 16:
            raise NotExpressible("a buffer view that begins at no multiple of 16 bytes")
        words = [self.numbers[name], first * unit, size]
        if texels:
            self.match_format(module, resource, format_)
            words.append(vulkan_format(format_))
        return " ".join(map(str, words))

    def match_format(self, module, resource, format_):
        """A storage image has the format of its view, or any: dxc declares what the HLSL's type suggests."""
        if resource.kind in ("img", "stb") and module.image_format(resource.image) != spirv.IMAGE_FORMATS.get(format_):
            module.forget_format(resource.image)

    def texture_view(self, module, resource, name, view):
        texture = self.case.get("textures", {}).get(name)
        if not texture:
            raise NotExpressible("a buffer where SPIR-V has a texture")
        arguments = view.named if isinstance(view, ron.Variant) else {}
        format_ = arguments.get("format") or texture["format"]
        layers_of = 1 if texture["dimension"] == "D3" else texture["size"][2]
        mip, mips = arguments.get("mips") or (0, texture.get("mips", 1))
        layer, layers = arguments.get("layers") or (0, layers_of)
        if resource.kind == "img":
            mips = 1
            self.match_format(module, resource, format_)
        if not resource.arrayed:
            layers = 6 if resource.dimension == "CUBE" else 1
        elif resource.dimension == "CUBE":
            layers -= layers % 6
        if (resource.dimension == "1D") != (texture["dimension"] == "D1") or (resource.dimension == "3D") != (texture["dimension"] == "D3"):
            raise NotExpressible("a texture seen with another dimension")
        type_ = resource.dimension + ("_ARRAY" if resource.arrayed else "")
        return f"{self.numbers[name]} VK_IMAGE_VIEW_TYPE_{type_} {vulkan_format(format_)} {aspect(format_)} {mip} {mips} {layer} {layers}"

    def add_attachments(self, draw):
        textures, clears = self.case.get("textures", {}), draw.get("clear", [])
        size, views = (0, 0), 1
        for slot, name in enumerate(draw.get("targets", [])):
            clear = clears[slot] if slot < len(clears) else (0, 0, 0, 0)
            self.lines.append(f"target {self.numbers[name] if name else -1} {' '.join(str(it) for it in clear)}")
        for name in [*draw.get("targets", []), draw.get("depth")]:
            if name:
                size = textures[name]["size"][:2]
                if "MULTIVIEW" in self.case.get("requires", []):
                    views = textures[name]["size"][2]
        if draw.get("depth"):
            compare = f"VK_COMPARE_OP_{COMPARE[draw.get('depth_compare', 'LessEqual')]}"
            self.lines.append(f"depth {self.numbers[draw['depth']]} {compare} {int(draw.get('depth_write', True))} {draw.get('depth_clear', 1.0)}")
        viewport = [*draw.get("viewport", (0, 0, *size))]
        viewport += [0.0, 1.0] if len(viewport) == 4 else []
        cull = f"{draw['cull'].upper()}_BIT" if draw.get("cull") else "NONE"
        front = "COUNTER_CLOCKWISE" if draw.get("front") == "CounterClockwise" else "CLOCKWISE"
        topology = TOPOLOGY.get(draw.get("topology", "TriangleList"))
        if not topology:
            raise NotExpressible(f"topology {draw['topology']}")
        self.lines.append(f"raster VK_PRIMITIVE_TOPOLOGY_{topology} VK_CULL_MODE_{cull} VK_FRONT_FACE_{front} {' '.join(map(str, viewport))} {views}")

    def add_input(self, vertex, binding, input_):
        """A vertex attribute, in a binding of its own."""
        semantic, index = input_["semantic"].upper(), input_.get("index", 0)
        for _, name, first, location, rows in vertex.interface(spirv.INPUT):
            if name == semantic and first <= index < first + rows:
                break
        else:
            return
        format_ = input_["format"]
        kind, width, count = re.fullmatch(r"(\D+)(\d+)(?:x(\d))?.*", format_).groups() if "_" not in format_ else ("", 32, 1)
        stride = input_.get("stride", int(width) // 8 * int(count or 1))
        rate = "INSTANCE" if input_.get("per_instance") else "VERTEX"
        self.lines.append(f"vertices {binding} {self.numbers[input_['buffer']]} {stride} VK_VERTEX_INPUT_RATE_{rate}")
        self.lines.append(f"attribute {location + index - first} {binding} {vertex_format(format_)} {input_.get('offset', 0)}")

    def run(self, runner, driver):
        """Runs the job on a driver: None, or why it could not. What it leaves is in the folder of its name."""
        text = "\n".join(self.lines) + "\n"
        self.place = self.folder / hashlib.sha1(f"{driver} {text}".encode()).hexdigest()[:16]
        return RUNS.get(self.place, lambda: self.run_here(text, runner, driver))

    def run_here(self, text, runner, driver):
        self.place.mkdir(exist_ok=True)
        (self.place / "job").write_text(text)
        environment = {**os.environ, "VK_DRIVER_FILES": driver, "VK_ICD_FILENAMES": driver}
        try:
            run = subprocess.run([runner, "job"], cwd=self.place, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                 errors="replace", timeout=TIME_LIMIT)  # fmt: skip
        except subprocess.TimeoutExpired:
            return f"the driver does not come to an end in {TIME_LIMIT} s"
        lines = run.stderr.strip().splitlines() if run.returncode > 0 else []
        return (lines or [f"the driver crashes: signal {-run.returncode}"])[-1] if run.returncode else None

    def left(self, expectation):
        """Bytes and type of what an expectation speaks of."""
        name = expectation["of"]
        data = (self.place / self.kept[name]).read_bytes()
        if name in self.sizes:
            return data, self.case["buffers"][name]["type"]
        texture = self.case["textures"][name]
        if texture.get("samples", 1) > 1:
            return self.left_samples(texture, data, expectation)
        counts, size, mip = texels(texture), texel_size(texture["format"]), expectation.get("mip", 0)
        start = (expectation.get("layer", 0) * sum(counts) + sum(counts[:mip])) * size
        return data[start : start + counts[mip] * size], texture.get("type", element_type(texture["format"]))

    @staticmethod
    def left_samples(texture, data, expectation):
        """Of texels as samples.hlsl reads them, one sample or the average of all."""
        type_ = element_type(texture["format"])
        channels, count = texel_size(texture["format"]) // size_of(type_), texture["samples"]
        values = decode(type_[0] + "32", data)
        plane = texture["size"][0] * texture["size"][1] * 4
        first = expectation.get("layer", 0) * count
        planes = [values[(first + sample) * plane : (first + sample + 1) * plane] for sample in range(count)]
        if "sample" in expectation:
            numbers = planes[expectation["sample"]]
        else:
            numbers = [sum(numbers) / count for numbers in zip(*planes, strict=True)]
        return b"".join(encode(type_, number) for index, number in enumerate(numbers) if index % 4 < channels), type_


def link(vertex, pixel):
    """Gives the pixel shader's inputs the locations of the outputs with their semantics."""
    outputs = {(name, first + row): location + row for _, name, first, location, rows in vertex.interface(spirv.OUTPUT) for row in range(rows)}
    for variable, name, first, _, _ in pixel.interface(spirv.INPUT):
        if (name, first) not in outputs:
            raise NotExpressible(f"an input of the pixel shader that the vertex shader does not write: {name}{first}")
        pixel.decorate(variable, spirv.LOCATION, outputs[name, first])
