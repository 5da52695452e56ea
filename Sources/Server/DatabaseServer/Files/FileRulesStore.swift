import FileRecords
import FileRules
import FileRulesTools
import Files
import SecurityRules

/// The rules for files in force.
struct FileRulesStore: Sendable {
    /// Those of files that the configuration names: of one bucket, or (nil) of all others.
    private var files: [BucketName?: FileRuleset] = [:]
    /// Instead of the file of all others: rules that were published, or `none` where these do not load any more.
    private var published: FileRulesInForce?
    /// What counts without rules.
    private let unruled: FileRulesInForce

    /// Reads the files that the configuration names.
    ///
    /// - Throws: `RulesFileError` for people.
    init(_ configuration: Configuration) throws {
        unruled = configuration.mode == .development ? .open : .none
        if let path = configuration.files.rulesFile { files[nil] = try Self.load(path) }
        if configuration.servesSamples, configuration.files.rulesFile == nil {
            for sample in SampleDatabase.allCases {
                files[try BucketName(sample.rawValue)] = try sample.fileRules()
            }
        }
        for bucket in configuration.files.buckets {
            if let path = bucket.rulesFile { files[bucket.name] = try Self.load(path) }
        }
    }

    /// The rules of a bucket.
    func rules(of bucket: BucketName) -> FileRulesInForce {
        files[bucket].map { .loaded($0) } ?? shared
    }

    /// The bucket under which decisions about one are counted: nil for all that have no file of their own.
    func scope(of bucket: BucketName) -> BucketName? { files[bucket] == nil ? nil : bucket }

    /// The rules of every bucket that has no file of its own.
    var shared: FileRulesInForce {
        published ?? files[nil].map { FileRulesInForce.loaded($0) } ?? unruled
    }

    /// Takes the rules of the file of one bucket, or (nil) of that of all others.
    mutating func set(_ rules: FileRuleset, of bucket: BucketName?) { files[bucket] = rules }

    /// Puts rules in the place of the file of all others; nil goes back to it.
    mutating func publish(_ rules: FileRulesInForce?) { published = rules }

    /// Puts rules in the place of all.
    mutating func replace(_ rules: FileRuleset) {
        files = [:]
        published = .loaded(rules)
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
