import JSONTree
package import SecurityRules

/// Rules that were given: loaded, or why they do not.
package typealias LoadedRules = Result<Ruleset, RulesError>

/// A file of cases, read and checked; see `docs/guides/RULES_TOOLS.md` for its two shapes.
package struct CaseFile: Sendable {
    /// In the order of the file.
    package let cases: [RuleCase]

    /// The rules that the file itself says for all its cases; nil when it says none.
    package let sharedRules: LoadedRules?

    /// Rules that cases contain; equal texts are loaded once.
    private let ownRules: [LoadedRules]

    /// Finds lines and columns in the text it was read from.
    private let lines: InputText

    /// Bytes that one file of cases may have.
    package static let byteLimit = 64 << 20

    /// Faults reported for one file; the rest is dropped.
    package static let faultLimit = 100

    /// Reads a text.
    ///
    ///     [case, ...]  or  {"data"?, "now"?, "auth"?, "rules"?, "cases": [case, ...]}
    ///     case = {"name", "op", "path", "value"?, "query"?, "auth"?, "now"?, "rules"?, "data"?,
    ///             "given"?: {path: value}, "expect": "allow|deny|invalid-rules", "why"?,
    ///             "decidedBy"?: "write /a/$b" | null, "error"?, "errors"?: [text]}
    ///
    /// - Throws: `RulesError` with a fault for each case that cannot be read.
    package static func read(_ text: [UInt8]) throws(RulesError) -> CaseFile {
        var reader = CaseFileReader()
        text.withBytes { reader.read($0) }
        let lines = InputText(text)
        if !reader.faults.isEmpty {
            throw RulesError(faults: reader.faults.prefix(faultLimit).map(lines.resolved))
        }
        return CaseFile(
            cases: reader.cases,
            sharedRules: reader.sharedRules,
            ownRules: reader.rules.all,
            lines: lines,
        )
    }

    /// Whether a text is a file of cases, valid or not, and not rules: a list that is not empty, or an object with
    /// `cases`.
    package static func isMeant(_ text: [UInt8]) -> Bool {
        text.withBytes { bytes in
            do throws(InputFault) {
                let whole = try RawValue(whole: bytes, what: "The file of cases")
                if case .array = whole.kind { return try !whole.elements("cases").isEmpty }
                return try RawObject(whole, what: "The file of cases")["cases"] != nil
            } catch {
                return false
            }
        }
    }

    /// Whether a case has rules of its own.
    package func hasOwnRules(_ example: RuleCase) -> Bool { example.ownRules != nil }

    /// The rules that a case is decided by: its own, else `shared`.
    package func rules(of example: RuleCase, shared: LoadedRules?) -> LoadedRules? {
        example.ownRules.map { ownRules[$0] } ?? shared
    }

    /// Line and column of a case, both from 1.
    package func position(of example: RuleCase) -> (line: Int, column: Int) {
        lines.position(of: example.offset)
    }
}

/// Reads a file of cases and collects its faults.
struct CaseFileReader {
    private(set) var cases: [RuleCase] = []
    private(set) var faults: [InputFault] = []
    private(set) var sharedRules: LoadedRules?
    private(set) var rules = RulesCollection()

    /// What all cases share that say nothing of their own.
    private var shared = SharedMembers()

    /// Reads the whole text.
    mutating func read(_ bytes: Bytes) {
        do throws(InputFault) {
            let whole = try RawValue(whole: bytes, what: "The file of cases")
            switch whole.kind {
            case .array: readCases(try whole.elements("cases"))
            case .object: try readShared(try RawObject(whole, what: "The file of cases"))
            case .string, .number, .boolean, .null:
                throw InputFault(
                    whole.offset,
                    "A file of cases is a list of cases, or an object with 'cases'."
                )
            }
        } catch {
            faults.append(error)
        }
    }

    private mutating func readShared(_ file: RawObject) throws(InputFault) {
        try file.check(["data", "now", "auth", "rules", "cases"], in: "the file of cases")
        guard let list = file["cases"] else {
            throw InputFault(file.offset, "'cases' is missing; it is the list of cases.")
        }
        shared.data = try file.data() ?? .absent
        shared.now = try file.now() ?? RuleCase.usualTime
        shared.auth = try file.auth()
        if let value = file["rules"] {
            let index = rules.add(try RulesMember(value).text)
            sharedRules = rules.all[index]
        }
        readCases(try list.elements("cases"))
    }

    private mutating func readCases(_ values: [RawValue]) {
        for value in values where faults.count < CaseFile.faultLimit {
            do throws(InputFault) {
                let object = try RawObject(value, what: "A case")
                cases.append(try RuleCase(object, shared, &rules))
            } catch {
                faults.append(error)
            }
        }
    }
}

/// What the cases of a file share.
struct SharedMembers {
    var data = Node.absent
    var now = RuleCase.usualTime
    var auth: AuthVariable?
}

/// The rules in a file; equal texts are loaded once.
struct RulesCollection {
    private(set) var all: [LoadedRules] = []
    private var indexes: [String: Int] = [:]

    /// Loads a text, unless it was; its index in `all`.
    mutating func add(_ text: String) -> Int {
        if let index = indexes[text] { return index }
        let loaded = Result { () throws(RulesError) in try Ruleset.load(text) }
        all.append(loaded)
        indexes[text] = all.count - 1
        return all.count - 1
    }
}
