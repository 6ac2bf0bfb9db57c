#!/usr/bin/env python3
"""Checks what the cases expect against another compiler: dxc's SPIR-V of the same HLSL, on a Vulkan driver, with no part of ours.

    tests/oracle/check.py [--differences] [--keep FOLDER] [CASE...]

Of each case of DXIL (tests/fixtures/*/*.dxil.dxcase.ron, or those that are named) it takes the HLSL whose head says how the case's
shaders were compiled, compiles it with the same options and `-spirv`, runs that on lavapipe by runner.c with the case's resources,
and compares what came out with what the case expects, under the case's own rules. SwiftShader, with waves of four lanes, runs what
lavapipe cannot.

Where the two differ, differences.txt must say so and why; a difference that it does not list, a driver that fails where it does
not say so, and a line of it that nothing differs by any more, make the run fail. Cases that cannot be put to the other compiler, or
need what no driver has, are counted by their reasons.

--differences lists all that differs and all that was not checked; --keep FOLDER leaves the jobs there, to run one by hand.

It needs: $DXC (by default `dxc`), any release from 1.7 on that was built with SPIR-V; a C compiler with Vulkan's headers and
loader; lavapipe 25 and SwiftShader, whose manifests are $LAVAPIPE and $SWIFTSHADER (by default below $DX_TOOLS).
"""

import argparse
import collections
import concurrent.futures
import fnmatch
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import ron
from compiler import HERE, TOOLS, Compiler
from job import Job
from values import NotExpressible, differences

FIXTURES = HERE.parent / "fixtures"
LAVAPIPE = os.environ.get("LAVAPIPE", str(TOOLS / "lavapipe/icd.json"))
SWIFTSHADER = os.environ.get("SWIFTSHADER", str(TOOLS / "swiftshader/vk_swiftshader_icd.json"))


class DriverFailed(Exception):
    """No driver carries the case out; says what the last words were."""


class Line:
    """A line of differences.txt: elements of a resource, or of none, where a driver fails."""

    def __init__(self, number, reason, case, of=None, elements=""):
        self.number, self.reason, self.case, self.of, self.used = number, reason, case, of, 0
        self.spans = [(int(first), int(last or first)) for first, last in re.findall(r"(\d+)(?:-(\d+))?", elements)]
        if elements == "*":
            self.spans = [(0, math.inf)]

    def holds(self, case, of, element):
        if not fnmatch.fnmatchcase(case, self.case) or (self.of is None) != (of is None):
            return False
        return of is None or fnmatch.fnmatchcase(of, self.of) and any(first <= element <= last for first, last in self.spans)


class Known:
    """differences.txt: reasons, and under each the elements of cases that differ for it."""

    def __init__(self, path):
        self.name, self.lines, reason = path.name, [], None
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if found := re.fullmatch(r"\[(.+)\]", line):
                reason = found[1]
            elif line and not line.startswith("#"):
                self.lines.append(Line(number, reason, *line.split()))

    def reason(self, case, of=None, element=0):
        """Why an element differs, or why no driver carries the case out."""
        for line in self.lines:
            if line.holds(case, of, element):
                line.used += 1
                return line.reason
        return None

    def elements(self):
        """How many elements differ for each reason."""
        counts = collections.Counter()
        for line in self.lines:
            if line.used and line.of is not None:
                counts[line.reason] += line.used
        return counts

    def stale(self, cases):
        """Lines about cases that were there, and that nothing was found by."""
        for line in self.lines:
            if not line.used and any(fnmatch.fnmatchcase(case, line.case) for case in cases):
                yield f"{self.name}:{line.number}: {line.case}: it is as expected now; take the line out"


def check(path, compiler, runner, folder):
    """Checks a case: the number of elements that were compared, and those that differ: (resource, element, got, expected)."""
    case = ron.loads(path.read_text())
    job = Job(path, case, compiler, folder)
    # A case about waves is about one number of lanes: lavapipe's are 8, SwiftShader's 4.
    drivers = {None: [LAVAPIPE, SWIFTSHADER], 4: [SWIFTSHADER]}.get(case.get("wave"), [LAVAPIPE])
    failures = []
    for driver in drivers:
        failure = job.run(runner, driver)
        if not failure:
            break
        failures.append(failure)
    if len(failures) == len(drivers):
        raise DriverFailed(failures[0])
    count, found = 0, []
    for expectation in case["expect"]:
        data, type_ = job.left(expectation)
        place = "".join(f".{key}{expectation[key]}" for key in ("mip", "layer", "sample") if key in expectation)
        values = expectation["values"]
        count += len(values[0]) if isinstance(values[0], list) else len(values)
        found += [(expectation["of"] + place, *it) for it in differences(expectation, type_, data)]
    return count, found


def report(names, jobs, known, everything):
    """Prints what was found; how much of it is new."""
    checked, equal, elements, differ, new, reasons = 0, 0, 0, 0, 0, collections.Counter()
    for name, job in zip(names, jobs, strict=True):
        try:
            count, found = job.result()
        except NotExpressible as why:
            reasons[str(why)] += 1
            if everything:
                print(f"{name}: not expressible: {why}")
            continue
        except DriverFailed as failure:
            reason = known.reason(name)
            new += not reason
            reasons[reason] += 1
            if everything or not reason:
                print(f"{name}: {failure}{f': {reason}' if reason else ''}")
            continue
        checked, equal, elements, differ = checked + 1, equal + (not found), elements + count, differ + len(found)
        shown = 0
        for of, element, got, expected in found:
            reason = known.reason(name, of, element)
            new += not reason
            if everything or not reason and shown < 10:
                shown += 1
                print(f"{name}: {of}[{element}]: SPIR-V gives {got}, expected {expected}{f': {reason}' if reason else ''}")
    stale = list(known.stale(names))
    for line in stale:
        print(line)
    print(f"{checked} of {len(names)} cases checked, {elements} elements: {equal} cases equal, {checked - equal} with {differ} elements that differ")
    for reason, count in known.elements().most_common():
        print(f"  {count}: {reason}")
    print(f"{len(names) - checked} cases not expressible")
    for reason, count in reasons.most_common():
        print(f"  {count}: {reason}")
    if new:
        print(f"{new} differences that {known.name} does not explain")
    if 2 * checked < len(names):
        print("fewer than half of the cases could be checked")
        return 1
    return new + len(stale)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--differences", action="store_true", help="list every element that differs, and every case that was not checked")
    parser.add_argument("--keep", type=pathlib.Path, metavar="FOLDER", help="leave the jobs there")
    parser.add_argument("cases", nargs="*", type=pathlib.Path)
    arguments = parser.parse_args()
    cases = [case.resolve() for case in arguments.cases] or sorted(FIXTURES.glob("*/*.dxil.dxcase.ron"))
    names = [f"{case.parent.name}/{case.name.removesuffix('.dxcase.ron')}" for case in cases]
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as threads:
        folder = (arguments.keep or pathlib.Path(scratch)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        runner, compiler = folder / "runner", Compiler(folder)
        subprocess.run([os.environ.get("CC", "cc"), "-O1", "-o", runner, HERE / "runner.c", "-lvulkan"], check=True)
        jobs = [threads.submit(check, case, compiler, runner, folder) for case in cases]
        return 1 if report(names, jobs, Known(HERE / "differences.txt"), arguments.differences) else 0


if __name__ == "__main__":
    sys.exit(main())
