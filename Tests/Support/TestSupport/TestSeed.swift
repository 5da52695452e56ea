import Glibc

/// Where the random tests of a run begin: `HEARTH_SEED`, or 1.
///
/// A test that draws takes its seeds from here, so that one number repeats a whole run. What it demands must hold from
/// any seed on.
package enum TestSeed {
    /// The seed of this run, below 2^32; said once, on standard error.
    package static let first: UInt64 = {
        var seed: UInt64 = 1
        if let text = getenv("HEARTH_SEED").map({ String(cString: $0) }), !text.isEmpty {
            guard let number = UInt32(text) else {
                preconditionFailure("HEARTH_SEED must be a whole number below 2^32, not '\(text)'")
            }
            seed = UInt64(number)
        }
        let line = "Random tests draw from HEARTH_SEED=\(seed)\n"
        _ = write(STDERR_FILENO, line, line.utf8.count)
        return seed
    }()

    /// So many seeds, one behind another: the first one of this run, or that many behind it.
    package static func seeds(_ count: Int, from start: UInt64 = 0) -> [UInt64] {
        (0..<count).map { first + start + UInt64($0) }
    }

    /// Generators of the run, by a number of their own: others draw other numbers.
    package static func generator(_ number: UInt64) -> SeededGenerator {
        SeededGenerator(seed: first &+ number &- 1)
    }

    /// How much `make soak` asks for: `HEARTH_ROUNDS`; nil where a test takes its share of the gate.
    package static let rounds: Int? = getenv("HEARTH_ROUNDS").flatMap { Int(String(cString: $0)) }

    /// Whether a case has its turn in this run: of so many in a row one has, another with the next seed, and all in `make soak`.
    package static func isTurn(of number: Int, in count: Int) -> Bool {
        rounds != nil || (Int(first) + number) % count == 0
    }
}
