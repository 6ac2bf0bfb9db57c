"""The SPIR-V of the HLSL behind compiled shaders."""

import hashlib
import os
import pathlib
import re
import shlex
import subprocess

import spirv
from once import Once
from values import NotExpressible

HERE = pathlib.Path(__file__).resolve().parent
TOOLS = pathlib.Path(os.environ.get("DX_TOOLS", pathlib.Path.home() / ".cache/dx-tools"))
DXC = shlex.split(os.environ.get("DXC", "dxc"))

# A register's class, of any space, begins at these binding numbers. Direct3D's layouts and its SV_Position.w; semantics by name.
SHIFTS = {"Cbv": 0, "Srv": 1000, "Sampler": 2000, "Uav": 3000}
OPTIONS = """-spirv -fspv-target-env=vulkan1.3 -fvk-use-dx-layout -fvk-use-dx-position-w -fspv-reflect -fvk-b-shift 0 all
    -fvk-t-shift 1000 all -fvk-s-shift 2000 all -fvk-u-shift 3000 all -fvk-support-nonzero-base-instance""".split()
# Options of the fixtures that concern the container alone, with the number of their arguments.
CONTAINER_OPTIONS = {"-Fo": 1, "-Fc": 1, "-Fd": 1, "-validator-version": 1, "-impl": 1, "-Zi": 0, "-Zs": 0, "-Qembed_debug": 0,
                     "-Qstrip_reflect": 0, "-Qpdb_in_private": 0, "-nologo": 0}  # fmt: skip
# Entry points of libraries: the kind and the name.
ENTRY = re.compile(r'\[shader\("(\w+)"\)\](?:\s*\[[^\]]*\])*\s*\w+\s+(\w+)\(', re.IGNORECASE)
# Messages of dxc about what bits.hlsl replaces, and what waves.hlsl does.
BITS = re.compile("limited to 32-bit width components|SSign|Expected 32-bit int type for Base operand")
WAVES = re.compile(r"\b(WaveMatch|WaveMultiPrefix\w+|QuadAny|QuadAll)\b")
# Capabilities of SPIR-V that no driver here has, and those for what a case writes to a place of ours.
MISSING = {
    42: "LOD clamps: the drivers lack shaderResourceMinLod", 4436: "16-bit inputs and outputs: the drivers lack storageInputOutput16",
    5016: "64-bit images: the drivers lack shaderImageInt64Atomics", 5013: "SV_StencilRef, which a case reads from a target", 5297: "WaveMatch and WaveMultiPrefix: the drivers lack SPV_NV_shader_subgroup_partitioned",
}  # fmt: skip


class Compiler:
    """Compiles the HLSL behind compiled shaders; each once."""

    def __init__(self, folder):
        self.folder, self.commands, self.compiled = folder, Once(), Once()

    @staticmethod
    def commands_of(folder):
        """The HLSL file and the command behind each compiled shader of a folder."""
        commands = {}
        for source in sorted(folder.glob("*.hlsl")):
            for tool, line in re.findall(r"^// (dxc\d*) (-.*)", source.read_text(), re.MULTILINE):
                words = shlex.split(line)
                if "-Fo" in words:
                    commands[words[words.index("-Fo") + 1]] = (source, tool, words)
        return commands

    def source(self, path):
        """The HLSL file and the command that made a shader."""
        commands = self.commands.get(path.parent, lambda: self.commands_of(path.parent))
        if path.name not in commands:
            raise NotExpressible("no HLSL: made from LLVM assembly")
        return commands[path.name]

    def compile(self, path, entry):
        """The SPIR-V of a shader."""
        source, tool, words = self.source(path)
        options, at = [], 0
        while at < len(words):
            if words[at] in CONTAINER_OPTIONS:
                at += CONTAINER_OPTIONS[words[at]]
            else:
                options.append(words[at])
            at += 1
        profile = options.index("-T") + 1
        if options[profile].startswith("lib"):
            kinds = {name: kind.lower() for kind, name in ENTRY.findall(source.read_text())}
            entry = entry or next(iter(kinds), None)
            if kinds.get(entry) != "compute":
                raise NotExpressible(f"an entry point of a library: {kinds.get(entry, 'a function')}")
            options[profile] = options[profile].replace("lib", "cs").replace("_x", "_8")
            options += ["-E", entry]
        if tool == "dxc16" and "-HV" not in options and not WAVES.search(source.read_text()):
            options += ["-HV", "2018"]  # what it is if nothing is said; templates are of 2021
        options[profile] = options[profile].replace("_6_9", "_6_8")
        return self.compile_file(source, options)

    def compile_file(self, source, options):
        """The SPIR-V of an HLSL file."""
        code, messages = self.compiled.get((source, *options), lambda: self.code_of(source, options))
        if code is None:
            raise NotExpressible(f"dxc: {messages}")
        module = spirv.Module(code)
        for capability in module.capabilities & MISSING.keys():
            raise NotExpressible(MISSING[capability])
        return module

    def code_of(self, source, options):
        out = self.folder / f"{hashlib.sha1(repr((source, options)).encode()).hexdigest()[:16]}.spv"
        waves = WAVES.search(source.read_text())
        file = self.with_functions("waves.hlsl", source, out) if waves else source.name
        code, messages = self.run([*options, file], source.parent, out)
        if BITS.search(messages):
            return self.run([*options, self.with_functions("bits.hlsl", source, out)], source.parent, out)
        return code, messages

    @staticmethod
    def with_functions(functions, source, out):
        """A file that holds functions of ours for some of the compiler's, and then the source."""
        file = out.with_suffix(".hlsl")
        file.write_text(f'{(HERE / functions).read_text()}\n#line 1\n{source.read_text()}')
        return str(file)

    @staticmethod
    def run(arguments, folder, out):
        """The SPIR-V, if any, and what was wrong with the source."""
        command = [*DXC, *OPTIONS, *arguments, "-Fo", str(out)]
        run = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
        if not run.returncode and out.exists():
            return out.read_bytes(), ""
        lines = [it for it in (run.stderr + run.stdout).splitlines() if "error" in it] or ["it crashes"]
        return None, re.sub(r"^.*?error: ", "", lines[0])[:110]
