import JSONTree
import Testing

@testable import Commands

@Suite("The history of rules as commands show it")
struct RulesHistoryTests {
    private static let body = #"""
        {"versions":[
          {"number":12,"time":1767225599999,"author":"dan (rollback to 10)","inForce":true,"bytes":1234},
          {"number":11,"time":5,"author":"é😀","inForce":false,"bytes":0,"detached":true},
          {"number":10,"time":null,"author":null,"inForce":false,"bytes":20}]}
        """#

    @Test("is a table, numbers at the right")
    func table() throws {
        let versions = try #require(PublishedVersion.read(Array(Self.body.utf8)))
        let lines = [
            "version  time                      author                bytes",
            "     12  2025-12-31T23:59:59.999Z  dan (rollback to 10)   1234  in force",
            "     11  1970-01-01T00:00:00.005Z  é😀                        -  detached",
            "     10  unknown                   unknown                  20",
        ]
        #expect(RulesHistoryCommand.table(versions) == lines.joined(separator: "\n"))
    }

    @Test("names a version with its known facts")
    func names() throws {
        let versions = try #require(PublishedVersion.read(Array(Self.body.utf8)))
        #expect(
            versions.map(\.shown) == [
                "12 (by dan (rollback to 10), 2025-12-31T23:59:59.999Z)",
                "11 (by é😀, 1970-01-01T00:00:00.005Z)", "10",
            ]
        )
    }

    @Test(
        "is nothing else that a server may answer",
        arguments: ["", "[]x", "5", #"{"versions":5}"#, #"{"versions":[{"number":1}]}"#]
    )
    func other(body: String) {
        #expect(PublishedVersion.read(Array(body.utf8)) == nil)
    }

    @Test(
        "says what is in force, and which file is not used",
        arguments: [
            (
                body.replacing("]}", with: #"],"withoutOwn":{"source":"file","file":"r.json"}}"#),
                "in force: version 12 (by dan (rollback to 10), 2025-12-31T23:59:59.999Z); the server's file r.json "
                    + "is not used ('hearth rules detach' goes back to it)"
            ),
            (
                body.replacing("]}", with: #"],"withoutOwn":{"source":"closed"}}"#),
                "in force: version 12 (by dan (rollback to 10), 2025-12-31T23:59:59.999Z)"
            ),
            (
                #"{"versions":[{"number":2,"bytes":0,"detached":true}],"withoutOwn":{"source":"samples"}}"#,
                "in force: the sample rules"
            ),
            (
                #"{"versions":[],"withoutOwn":{"source":"open"}}"#,
                "in force: none: open to all"
            ),
            (#"{"versions":[],"withoutOwn":{"source":"file"}}"#, nil),
            (#"{"versions":[]}"#, nil),
        ] as [(String, String?)]
    )
    func inForce(body: String, text: String?) throws {
        let bytes = Array(body.utf8)
        let rules = PublishedRules(try #require(PublishedVersion.read(bytes)), bytes)
        #expect(rules.inForceText == text)
    }

    @Test("of a database without any is empty", arguments: [#"{"versions":[]}"#])
    func empty(body: String) {
        #expect(PublishedVersion.read(Array(body.utf8)) == [])
    }
}

@Suite("Who changes rules")
struct ChangeAuthorTests {
    @Test(
        "is a name that servers take",
        arguments: [
            ("ann", "laptop", "ann@laptop"), ("ann", "", "ann"), ("a b", "x\ny", "a_b@x_y"),
            ("é", "h", "_@h"),
        ]
    )
    func names(user: String, host: String, name: String) {
        #expect(ChangeAuthor.named(user: user, host: host) == name)
    }

    @Test("is bounded, whatever is added")
    func bounds() {
        let long = String(repeating: "n", count: 500)
        let author = ChangeAuthor.named(user: long, host: long)
        #expect(author.utf8.count == 200)
        let noted = ChangeAuthor.with("rollback to 3", author)
        #expect(noted.utf8.count == 200 && noted.hasSuffix("nn (rollback to 3)"))
        #expect(ChangeAuthor.with("rollback to 3", nil) == "rollback to 3")
    }

    @Test("is unknown where the environment names no user")
    func unknown() {
        #expect(ChangeAuthor.ofProcess(["USER": "", "HOME": "/"]) == nil)
        #expect(ChangeAuthor.ofProcess(["LOGNAME": "ann"])?.hasPrefix("ann") == true)
    }
}

@Suite("The comparison of shadow rules as commands show it")
struct ShadowComparisonTests {
    @Test("is shown in words")
    func words() throws {
        let body = #"""
            {"canary":"-Oa1","since":0,"judged":4,"agreed":1,"newlyAllowed":1,"newlyRefused":2,"unlisted":1,
             "differences":[
              {"operation":"set","verdict":"newlyRefused",
               "live":{"kind":"write","path":"/a","line":2,"column":7,"source":"true"},"shadow":null,
               "count":2,"examples":[{"path":"/a/b","uid":"ann","time":5},{"path":"/a","uid":null,"time":1}]},
              {"operation":"read","verdict":"newlyAllowed","live":null,
               "shadow":{"kind":"read","path":"/c/$d","line":1,"column":1,"source":"auth != null"},
               "count":1,"examples":[]}]}
            """#
        let comparison = try #require(ShadowComparison(try Node(json: Array(body.utf8))))
        #expect(comparison.differs && comparison.candidate == "-Oa1")
        let lines = """
            shadow rules -Oa1 at here, counted since 1970-01-01T00:00:00.000Z
            decided 4: 1 agreed, 1 newly allowed, 2 newly refused

            newly refused: set, 2 times
              in force  write /a (2:7): true
              shadow    nothing grants it
                1970-01-01T00:00:00.005Z  /a/b  ann
                1970-01-01T00:00:00.001Z  /a  (no user)

            newly allowed: read, once
              in force  nothing grants it
              shadow    read /c/$d (1:1): auth != null

            in further ways differ: 1
            """
        #expect(comparison.text(at: "here") == lines)
    }

    @Test("is read from no other answer", arguments: ["5", "{}", #"{"error":"x"}"#])
    func other(body: String) throws {
        #expect(ShadowComparison(try Node(json: Array(body.utf8))) == nil)
    }
}
