// LEMON's minimum cost flow algorithms on a DIMACS file, one run at a time.
//
// Usage: lemon FILE.min, then on standard input one algorithm a line: ns64, ns32, cs64, cs32. Prints a line of JSON
// for the file, and one for each run: CPU seconds of run() alone (building the algorithm's own arrays from the graph is
// not counted), the cost of the flow in 64 bits, and the peak resident set of the process so far in bytes.
//
// 32-bit costs and flows are faster where they suffice. LEMON does not say when they don't; their cost is one to be
// compared.
//
// Every run has an object of its own: NetworkSimplex with lower bounds spoils its supplies in run().

#include <cstdint>
#include <ctime>
#include <fstream>
#include <iostream>
#include <limits>
#include <string>

#include <lemon/core.h>
#include <lemon/cost_scaling.h>
#include <lemon/dimacs.h>
#include <lemon/network_simplex.h>
#include <lemon/smart_graph.h>
#include <sys/resource.h>

namespace {

typedef lemon::SmartDigraph Graph;

struct Instance {
    Graph graph;
    Graph::ArcMap<std::int64_t> lower, upper, cost;
    Graph::NodeMap<std::int64_t> supply;

    Instance() : lower(graph), upper(graph), cost(graph), supply(graph) {}

    // Whether 32 bits hold every number given; sums inside an algorithm may still leave them.
    bool fits32() const {
        const std::int64_t most = std::numeric_limits<int>::max();
        const std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();
        for (Graph::ArcIt a(graph); a != lemon::INVALID; ++a) {
            if (upper[a] > most && upper[a] != unlimited) return false;
            if (lower[a] < -most || lower[a] > most || cost[a] < -most || cost[a] > most) return false;
        }
        for (Graph::NodeIt v(graph); v != lemon::INVALID; ++v) {
            if (supply[v] < -most || supply[v] > most) return false;
        }
        return true;
    }
};

// A map read as 32 bits; no bound stays no bound.
class Narrow {
public:
    typedef Graph::Arc Key;
    typedef int Value;
    explicit Narrow(const Graph::ArcMap<std::int64_t> &wide) : wide(wide) {}
    int operator[](Graph::Arc a) const {
        const std::int64_t most = std::numeric_limits<int>::max();
        return static_cast<int>(wide[a] > most ? most : wide[a]);
    }

private:
    const Graph::ArcMap<std::int64_t> &wide;
};

class NarrowSupply {
public:
    typedef Graph::Node Key;
    typedef int Value;
    explicit NarrowSupply(const Graph::NodeMap<std::int64_t> &wide) : wide(wide) {}
    int operator[](Graph::Node v) const { return static_cast<int>(wide[v]); }

private:
    const Graph::NodeMap<std::int64_t> &wide;
};

double cpu_seconds() {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

long peak_bytes() {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss * 1024L;
}

void print_failure(const std::string &name, const std::string &why) {
    std::cout << "{\"algorithm\": \"" << name << "\", \"failure\": \"" << why << "\"}" << std::endl;
}

template <typename Algorithm>
void run(const std::string &name, const Instance &instance, Algorithm &algorithm) {
    const double begin = cpu_seconds();
    const auto outcome = algorithm.run();
    const double elapsed = cpu_seconds() - begin;
    if (outcome != Algorithm::OPTIMAL) {
        print_failure(name, outcome == Algorithm::INFEASIBLE ? "infeasible" : "unbounded");
        return;
    }
    std::int64_t cost = 0;
    for (Graph::ArcIt a(instance.graph); a != lemon::INVALID; ++a) {
        cost += instance.cost[a] * static_cast<std::int64_t>(algorithm.flow(a));
    }
    std::cout << "{\"algorithm\": \"" << name << "\", \"seconds\": " << elapsed << ", \"cost\": " << cost
              << ", \"peak_bytes\": " << peak_bytes() << "}" << std::endl;
}

template <typename Algorithm>
void run_wide(const std::string &name, const Instance &instance) {
    Algorithm algorithm(instance.graph);
    algorithm.lowerMap(instance.lower).upperMap(instance.upper).costMap(instance.cost).supplyMap(instance.supply);
    run(name, instance, algorithm);
}

template <typename Algorithm>
void run_narrow(const std::string &name, const Instance &instance) {
    if (!instance.fits32()) {
        print_failure(name, "numbers beyond 32 bits");
        return;
    }
    Algorithm algorithm(instance.graph);
    algorithm.lowerMap(Narrow(instance.lower)).upperMap(Narrow(instance.upper)).costMap(Narrow(instance.cost));
    algorithm.supplyMap(NarrowSupply(instance.supply));
    run(name, instance, algorithm);
}

} // namespace

int main(int argc, char **argv) {
    if (argc != 2) {
        std::cerr << "usage: lemon FILE.min, algorithms on standard input" << std::endl;
        return 2;
    }
    std::ifstream file(argv[1]);
    if (!file) {
        std::cerr << argv[1] << ": cannot be read" << std::endl;
        return 2;
    }
    std::cout.precision(9);
    Instance instance;
    lemon::readDimacsMin(file, instance.graph, instance.lower, instance.upper, instance.cost, instance.supply);
    std::cout << "{\"peer\": \"LEMON\", \"version\": \"" << LEMON_VERSION
              << "\", \"nodes\": " << lemon::countNodes(instance.graph)
              << ", \"arcs\": " << lemon::countArcs(instance.graph) << "}" << std::endl;
    std::string name;
    while (std::getline(std::cin, name)) {
        if (name == "ns64") {
            run_wide<lemon::NetworkSimplex<Graph, std::int64_t, std::int64_t>>(name, instance);
        } else if (name == "ns32") {
            run_narrow<lemon::NetworkSimplex<Graph, int, int>>(name, instance);
        } else if (name == "cs64") {
            run_wide<lemon::CostScaling<Graph, std::int64_t, std::int64_t>>(name, instance);
        } else if (name == "cs32") {
            run_narrow<lemon::CostScaling<Graph, int, int>>(name, instance);
        } else {
            print_failure(name, "no such algorithm");
        }
    }
    return 0;
}
