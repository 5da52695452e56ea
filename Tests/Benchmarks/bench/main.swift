// `bench [NAME...]`: runs the named benches, or all, and prints one line of JSON per figure.

let benches: [(name: String, run: (Figures) throws -> Void)] = [
    ("json-text", benchJSONText),
    ("json-tree", benchJSONTree),
    ("key-orders", benchKeyOrders),
    ("queries", benchQueries),
    ("security-rules", benchSecurityRules),
    ("engine", benchEngine),
    ("reauthorization", benchReauthorization),
    ("accounts", benchAccounts),
    ("client", benchClient),
    ("services", benchServices),
    ("posts", benchPosts),
    ("write-ahead-log", WriteAheadLogBench.run),
]

let wanted = CommandLine.arguments.dropFirst()
for name in wanted where !benches.contains(where: { $0.name == name }) {
    print("bench: there is no \(name); there are: \(benches.map(\.name).joined(separator: ", "))")
}
for bench in benches where wanted.isEmpty || wanted.contains(bench.name) {
    try bench.run(Figures(bench: bench.name))
}
