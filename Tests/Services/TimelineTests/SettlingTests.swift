import HearthDatabase
import Social
import Synchronization
import Testing
import Timeline

/// Reads and writes that meet changes of others, without a database.
@Suite("Trying again")
struct SettlingTests {
    private static let refusal = DatabaseError.permissionDenied(path: "a")

    /// What is there at each read, which of the writes are refused, and what becomes of that.
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let reads: [Int]
        let refused: Set<Int>
        let outcome: Result<Int, ServiceError>
        let written: [Int]
    }

    private static let cases = [
        Case(
            testDescription: "nothing is in the way",
            reads: [1],
            refused: [],
            outcome: .success(1),
            written: [1],
        ),
        Case(
            testDescription: "what has changed is written as it is now",
            reads: [1, 2, 3],
            refused: [1, 2],
            outcome: .success(3),
            written: [1, 2, 3],
        ),
        Case(
            testDescription: "a change that was undone gets one more try",
            reads: [1, 1],
            refused: [1],
            outcome: .success(1),
            written: [1, 1],
        ),
        Case(
            testDescription: "what is refused although nothing has changed is refused",
            reads: [1, 1, 1],
            refused: [1, 2],
            outcome: .failure(.refused("try")),
            written: [1, 1],
        ),
        Case(
            testDescription: "changes without an end end after as many writes as may be",
            reads: [1, 2, 3, 4, 5, 6],
            refused: [1, 2, 3, 4, 5],
            outcome: .failure(.refused("try")),
            written: [1, 2, 3, 4, 5],
        ),
    ]

    @Test("what was refused is read and written again", arguments: cases)
    func settle(_ example: Case) async {
        let waits = Mutex<[Int]>([])
        let settling = Settling(tries: 5) { count in waits.withLock { $0.append(count) } }
        var reads = example.reads
        var written: [Int] = []
        let outcome: Result<Int, ServiceError>
        do throws(ServiceError) {
            outcome = .success(
                try await settling.settle("try") {
                    reads.removeFirst()
                } write: { basis in
                    written.append(basis)
                    if example.refused.contains(written.count) { throw Self.refusal }
                }
            )
        } catch {
            outcome = .failure(error)
        }
        #expect(outcome == example.outcome)
        #expect(written == example.written)
        #expect(waits.withLock { $0 } == Array((1...5).prefix(written.count - 1)))
    }

    @Test("another error is reported at once")
    func otherError() async {
        var writeCount = 0
        await #expect(throws: ServiceError.database(.disconnected)) {
            _ = try await Settling.standard.settle("try") {
                1
            } write: { _ in
                writeCount += 1
                throw DatabaseError.disconnected
            }
        }
        #expect(writeCount == 1)
    }
}
