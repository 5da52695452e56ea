import Testing

@testable import DatabaseServer

@Suite("the name of a database")
struct DatabaseNameTests {
    @Test(
        "is taken and lower-cased",
        arguments: [
            ("a", "a"), ("Chat", "chat"), ("0", "0"), ("-", "-"),
            ("my-app-default-rtdb", "my-app-default-rtdb"),
            ("ABC-09", "abc-09"),
            (String(repeating: "x", count: 63), String(repeating: "x", count: 63)),
        ]
    )
    func good(text: String, name: String) throws {
        #expect(try DatabaseName(text).text == name)
    }

    @Test(
        "is refused with its fault",
        arguments: [
            ("", DatabaseNameError.length(byteCount: 0)),
            (String(repeating: "x", count: 64), .length(byteCount: 64)),
            ("a.b", .forbiddenCharacter(offset: 1)), ("..", .forbiddenCharacter(offset: 0)),
            ("a/b", .forbiddenCharacter(offset: 1)), ("a_b", .forbiddenCharacter(offset: 1)),
            ("ab ", .forbiddenCharacter(offset: 2)), ("é", .forbiddenCharacter(offset: 0)),
            // The Kelvin sign lower-cases to an ASCII k.
            ("\u{212A}", .forbiddenCharacter(offset: 0)),
            ("a\u{0}", .forbiddenCharacter(offset: 1)),
        ]
    )
    func bad(text: String, error: DatabaseNameError) {
        #expect(throws: error) { try DatabaseName(text) }
    }
}

@Suite("the database a request means")
struct DatabaseSelectionTests {
    private func selection() throws -> DatabaseSelection {
        var selection = DatabaseSelection()
        selection.standard = try DatabaseName("main")
        selection.domain = "data.test"
        selection.hosts = [
            try #require(Authority.Host("chat.example.com")): try DatabaseName("chat"),
            try #require(Authority.Host("x.localhost")): try DatabaseName("mapped"),
            try #require(Authority.Host("10.0.0.1")): try DatabaseName("ten"),
        ]
        selection.aliases = [
            try DatabaseName("old"): try DatabaseName("new"),
            try DatabaseName("new"): try DatabaseName("newest"),
        ]
        return selection
    }

    @Test(
        "is named by ns, host map, domain, localhost or none, in this order",
        arguments: [
            ("db", "chat.example.com", "db"), ("DB", nil, "db"),
            (nil, "chat.example.com", "chat"), (nil, "Chat.Example.com:9000", "chat"),
            (nil, "10.0.0.1:9000", "ten"), (nil, "x.localhost", "mapped"),
            (nil, "alpha.data.test", "alpha"), (nil, "ALPHA.data.test:443", "alpha"),
            (nil, "beta.localhost:9000", "beta"),
            (nil, nil, "main"), (nil, "", "main"), (nil, "localhost:9000", "main"),
            (nil, "127.0.0.1:9000", "main"), (nil, "[::1]:9000", "main"),
            (nil, "data.test", "main"),
            (nil, "a.b.data.test", "main"), (nil, "a.b.localhost", "main"),
            // A host with three labels that is not configured is not parsed.
            (nil, "chat.firebaseio.com", "main"), (nil, "bad host", "main"),
            ("old", nil, "new"), (nil, "old.localhost", "new"), ("OLD", "chat.example.com", "new"),
        ] as [(String?, String?, String)]
    )
    func table(ns: String?, host: String?, name: String) throws {
        #expect(try selection().database(ns: ns, at: host.flatMap(Authority.init)).text == name)
    }

    @Test(
        "is refused when what stands in its place is no name",
        arguments: [
            ("", nil), ("a.b", "chat.example.com"), ("../etc", nil), (nil, "a_b.localhost"),
            (nil, "a_b.data.test"),
        ] as [(String?, String?)]
    )
    func bad(ns: String?, host: String?) throws {
        let selection = try selection()
        #expect(throws: DatabaseNameError.self) {
            try selection.database(ns: ns, at: host.flatMap(Authority.init))
        }
    }

    @Test("is the standard one's alias when that has one")
    func standardAlias() throws {
        var selection = DatabaseSelection()
        selection.aliases = [.standard: try DatabaseName("real")]
        #expect(try selection.database(ns: nil, at: nil).text == "real")
    }
}
