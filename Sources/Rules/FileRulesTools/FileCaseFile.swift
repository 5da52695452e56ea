import FileRules
import JSONTree
import RulesTools
package import SecurityRules

/// A file of cases for rules of files, read and checked.
///
///     {"service": "files", "rules"?: TEXT, "bucket"?, "auth"?, "now"?, "data"?, "databases"?: {NAME: TREE},
///      "cases": [case, ...]}
///     case = {"name", "op": "get|list|create|update|delete", "path", "auth"?, "now"?, "resource"?, "newResource"?,
///             "data"?, "rules"?, "expect": "allow|deny|invalid-rules", "why"?,
///             "decidedBy"?: "read /b/{bucket}/o/{id}" | null, "error"?, "errors"?: [text]}
package struct FileCaseFile: Sendable {
    /// In the order of the file.
    package let cases: [FileCase]

    /// The rules that the file itself has for all its cases; nil when it has none.
    package let sharedRules: LoadedFileRules?

    private let lines: InputText

    /// Reads a text.
    ///
    /// - Throws: `RulesError` with a fault for each case that cannot be read.
    package static func read(_ text: [UInt8]) throws(RulesError) -> FileCaseFile {
        var reader = FileCaseReader()
        text.withBytes { reader.read($0) }
        let lines = InputText(text)
        if !reader.faults.isEmpty {
            throw RulesError(faults: reader.faults.prefix(CaseFile.faultLimit).map(lines.resolved))
        }
        return FileCaseFile(cases: reader.cases, sharedRules: reader.sharedRules, lines: lines)
    }

    /// Whether a text is a file of cases for files, or a request to try: an object with `"service": "files"`.
    package static func isMeant(_ text: [UInt8]) -> Bool {
        text.withBytes { bytes in
            do throws(InputFault) {
                let whole = try RawObject(
                    RawValue(whole: bytes, what: "The file"),
                    what: "The file"
                )
                return try whole["service"]?.string("service") == "files"
            } catch {
                return false
            }
        }
    }

    /// Line and column of a case, both from 1.
    package func position(of example: FileCase) -> (line: Int, column: Int) {
        lines.position(of: example.offset)
    }

    /// Runs every case under its own rules, those of the file, or those given, and counts what they reach of the latter.
    ///
    /// - Returns: the outcomes of the cases that have rules, and the coverage of `rules`, or of the file's own; nil
    ///   when neither loads.
    package func run(under rules: LoadedFileRules?) -> ([FileCaseOutcome], FileCoverage?) {
        let shared = rules ?? sharedRules
        var coverage: FileCoverage?
        if case .success(let loaded)? = shared { coverage = FileCoverage(loaded) }
        let outcomes = cases.compactMap { $0.run(under: shared) }
        for outcome in outcomes where outcome.example.ownRules == nil {
            if let decision = outcome.decision { coverage?.add(decision) }
        }
        return (outcomes, coverage)
    }
}

/// Reads a file of cases and collects its faults.
private struct FileCaseReader {
    private(set) var cases: [FileCase] = []
    private(set) var faults: [InputFault] = []
    private(set) var sharedRules: LoadedFileRules?

    private var shared = FileRequestContext(bucket: "bucket", now: RuleCase.usualTime)
    private var databases: [String: Node] = [:]
    private var loaded: [String: LoadedFileRules] = [:]

    mutating func read(_ bytes: Bytes) {
        do throws(InputFault) {
            let whole = try RawValue(whole: bytes, what: "The file of cases")
            let file = try RawObject(whole, what: "The file of cases")
            try file.check(
                ["service", "rules", "bucket", "auth", "now", "data", "databases", "cases"],
                in: "the file of cases"
            )
            shared.bucket = try file["bucket"]?.string("bucket") ?? shared.bucket
            shared.now = try file.now() ?? shared.now
            shared.auth = try file.fileAuth(absent: nil)
            databases = try file.fileDatabases()
            if let value = file["rules"] { sharedRules = try rules(value) }
            let list = try file.required("cases", "it is the list of cases")
            for value in try list.elements("cases") where faults.count < CaseFile.faultLimit {
                readCase(value)
            }
        } catch {
            faults.append(error)
        }
    }

    private mutating func readCase(_ value: RawValue) {
        do throws(InputFault) {
            cases.append(try example(try RawObject(value, what: "A case")))
        } catch {
            faults.append(error)
        }
    }

    private mutating func example(_ object: RawObject) throws(InputFault) -> FileCase {
        try object.check(
            RawObject.fileRequestNames + [
                "name", "data", "rules", "expect", "why", "decidedBy", "error", "errors",
            ],
            in: "a case"
        )
        var databases = databases
        if let value = object["data"] { databases[""] = try value.fileTree() }
        let errors = try object["errors"]?.elements("errors").map { (element) throws(InputFault) in
            try element.string("errors")
        }
        var decidedBy: String??
        if let value = object["decidedBy"] {
            decidedBy = value.kind == .null ? .some(nil) : try value.string("decidedBy")
        }
        let ownRules = try object["rules"].map { (value) throws(InputFault) in try rules(value) }
        return FileCase(
            name: try object.required("name", "it says in a few words what must hold").string(
                "name"
            ),
            offset: object.offset,
            request: try object.fileRequest(shared).request(stored: nil),
            databases: databases,
            expected: try object.choice("expect", FileCase.Expectation.allCases),
            why: try object["why"]?.string("why"),
            decidedBy: decidedBy,
            error: try object["error"]?.string("error"),
            errors: errors,
            ownRules: ownRules
        )
    }

    private mutating func rules(_ value: RawValue) throws(InputFault) -> LoadedFileRules {
        let text = try value.string("rules")
        if let known = loaded[text] { return known }
        let result = Result { () throws(RulesError) in try FileRuleset.load(text) }
        loaded[text] = result
        return result
    }
}
