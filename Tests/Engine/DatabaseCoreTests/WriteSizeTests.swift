import DatabaseCore
import JSONTree
import SecurityRules
import Testing

@Suite("How much a REST write may touch")
struct WriteSizeTests {
    /// 17 MiB in parts of 1 MiB, more than a tiny write may touch.
    private static let large = (0..<17).reduce(into: Node.absent) { node, index in
        node = node.with("k\(index)", Node(string: String(repeating: "x", count: 1 << 20)))
    }

    /// Writes as an admin; whether the write was done.
    private func put(
        _ driver: EngineDriver,
        _ node: Node,
        _ path: String = "/a",
        limit: WriteSizeLimit? = nil
    ) throws -> Bool {
        let request = Request(
            database: driver.database,
            credential: .admin(override: nil),
            operation: .put(try WriteTarget(path), Draft(node)),
            sizeLimit: limit,
        )
        for case .respond(_, let response) in driver.step(.requested(request, id: RequestID(1))) {
            switch response {
            case .written: return true
            case .refused(.tooLarge): return false
            default: Issue.record("\(response)")
            }
        }
        return false
    }

    @Test("what is written counts, and what is replaced")
    func counts() throws {
        let driver = EngineDriver()
        #expect(try !put(driver, Self.large, limit: .tiny))
        #expect(try put(driver, Self.large, limit: .small))
        #expect(try !put(driver, .absent, limit: .tiny))
        #expect(try put(driver, .absent, "/a/k0", limit: .tiny))
        #expect(try put(driver, .absent, "/a/k1", limit: .tiny))
        #expect(try put(driver, .absent, limit: .tiny))
    }

    @Test("a request that names no limit is under that of the database, which is none at first")
    func standard() throws {
        let driver = EngineDriver()
        #expect(try put(driver, Self.large))
        let setting = Request(
            database: driver.database,
            credential: .admin(override: nil),
            operation: .putSetting(.defaultWriteSizeLimit(.tiny)),
        )
        driver.step(.requested(setting, id: RequestID(2)))
        #expect(try !put(driver, .absent))
        #expect(try put(driver, .absent, limit: .unlimited))
    }

    @Test("each limit is above the one before")
    func order() {
        let byteCounts = WriteSizeLimit.allCases.map { $0.byteCount ?? .max }
        #expect(byteCounts == byteCounts.sorted() && Set(byteCounts).count == byteCounts.count)
    }

    @Test("beyond 100 stored rulesets the oldest without a label go")
    func rulesets() throws {
        let driver = EngineDriver()
        func ask(_ operation: Request.Operation) -> [Effect] {
            let request = Request(
                database: driver.database,
                credential: .admin(override: nil),
                operation: operation,
            )
            return driver.step(.requested(request, id: RequestID(3)))
        }
        _ = ask(.storeRuleset(id: "r0", .open))
        _ = ask(.labelRulesets(RulesetLabels(canary: "r0"), author: "owner"))
        for index in 1...Limits.storedRulesets { _ = ask(.storeRuleset(id: "r\(index)", .open)) }
        let kept = driver.engine.snapshots()[0].settings.rulesets.map(\.id)
        #expect(kept == ["r0"] + (2...Limits.storedRulesets).map { "r\($0)" })
    }
}
