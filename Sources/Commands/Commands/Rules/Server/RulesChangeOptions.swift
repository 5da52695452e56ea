import ArgumentParser
import Glibc

/// Who changes rules.
struct AuthorOption: ParsableArguments {
    @Option(
        help: .value("name", "Who makes the change, as the history shows it (default: user@host).")
    )
    var author: String?

    /// The given name, else that of the user who runs the process.
    var name: String? { author ?? ChangeAuthor.ofProcess(ProcessEnvironment.variables()) }
}

/// Which rules are meant: those of the database, or those for files.
struct RulesServiceOption: ParsableArguments {
    @Flag(help: "The rules for files, and not those of the database.")
    var files = false
}

/// Optional parts of a change of rules.
struct RulesChangeOptions: ParsableArguments {
    @OptionGroup
    var author: AuthorOption

    @Option(
        value: "version",
        help: "Change nothing unless this version is in force; 0 stands for none."
    )
    var expect: Int?

    @Flag(help: "Only ask the server whether it would do it.")
    var dryRun = false

    func validate() throws {
        if let expect, expect < 0 {
            throw ValidationError("--expect: \(expect) is the number of no version")
        }
    }

    var parameters: Parameters {
        Self.parameters(author: author.name, expect: expect) + (dryRun ? [("dryRun", "true")] : [])
    }

    /// The parameters of a change; nil leaves the author to the server, and takes any version in force.
    static func parameters(author: String?, expect: Int?) -> Parameters {
        Parameters([("author", author), ("expectedVersion", expect.map { "\($0)" })])
    }
}

/// Who changes rules, as their history shows it.
enum ChangeAuthor {
    /// `user@host` of the process; nil without a user name.
    static func ofProcess(_ environment: [String: String]) -> String? {
        let names = ["USER", "LOGNAME"].compactMap { environment[$0] }
        guard let user = names.first(where: { !$0.isEmpty }) else { return nil }
        // A host has at most 64 characters on Linux.
        var buffer = [CChar](repeating: 0, count: 256)
        let isNamed = gethostname(&buffer, buffer.count - 1) == 0
        let bytes = buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        let host = isNamed ? String(decoding: bytes, as: UTF8.self) : ""
        return named(user: user, host: host)
    }

    /// A name that servers accept: invalid characters are replaced.
    static func named(user: String, host: String) -> String {
        let name = host.isEmpty ? user : "\(user)@\(host)"
        let plain = name.unicodeScalars.map { scalar in
            (0x21...0x7E).contains(scalar.value) ? Character(scalar) : "_"
        }
        return String(plain.prefix(byteLimit))
    }

    /// Adds the kind of change: `ann@laptop (rollback to 3)`.
    static func with(_ note: String, _ author: String?) -> String {
        guard let author else { return note }
        let ending = " (\(note))"
        var kept = author
        while kept.utf8.count + ending.utf8.count > byteLimit { kept.removeLast() }
        return kept + ending
    }

    /// Bytes that servers take.
    private static let byteLimit = 200
}
