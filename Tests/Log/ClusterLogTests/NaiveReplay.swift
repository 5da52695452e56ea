import COpenSSL

/// The rule over entries once more, in the plainest way: it reads bytes by their offsets, keeps all commits, and shares
/// no code with `LogReplay`. It expects entries that are intact.
struct NaiveReplay {
    private(set) var epoch = 0
    private(set) var chain = [UInt8](repeating: 0, count: 32)
    /// Each commit as it stands in a list.
    private(set) var commits: [[UInt8]] = []
    private var open: [UInt8] = []

    private static func number(_ bytes: [UInt8], _ offset: Int, _ count: Int) -> Int {
        (0..<count).reduce(0) { $0 + Int(bytes[offset + $1]) << (8 * $1) }
    }

    private static func sha256(_ bytes: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        _ = SHA256(bytes, bytes.count, &digest)
        return digest
    }

    /// Whether an entry counts; it is the next one.
    mutating func read(_ entry: [UInt8]) -> Bool {
        let kind = entry[5]
        let isClaim = kind == 2
        guard Self.number(entry, 8, 8) == (isClaim ? epoch + 1 : epoch) else { return false }
        guard Self.number(entry, 16, 8) == commits.count else { return false }
        let payload = Array(entry[100...])
        guard Self.sha256(chain + entry[..<64] + payload) == Array(entry[64..<96]) else {
            return false
        }
        chain = Array(entry[64..<96])
        if isClaim {
            epoch += 1
            open = []
        } else if kind == 3 {
            open += payload
        } else {
            var list = open + payload
            open = []
            for _ in 0..<Self.number(entry, 24, 4) {
                let head = 1 + Int(list[0]) + 20
                let count = head + Self.number(list, head - 4, 4)
                commits.append(Array(list[..<count]))
                list.removeFirst(count)
            }
            precondition(list.isEmpty, "a list holds what its entry counts")
        }
        return true
    }
}
