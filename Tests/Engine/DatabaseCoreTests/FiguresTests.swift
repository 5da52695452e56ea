import DatabaseCore
import JSONTree
import SecurityRules
import Testing

@Suite("what administrators see of sessions and databases")
struct FiguresTests {
    @Test("a session that an administrator ends is closed behind its on-disconnect writes")
    func end() throws {
        let driver = EngineDriver()
        driver.connect(1)
        driver.send(1, "o", #""p":"/left","d":true"#)
        let effects = driver.step(.end(ConnectionID(1)))
        let reasons = effects.compactMap { effect -> CloseReason? in
            if case .close(ConnectionID(1), let reason) = effect { reason } else { nil }
        }
        #expect(reasons == [.ended])
        let left = try Key("left")
        #expect(driver.engine.root(of: driver.database).child(left) == Node(true))
        #expect(driver.engine.figures(of: ConnectionID(1), listenLimit: 1) == nil)
        // It is gone: nothing more happens to it.
        #expect(driver.step(.end(ConnectionID(1))).isEmpty)
    }

    @Test("a session shows whose it is, and the first of its listens")
    func session() throws {
        let driver = EngineDriver()
        driver.connect(1, user: "ann")
        for name in ["a", "b", "c"] { driver.send(1, "q", #""p":"/\#(name)","h":"""#) }
        let figures = try #require(
            driver.engine.figures(of: ConnectionID(1), listenLimit: 2)
        )
        #expect(figures.database == driver.database)
        let uid = try Key("uid")
        #expect(figures.identity.auth?.value.child(uid).string == "ann")
        #expect(figures.listenCount == 3)
        let first = [try Path("/a"), try Path("/b")]
        #expect(figures.listens.map(\.path) == first)
        #expect(figures.parkedCount == 0)
        let c = try Path("/c")
        #expect(driver.engine.listens(ConnectionID(1)) { $0 == c })
        #expect(!driver.engine.listens(ConnectionID(2)) { _ in true })
    }

    @Test("reads and listens are counted")
    func reads() {
        let driver = EngineDriver()
        driver.connect(1)
        driver.send(1, "g", #""p":"/a","q":{}"#)
        driver.send(1, "q", #""p":"/a","h":"""#)
        #expect(driver.engine.counts.reads == 2)
        #expect(driver.engine.listenCount == 1)
    }

    @Test("a database shows its indexes with what they hold")
    func database() throws {
        let driver = EngineDriver()
        driver.connect(1)
        driver.send(1, "p", #""p":"/list","d":{"a":{"n":1},"b":{"n":2}}"#)
        driver.send(1, "q", #""p":"/list","q":{"i":"n","l":1},"t":1,"h":"""#)
        let figures = try #require(driver.engine.databaseFigures().first)
        #expect(figures.summary.database == driver.database)
        #expect(figures.root.childCount == 1)
        let index = try #require(figures.indexes.first)
        #expect(figures.indexes.count == 1)
        let list = try Path("/list")
        #expect(index.path == list)
        #expect(index.entryCount == 2)
        #expect(index.viewCount == 1)
        #expect(!index.isDeclared)
    }
}
