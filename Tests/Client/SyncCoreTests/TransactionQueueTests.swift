import JSONTree
import TestSupport
import Testing

@testable import SyncCore

/// Groups of transactions, compared with what a look at all of them finds.
@Suite("Groups of transactions")
struct TransactionQueueTests {
    @Test("what is found by paths is what a look at all finds", arguments: TestSeed.seeds(20))
    func groups(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var queue = TransactionQueue()
        var all: [Int: Path] = [:]
        for number in 1...200 {
            let transaction = Self.transaction(try Self.path(&random), number)
            queue.append(transaction)
            all[number] = transaction.path
            if Bool.random(using: &random),
                let ended = all.keys.sorted().randomElement(using: &random)
            {
                #expect(queue.remove([ended]).map(\.path) == [all.removeValue(forKey: ended)])
            }
            let path = try Self.path(&random)
            let head =
                all.values.filter { $0.isPrefix(of: path) }.min { $0.keyCount < $1.keyCount }
                ?? path
            #expect(queue.head(of: path) == head)
            #expect(queue.numbers(around: path) == Self.numbers(all) { head.isPrefix(of: $0) })
            #expect(
                queue.numbers(overlapping: path) == Self.numbers(all) { $0.isAboveOrBelow(path) }
            )
            let ready = queue.ready(around: path)
            #expect(ready.flatMap(\.numbers).sorted() == queue.numbers(around: path))
            for group in ready {
                #expect(group.numbers.allSatisfy { all[$0].map(queue.head) == group.path })
            }
        }
        #expect(queue.removeAll().transactions.map(\.path) == all.keys.sorted().map { all[$0] })
        #expect(queue.isEmpty)
    }

    private static func numbers(_ all: [Int: Path], _ isMeant: (Path) -> Bool) -> [Int] {
        all.filter { isMeant($0.value) }.keys.sorted()
    }

    private static func path(_ random: inout SeededGenerator) throws -> Path {
        let keyCount = Int.random(in: 0...3, using: &random)
        return try Path(
            (0..<keyCount).map { _ in ["a", "b", "c", "d"].randomElement(using: &random) ?? "a" }
                .joined(separator: "/")
        )
    }

    private static func transaction(_ path: Path, _ number: Int) -> Transaction {
        let request = TransactionRequest(
            path: path,
            appliesLocally: true,
            call: CallID(UInt64(number)),
            update: { _ in nil }
        )
        return Transaction(
            request: request,
            observer: ObserverID(0),
            writeID: WriteID(Int64(number)),
            input: .absent,
            draft: Draft(.absent),
            result: .absent
        )
    }
}
