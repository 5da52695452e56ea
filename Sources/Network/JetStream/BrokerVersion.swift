/// The version of a broker.
struct BrokerVersion: Equatable, Comparable, Sendable, CustomStringConvertible {
    let major: Int
    let minor: Int
    let patch: Int
    /// `RC.1`; such a version comes before the one without.
    let stage: String

    /// Reads `2.15.1` or `2.15.1-RC.1`; nil for anything else.
    init?(_ text: String) {
        let ends = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        let numbers = ends[0].split(separator: ".", omittingEmptySubsequences: false)
            .map { Int($0) }
        guard numbers.count == 3, let major = numbers[0], let minor = numbers[1],
            let patch = numbers[2]
        else { return nil }
        (self.major, self.minor, self.patch) = (major, minor, patch)
        stage = ends.count > 1 ? String(ends[1]) : ""
    }

    private init(_ major: Int, _ minor: Int, _ patch: Int) {
        (self.major, self.minor, self.patch, stage) = (major, minor, patch, "")
    }

    /// Whether replicas keep their state when a leader changes while an append is refused.
    ///
    /// Source: nats-server, issue 8057; mended in 2.12.8 and in 2.14.0.
    var isSafe: Bool {
        self >= BrokerVersion(2, 14, 0)
            || (self >= BrokerVersion(2, 12, 8) && (major, minor) == (2, 12))
    }

    static func < (a: BrokerVersion, b: BrokerVersion) -> Bool {
        let (left, right) = ((a.major, a.minor, a.patch), (b.major, b.minor, b.patch))
        if left != right { return left < right }
        return !a.stage.isEmpty && b.stage.isEmpty
    }

    var description: String {
        "\(major).\(minor).\(patch)" + (stage.isEmpty ? "" : "-\(stage)")
    }
}
