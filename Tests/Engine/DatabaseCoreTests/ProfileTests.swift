import DatabaseCore
import JSONTree
import Testing

@Suite("the profiler")
struct ProfileTests {
    private let driver = EngineDriver()

    private func records(_ effects: [Effect]) -> [String] {
        effects.compactMap { effect in
            guard case .profiled(let database, let record) = effect else { return nil }
            let values = record.values.reduce(0) { $0 + $1.node.json().count * $1.count }
            let refused = record.isAllowed ? "" : " refused"
            return "\(database) \(record.name.rawValue) \(record.path)"
                + " \(record.textByteCount)+\(values)\(refused)"
        }
    }

    /// Everything that a session can do, some of it seen by another one.
    private func work() throws -> [Effect] {
        var effects = driver.connect(1)
        effects += driver.connect(2)
        effects += driver.send(2, "q", #""p":"/a","h":"""#)
        effects += driver.send(1, "p", #""p":"/a/b","d":1"#)
        effects += driver.send(1, "m", #""p":"/a","d":{"c":2,"d":3}"#)
        effects += driver.send(1, "g", #""p":"/a","q":{}"#)
        effects += driver.send(2, "n", #""p":"/a""#)
        effects += try driver.put("/x", try Node(json: "5"))
        effects += driver.step(.disconnected(ConnectionID(1)))
        return effects
    }

    @Test("without anybody who watches the engine makes no record")
    func silent() throws {
        #expect(records(try work()) == [])
    }

    @Test("every operation is reported while the profiler is on, and none after")
    func reported() throws {
        driver.step(.profile(driver.database, true))
        let put = #"{"t":"d","d":{"a":"d","b":{"p":"a/b","d":1}}}"#.utf8.count
        let merge = #"{"t":"d","d":{"a":"m","b":{"p":"a","d":{"c":2,"d":3}}}}"#.utf8.count
        #expect(
            records(try work()) == [
                "demo concurrent-connect / 0+0",
                "demo concurrent-connect / 0+0",
                "demo listener-listen /a 0+4",
                "demo listener-broadcast /a \(put)+0",
                "demo realtime-write /a/b 0+1",
                "demo listener-broadcast /a \(merge)+0",
                "demo realtime-update /a 0+2",
                "demo realtime-read /a 0+19",
                "demo listener-unlisten /a 0+0",
                "demo rest-write /x 0+1",
                "demo concurrent-disconnect / 0+0",
            ]
        )
        driver.step(.profile(driver.database, false))
        #expect(records(try work()) == [])
    }

    @Test("of two databases only the profiled one is reported")
    func others() throws {
        driver.step(.profile(DatabaseID("other"), true))
        #expect(records(try work()) == [])
    }
}
