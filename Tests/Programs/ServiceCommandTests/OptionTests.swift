import ArgumentParser
import ServiceCommand
import Testing

@Suite("options of programs")
struct OptionTests {
    @Test("are those of a server on this machine, unless they are given")
    func defaults() throws {
        let options = try ConnectionOptions.parse([])
        #expect(options.url == nil && options.instance == nil && options.authorityFile == nil)
        #expect(options.profile == "default" && options.deadline == 10)
        #expect(options.repeated == "")
    }

    @Test(
        "are repeated behind a command that is proposed, as far as they say where and who",
        arguments: [
            (["--profile", "bea"], " --profile bea"),
            (["--ns", "one"], " --instance one"),
            (["--instance", "two", "--deadline", "0.5"], " --instance two"),
            (
                ["--profile", "bea", "--url", "http://127.0.0.1:9001"],
                " --url http://127.0.0.1:9001 --profile bea"
            ),
            (["--profile", "default", "--ca-file", "ca.pem"], ""),
        ]
    )
    func repeated(arguments: [String], expected: String) throws {
        #expect(try ConnectionOptions.parse(arguments).repeated == expected)
    }

    @Test("have a deadline of more than nothing, up to a day", arguments: ["0.001", "86400"])
    func deadline(text: String) throws {
        #expect(try ConnectionOptions.parse(["--deadline", text]).deadline == Double(text))
    }

    @Test(
        "of an impossible deadline are wrong usage",
        arguments: ["0", "-1", "86400.5", "nan", "inf", "soon", ""]
    )
    func noDeadline(text: String) throws {
        let error = #expect(throws: (any Error).self) {
            try ConnectionOptions.parse(["--deadline=\(text)"])
        }
        let found = try #require(error)
        #expect(ConnectionOptions.exitCode(for: found) == .validationFailure)
        #expect(ConnectionOptions.message(for: found).contains("deadline"))
    }

    /// What is refused before anything is asked of a server or written to the disk.
    static let unusable: [([String], says: String)] = [
        (["--url", "ftp://example.com"], "begins with neither http:// nor https://"),
        (["--url", "http://"], "has no host"),
        (["--url", "http://ann:secret1@example.com"], "has a user or a password"),
        (["--url", "http://example.com:0"], "its port is not in 1...65535"),
        (["--instance", "a/b"], "'a/b' cannot name a database"),
        (["--profile", ""], "'' cannot name an app"),
        (["--profile", "a\nb"], "cannot name an app"),
        (["--ca-file", "/nowhere/ca.pem"], "/nowhere/ca.pem cannot be read"),
    ]

    @Test(
        "that are impossible are reported in a sentence without the password",
        arguments: unusable
    )
    func wrong(arguments: [String], says: String) async throws {
        let options = try ConnectionOptions.parse(arguments)
        let fault = await #expect(throws: ProgramFault.self) { _ = try await options.signOut() }
        let text = try #require(fault).description
        #expect(text.contains(says))
        #expect(!text.contains("secret1"))
    }
}
