import ArgumentParser
import Testing

@testable import Commands

@Suite("a server's address")
struct AddressTests {
    private static func address(
        _ environment: [String: String] = [:],
        files: [String: String] = [:],
        _ change: (inout ServerOptions) -> Void = { _ in },
    ) throws -> ServerAddress {
        var options = try ServerOptions.parse([])
        change(&options)
        return try ServerAddress(options, environment: environment) { (path) throws(CommandError) in
            guard let text = files[path] else { throw .failed("\(path): No such file") }
            return text
        }
    }

    @Test(
        "is read from a URL or HOST:PORT",
        arguments: [
            ("http://127.0.0.1:9000", "http://127.0.0.1:9000", nil),
            ("127.0.0.1:9000", "http://127.0.0.1:9000", nil),
            ("localhost:9000/", "http://localhost:9000", nil),
            ("https://example.com/", "https://example.com", nil),
            ("HTTPS://example.com", "https://example.com", nil),
            ("http://localhost:9000/?ns=demo", "http://localhost:9000", "demo"),
            ("http://localhost:9000?ns=a%20b", "http://localhost:9000", "a b"),
            ("[::1]:9000", "http://[::1]:9000", nil),
        ] as [(String, String, String?)]
    )
    func parts(text: String, origin: String, instance: String?) throws {
        let address = try Self.address { $0.url = text }
        #expect(address.origin == origin)
        #expect(address.instance == instance)
    }

    @Test(
        "that is invalid is wrong usage",
        arguments: [
            "ftp://example.com", "http://", "", "http://a/b", "http://a/?auth=1", "http://u@h/",
            "http://a/?ns=x&auth=1", "http://a b/", "http://a/?ns=%zz",
        ]
    )
    func bad(text: String) {
        let error = #expect(throws: CommandError.self) { try Self.address { $0.url = text } }
        #expect(error?.exitCode == 2)
        #expect(error?.description.hasPrefix("--url: '\(text)' ") ?? false)
    }

    @Test("comes from the flag, then HEARTH_URL, then the emulator's variable, then the default")
    func precedence() throws {
        let both = [
            "HEARTH_URL": "http://one:1", "FIREBASE_DATABASE_EMULATOR_HOST": "two:2",
        ]
        #expect(try Self.address(both) { $0.url = "http://three:3" }.origin == "http://three:3")
        #expect(try Self.address(both).origin == "http://one:1")
        var one = both
        one["HEARTH_URL"] = ""
        #expect(try Self.address(one).origin == "http://two:2")
        #expect(try Self.address().origin == "http://127.0.0.1:9000")
    }

    @Test(
        "gets 'owner' unasked on loopback only",
        arguments: [
            ("http://127.0.0.1:9000", true), ("http://localhost", true),
            ("http://demo.localhost:9000", true), ("http://[::1]:1", true),
            ("http://127.8.9.1", true), ("https://127.0.0.1:9000", false),
            ("http://example.com", false), ("http://127.0.0.1.example.com", false),
            ("http://localhost.example.com", false), ("http://10.0.0.1:9000", false),
        ]
    )
    func owner(url: String, isOwner: Bool) throws {
        let address = try Self.address { $0.url = url }
        #expect(address.credential == (isOwner ? .owner : .none))
        #expect(address.headers == (isOwner ? ["Authorization: Bearer owner"] : []))
        #expect(
            try Self.address {
                $0.url = url
                $0.anonymous = true
            }.credential == .none
        )
    }

    @Test("takes a token from the flag, a file or a variable")
    func tokens() throws {
        let files = ["secret": "  s3cret\n", "empty": "\n", "two": "a b"]
        let variables = ["HEARTH_TOKEN": "t", "HEARTH_ADMIN_SECRET_FILE": "secret"]
        #expect(try Self.address(variables) { $0.token = "x" }.credential == .bearer("x"))
        #expect(try Self.address(variables).credential == .bearer("t"))
        #expect(
            try Self.address(files: files) { $0.adminSecretFile = "secret" }.credential
                == .bearer("s3cret")
        )
        #expect(
            try Self.address(["HEARTH_ADMIN_SECRET_FILE": "secret"], files: files).credential
                == .bearer("s3cret")
        )
        for name in ["empty", "two", "none"] {
            #expect(throws: CommandError.self) {
                try Self.address(files: files) { $0.tokenFile = name }
            }
        }
        let several = #expect(throws: CommandError.self) {
            try Self.address {
                $0.token = "x"
                $0.anonymous = true
            }
        }
        #expect(several?.exitCode == 2)
    }

    @Test("makes URLs with everything encoded")
    func urls() throws {
        let address = try Self.address {
            $0.url = "http://h:1"
            $0.instance = "my db"
            $0.authOverride = #"{"uid":"ä"}"#
        }
        #expect(
            address.url(DatabasePath("/a b//ü/"), [("orderBy", "\"$key\"")])
                == "http://h:1/a%20b/%C3%BC.json?orderBy=%22%24key%22&ns=my%20db"
                + "&auth_variable_override=%7B%22uid%22%3A%22%C3%A4%22%7D"
        )
        let plain = try Self.address { $0.url = "http://h:1" }
        #expect(plain.url(DatabasePath("/")) == "http://h:1/.json")
        #expect(plain.url(DatabasePath(".settings/rules")) == "http://h:1/.settings/rules.json")
    }
}

@Suite("a query on the command line")
struct QueryOptionsTests {
    private static func text(_ change: (inout GetCommand) -> Void) throws -> String {
        var command = try GetCommand.parse(["/"])
        change(&command)
        return command.parameters.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
    }

    @Test(
        "takes bounds as JSON where they are, else as strings",
        arguments: [
            ("5", "5"), ("-1.5e3", "-1.5e3"), ("true", "true"), ("null", "null"),
            ("abc", #""abc""#), (#""5""#, #""5""#), ("05", #""05""#), ("1.", #""1.""#),
            (#"a"b"#, #""a\"b""#), ("", #""""#), ("truely", #""truely""#), ("-", #""-""#),
        ]
    )
    func bounds(text: String, json: String) throws {
        #expect(try Self.text { $0.query.startAt = text } == "startAt=\(json)")
    }

    @Test("by key takes every bound as a string")
    func keys() throws {
        let text = try Self.text {
            $0.query.orderByKey = true
            $0.query.startAt = "5"
            $0.query.endAt = #""9""#
        }
        #expect(text == #"orderBy="$key"&startAt="5"&endAt="9""#)
    }

    @Test("has the parameters of the REST API")
    func parameters() throws {
        #expect(try Self.text { $0.query.orderBy = "a/b" } == #"orderBy="a/b""#)
        #expect(try Self.text { $0.query.orderBy = #""a""# } == #"orderBy="a""#)
        #expect(try Self.text { $0.query.orderByValue = true } == #"orderBy="$value""#)
        #expect(try Self.text { $0.query.orderByPriority = true } == #"orderBy="$priority""#)
        let all = try Self.text {
            $0.shallow = true
            $0.pretty = true
            $0.export = true
            $0.query.limitToFirst = 3
            $0.query.equalTo = "x"
        }
        #expect(all == #"shallow=true&print=pretty&format=export&limitToFirst=3&equalTo="x""#)
    }
}
