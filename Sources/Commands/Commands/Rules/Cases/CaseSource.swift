import RulesTools
import SecurityRules

/// A file of cases, and the rules for the cases that have none.
struct CaseSource {
    let path: String
    let file: CaseFile
    /// Where the shared rules were found: a file, or the file of cases itself; nil when all cases bring their own.
    let rulesPath: String?
    let rules: LoadedRules?

    /// How the names of files of cases end.
    static let suffix = ".cases.json"

    /// Reads a file of cases without looking for rules.
    ///
    /// - Throws: `CommandError` with the position of every fault, or when it has no cases.
    static func read(_ path: String) throws(CommandError) -> CaseFile {
        let bytes = try TextFile.bytes(path, byteLimit: CaseFile.byteLimit)
        let file: CaseFile
        do throws(RulesError) { file = try CaseFile.read(bytes) } catch {
            let text = String(decoding: bytes, as: UTF8.self)
            throw .failed(FaultList.text(error, in: text, path: path))
        }
        // Without cases nothing would be tested, unnoticed.
        if file.cases.isEmpty { throw .failed("\(path): holds no cases") }
        return file
    }

    /// Reads a file of cases and its rules: those given, else those in the file, else those beside it.
    ///
    /// - Throws: `CommandError` when it cannot be read, or rules are needed and there are none.
    init(_ path: String, given: RulesFile?) throws(CommandError) {
        self.path = path
        file = try Self.read(path)
        if let given {
            rulesPath = given.path
            rules = .success(given.ruleset)
            return
        }
        if let shared = file.sharedRules {
            rulesPath = path
            rules = shared
            try Self.check(shared, path, file)
            return
        }
        if file.cases.allSatisfy(file.hasOwnRules) {
            rulesPath = nil
            rules = nil
            return
        }
        guard path.hasSuffix(Self.suffix) else {
            throw .usage(
                "\(path): no rules: give --rules FILE, or name the file X\(Self.suffix) beside X.json"
            )
        }
        let beside = String(path.dropLast(Self.suffix.count)) + ".json"
        rulesPath = beside
        rules = .success(try RulesFile.load(beside).ruleset)
    }

    /// Rules in a file of cases may be invalid if all its cases expect that.
    private static func check(
        _ rules: LoadedRules,
        _ path: String,
        _ file: CaseFile
    ) throws(CommandError) {
        guard case .failure(let error) = rules else { return }
        let wantsGood = file.cases.contains {
            !file.hasOwnRules($0) && $0.expected != .invalidRules
        }
        if wantsGood {
            throw .failed("\(path): its 'rules' do not load (positions count in them):\n\(error)")
        }
    }

    func rules(of example: RuleCase) -> LoadedRules {
        guard let rules = file.rules(of: example, shared: rules) else {
            preconditionFailure("cases without rules are refused when the file is read")
        }
        return rules
    }

    /// `rules/a.cases.json:12:3`.
    func location(of example: RuleCase) -> String {
        let (line, column) = file.position(of: example)
        return "\(path):\(line):\(column)"
    }
}
