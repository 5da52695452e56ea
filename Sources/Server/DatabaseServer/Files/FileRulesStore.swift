import FileRecords
import FileRules
import FileRulesTools
import Files
import SecurityRules

/// The rules for files in force.
struct FileRulesStore: Sendable {
    /// Those of every bucket that has none of its own.
    private(set) var shared: FileRulesInForce
    private var own: [BucketName: FileRuleset] = [:]

    /// Reads the files that the configuration names.
    ///
    /// - Throws: `RulesFileError` for people.
    init(_ configuration: Configuration) throws {
        shared = configuration.mode == .development ? .open : .none
        if let path = configuration.files.rulesFile { shared = .loaded(try Self.load(path)) }
        for bucket in configuration.files.buckets {
            if let path = bucket.rulesFile { own[bucket.name] = try Self.load(path) }
        }
    }

    /// The rules of a bucket.
    func rules(of bucket: BucketName) -> FileRulesInForce {
        own[bucket].map { .loaded($0) } ?? shared
    }

    /// Puts the rules of one bucket, or (nil) of all that have none of their own, in force.
    mutating func set(_ rules: FileRuleset, of bucket: BucketName?) {
        if let bucket { own[bucket] = rules } else { shared = .loaded(rules) }
    }

    /// Puts rules in the place of all.
    mutating func replace(_ rules: FileRuleset) {
        shared = .loaded(rules)
        own = [:]
    }

    /// Rules from a file, with faults that name it.
    ///
    /// - Throws: `RulesFileError` for people: `file:line:column: message`, a line each.
    static func load(_ path: String) throws -> FileRuleset {
        let bytes = try SmallFile.read(path, byteLimit: RulesFile.byteLimit).bytes
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw RulesFileError(description: "\(path): is not UTF-8 text")
        }
        do throws(RulesError) { return try FileRuleset.load(text) } catch {
            throw RulesFileError(path, error)
        }
    }
}

extension RulesFileError {
    /// Every fault of a file, a line each.
    init(_ path: String, _ error: RulesError) {
        let lines = error.faults.map { fault in
            "\(path):\(fault.line):\(fault.column): \(fault.message)"
                + (fault.hint.map { " (\($0))" } ?? "")
        }
        self.init(description: lines.joined(separator: "\n"))
    }
}
