"""What the transports of a job have counted is what `tutti plan` says of it: messages and bytes by medium, rank by rank.

Every collective with every preset that it has, by every medium that may be forced, over tcp, and as tutti chooses. But
for make test-long, only every third preset in each of these ways, another third in the next."""
import os
import subprocess
import sys
import tempfile

BIN = os.environ["TUTTI_BIN"]
PROGRAM = os.path.join(os.path.dirname(BIN), "tests", "system_media")
RANKS = 4
LONG = os.environ.get("TUTTI_TEST_LONG") == "1"
SIZES = (4 * RANKS * 63, 4 * RANKS * 12347)  # in cells, where they may go there; in many slots, the last one short
SETTINGS = (  # name, environment, buffers of tutti_alloc, options of plan
    ("as chosen", {}, False, []),
    ("cells", {"TUTTI_MEDIUM": "cell"}, False, []),
    ("slots", {"TUTTI_MEDIUM": "slot"}, False, []),
    ("published", {"TUTTI_MEDIUM": "published"}, False, []),
    ("lent", {"TUTTI_MEDIUM": "lent"}, True, []),
    ("read", {"TUTTI_MEDIUM": "read"}, False, []),
    ("tcp", {"TUTTI_NODES": "1,1,1,1", "TUTTI_NICS": "lo"}, False, ["--nodes", "4"]),
    ("two machines", {"TUTTI_NODES": "2,2", "TUTTI_NICS": "lo"}, False, ["--nodes", "2"]),
)


def names(section):
    """What `tutti plan --help` lists there."""
    text = subprocess.run([f"{BIN}/tutti", "plan", "--help"], check=True, stdout=subprocess.PIPE, text=True).stdout
    if section == "collectives":
        return text.split("\ncollectives: ")[1].split("\n\n")[0].replace("\n", " ").replace(" ", "").split(",")
    lines = text.split("presets:\n")[1].split("\n")
    return [line.split()[0] for line in lines if line.startswith("  ") and line[2] != " "]


def plan(collective, preset, setting, graph):
    """Of each size {(rank, medium): [(least, most) of messages, bytes, slots]}; None: there is no such plan."""
    _, environment, alloc, options = setting
    command = [f"{BIN}/tutti", "plan", collective, "-n", str(RANKS), "--params", preset, "--by-rank",
               "--sizes", ",".join(map(str, SIZES)), *options, *(["--alloc"] if alloc else [])]
    if collective.startswith("neighbor"):
        command += ["--graph", graph]
    ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                         env={**os.environ, **environment})
    if ran.returncode != 0:
        return None
    foreseen = []
    for part in ran.stdout.split("how it goes, ")[1:]:
        sums = {}
        for line in part.split("\n\n")[0].split("\n")[2:]:
            rank, level, medium, *numbers = line.replace(" .. ", "..").split()
            ranges = [tuple(map(int, (number + ".." + number).split("..")[:2] if ".." not in number else number.split("..")))
                      for number in numbers]
            before = sums.get((int(rank), medium), [(0, 0)] * 3)
            sums[int(rank), medium] = [(a[0] + b[0], a[1] + b[1]) for a, b in zip(before, ranges)]
        foreseen.append(sums)
    return foreseen


def run(cases, size, setting, folder):
    """{case: {(rank, medium): [messages, bytes, slots]}}"""
    _, environment, alloc, _ = setting
    with open(f"{folder}/cases", "w", encoding="utf8") as file:
        file.writelines(f"{collective} {preset}\n" for collective, preset in cases)
    command = [f"{BIN}/tutti", "run", "-n", str(RANKS), PROGRAM, f"{folder}/cases", f"{folder}/results", str(size)]
    subprocess.run(command + (["alloc"] if alloc else []), check=True, env={**os.environ, **environment})
    counted = {case: {} for case in cases}
    for rank in range(RANKS):
        with open(f"{folder}/results.{rank}", encoding="utf8") as file:
            for line in file:
                case, number, medium, *counts = line.strip().split("|")
                counted[tuple(case.split(" ", 1))][int(number), medium] = list(map(int, counts))
    return counted


def differences(what, foreseen, counted, exactly):
    for key in sorted(set(foreseen) | set(counted)):
        ranges, counts = foreseen.get(key, [(0, 0)] * 3), counted.get(key, [0] * 3)
        fits = all(low <= count <= high for (low, high), count in zip(ranges, counts))
        if not fits or (exactly and any(low != high for low, high in ranges[:2])):
            yield f"{what}: rank {key[0]}, {key[1]}: messages, bytes, slots {counts}; foreseen {ranges}"


def main():
    compared, wrong, doubts = 0, [], 0
    with tempfile.TemporaryDirectory() as folder:
        graph = f"{folder}/graph"
        with open(graph, "w", encoding="utf8") as file:
            file.writelines(f"{r} {(r - 1) % RANKS}\n{r} {(r + 1) % RANKS}\n" for r in range(RANKS))
        presets = names("presets")
        for number, setting in enumerate(SETTINGS):
            plans = {}
            for collective in names("collectives"):
                for preset in presets if LONG else presets[number % 3::3]:
                    foreseen = collective != "barrier" and plan(collective, preset, setting, graph)
                    if foreseen:
                        plans[collective, preset] = foreseen
            for index, size in enumerate(SIZES):
                counted = run(list(plans), size, setting, folder)
                for case, foreseen in plans.items():
                    what = f"{setting[0]}, {size} bytes: {' '.join(case)}"
                    wrong += differences(what, foreseen[index], counted[case], "TUTTI_MEDIUM" in setting[1])
                    doubts += any(low != high for ranges in foreseen[index].values() for low, high in ranges[:2])
                    compared += 1
            print(f"{setting[0]}: {len(plans)} plans, each of {len(SIZES)} sizes", flush=True)
    print("\n".join(wrong[:20]))
    print(f"{compared} calls of {RANKS} ranks compared, {doubts} of them with bounds, {len(wrong)} differences")
    return 1 if wrong or compared < (1000 if LONG else 400) else 0


sys.exit(main())
