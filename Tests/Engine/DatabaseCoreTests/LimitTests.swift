import DatabaseCore
import JSONTree
import SecurityRules
import Testing

@Suite("Limits of the engine")
struct LimitTests {
    @Test("a commit larger than the log takes is refused and changes nothing")
    func commitSize() throws {
        var policy = Transcript.policy()
        policy.bounds.commitByteCount = 100
        let engine = DatabaseEngine(policy)
        #expect(put(String(repeating: "x", count: 100), engine) == "refused")
        #expect(engine.summaries().map(\.number) == [.zero])
        #expect(put(String(repeating: "x", count: 50), engine) == "commit")
    }

    /// What became of a put of `text`.
    private func put(_ text: String, _ engine: DatabaseEngine) -> String {
        let target = WriteTarget(path: .root, isPriority: false)
        let request = Request(
            database: Transcript.database,
            credential: .none,
            operation: .put(target, Draft(Node(string: text))),
        )
        var effects: [Effect] = []
        engine.step(
            .requested(request, id: RequestID(1)),
            now: Timestamp(milliseconds: 1),
            effects: &effects
        )
        switch effects.first {
        case .append: return "commit"
        case .respond(_, .refused(.tooLarge)): return "refused"
        default: return "neither"
        }
    }
}
