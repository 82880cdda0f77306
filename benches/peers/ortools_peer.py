"""OR-tools SimpleMinCostFlow on a DIMACS file, one run at a time.

Usage: ortools_peer.py FILE.min, then on standard input a line for each run: scaling. Prints a line of JSON for the
file, and one for each run: CPU seconds of solve() alone, the cost of the flow, and the peak resident set of the process so
far in bytes.

SimpleMinCostFlow knows no lower bounds and no unbounded arcs: what a bound demands becomes supply at the arc's head,
and an unbounded arc takes as much as there is supply. Every run has a solver of its own.
"""

import importlib.metadata
import json
import resource
import sys
import time

import numpy
from ortools.graph.python import min_cost_flow

Solver = min_cost_flow.SimpleMinCostFlow


def read(path):
    """Supplies by node, and arcs as rows of tail, head, lower, upper, cost; nodes count from 0."""
    supply, rows = None, []
    with open(path, encoding="ascii") as file:
        for line in file:
            if line[0] == "a":
                rows.append(line[2:])
            elif line[0] == "n":
                _, node, value = line.split()
                supply[int(node) - 1] = int(value)
            elif line[0] == "p":
                supply = numpy.zeros(int(line.split()[2]), dtype=numpy.int64)
    arcs = numpy.fromstring(" ".join(rows), dtype=numpy.int64, sep=" ").reshape(-1, 5)
    arcs[:, :2] -= 1
    return supply, arcs


class Instance:
    """A file as the solver takes it."""

    def __init__(self, path):
        supply, arcs = read(path)
        tail, head, lower, upper, cost = arcs.T
        numpy.subtract.at(supply, tail, lower)
        numpy.add.at(supply, head, lower)
        most = int(numpy.abs(supply).sum())
        self.capacity = numpy.where(upper < lower, most, upper - lower)
        self.supply = supply
        self.tail = tail.astype(numpy.int32)
        self.head = head.astype(numpy.int32)
        self.cost = numpy.ascontiguousarray(cost)
        self.offset = int((lower.astype(object) * cost).sum()) if lower.any() else 0

    def solver(self):
        solver = Solver()
        solver.add_arcs_with_capacity_and_unit_cost(self.tail, self.head, self.capacity, self.cost)
        nodes = numpy.arange(len(self.supply), dtype=numpy.int32)
        solver.set_nodes_supplies(nodes, self.supply)
        return solver


def run(instance, name):
    """One run, as the row to print."""
    if name != "scaling":
        return {"algorithm": name, "failure": "no such algorithm"}
    solver = instance.solver()
    begin = time.process_time()
    status = solver.solve()
    seconds = time.process_time() - begin
    if status != Solver.OPTIMAL:
        return {"algorithm": name, "failure": str(status)}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    cost = solver.optimal_cost() + instance.offset
    return {"algorithm": name, "seconds": seconds, "cost": cost, "peak_bytes": peak}


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    instance = Instance(sys.argv[1])
    about = {"peer": "OR-tools", "version": importlib.metadata.version("ortools")}
    about |= {"nodes": len(instance.supply), "arcs": len(instance.tail)}
    print(json.dumps(about), flush=True)
    for line in sys.stdin:
        print(json.dumps(run(instance, line.strip())), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
