import FileRulesTools
import RulesTools
import SecurityRules

/// A file of cases, and the rules for the cases that have none.
struct CaseSource {
    /// The cases, for a database or for files, and the rules that they share; nil when all bring their own.
    enum Cases {
        case database(CaseFile, LoadedRules?)
        case files(FileCaseFile, LoadedFileRules?)
    }

    let path: String
    let cases: Cases
    /// Where the shared rules were found: a file, or the file of cases itself; nil when all cases bring their own.
    let rulesPath: String?

    /// How the names of files of cases end.
    static let suffix = ".cases.json"

    /// Reads a file of cases for a database without looking for rules.
    ///
    /// - Throws: `CommandError` with the position of every fault, or when it has no cases.
    static func read(_ path: String) throws(CommandError) -> CaseFile {
        try read(path, try bytes(path), CaseFile.read, count: \.cases.count)
    }

    /// Reads a file of cases for files without looking for rules.
    ///
    /// - Throws: `CommandError` with the position of every fault, or when it has no cases.
    static func readForFiles(_ path: String) throws(CommandError) -> FileCaseFile {
        try read(path, try bytes(path), FileCaseFile.read, count: \.cases.count)
    }

    private static func bytes(_ path: String) throws(CommandError) -> [UInt8] {
        try TextFile.bytes(path, byteLimit: CaseFile.byteLimit)
    }

    private static func read<File>(
        _ path: String,
        _ bytes: [UInt8],
        _ read: ([UInt8]) throws(RulesError) -> File,
        count: (File) -> Int
    ) throws(CommandError) -> File {
        let file: File
        do throws(RulesError) { file = try read(bytes) } catch {
            let text = String(decoding: bytes, as: UTF8.self)
            throw .failed(FaultList.text(error, in: text, path: path))
        }
        // Without cases nothing would be tested, unnoticed.
        if count(file) == 0 { throw .failed("\(path): holds no cases") }
        return file
    }

    /// Reads a file of cases and its rules: those given, else those in the file, else those beside it.
    ///
    /// - Throws: `CommandError` when it cannot be read, or rules are needed and there are none.
    init(_ path: String, given: RulesFile?) throws(CommandError) {
        let bytes = try Self.bytes(path)
        self.path = path
        if FileCaseFile.isMeant(bytes) {
            let file = try Self.read(path, bytes, FileCaseFile.read, count: \.cases.count)
            let own = file.sharedRules
            if given == nil, let own {
                let isGoodNeeded = file.cases.contains {
                    $0.ownRules == nil && $0.expected != .invalidRules
                }
                if isGoodNeeded { try Self.check(own, path) }
                (cases, rulesPath) = (.files(file, own), path)
            } else if given == nil, file.cases.allSatisfy({ $0.ownRules != nil }) {
                (cases, rulesPath) = (.files(file, nil), nil)
            } else {
                let rules =
                    if let given { given } else { try Self.rulesBeside(path, extension: "") }
                (cases, rulesPath) = (.files(file, .success(try rules.fileRuleset)), rules.path)
            }
            return
        }
        let file = try Self.read(path, bytes, CaseFile.read, count: \.cases.count)
        let own = file.sharedRules
        if given == nil, let own {
            let isGoodNeeded = file.cases.contains {
                !file.hasOwnRules($0) && $0.expected != .invalidRules
            }
            if isGoodNeeded { try Self.check(own, path) }
            (cases, rulesPath) = (.database(file, own), path)
        } else if given == nil, file.cases.allSatisfy(file.hasOwnRules) {
            (cases, rulesPath) = (.database(file, nil), nil)
        } else {
            let rules =
                if let given { given } else { try Self.rulesBeside(path, extension: ".json") }
            (cases, rulesPath) = (.database(file, .success(try rules.ruleset)), rules.path)
        }
    }

    /// The rules file that the name of a file of cases means: `X.json` for a database, `X` itself, such as
    /// `social.storage`, for files.
    private static func rulesBeside(
        _ path: String,
        extension ending: String
    ) throws(CommandError) -> RulesFile {
        guard path.hasSuffix(suffix) else {
            let beside = ending.isEmpty ? "storage.rules, say" : "X\(ending)"
            let name = ending.isEmpty ? "storage.rules\(suffix)" : "X\(suffix)"
            throw .usage(
                "\(path): no rules: give --rules FILE, or name the file \(name) beside \(beside)"
            )
        }
        return try RulesFile.load(String(path.dropLast(suffix.count)) + ending)
    }

    /// Rules in a file of cases may be invalid if all its cases expect that.
    private static func check<Rules>(
        _ rules: Result<Rules, RulesError>,
        _ path: String
    ) throws(CommandError) {
        guard case .failure(let error) = rules else { return }
        throw .failed("\(path): its 'rules' do not load (positions count in them):\n\(error)")
    }
}
