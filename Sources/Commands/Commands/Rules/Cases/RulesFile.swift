import FileRules
import Files
import RulesTools
import SecurityRules

/// A rules file that loads, for a database or for files.
struct RulesFile {
    enum Rules {
        case database(Ruleset)
        case files(FileRuleset)
    }

    let path: String
    let text: String
    let rules: Rules

    /// Bytes of one file: more than rules may have, so that their own limit speaks.
    static let byteLimit = 8 << 20

    /// Reads and loads a file.
    ///
    /// - Throws: `CommandError` with every fault, its line and a caret below the position.
    static func load(_ path: String) throws(CommandError) -> RulesFile {
        let text = try TextFile.read(path, byteLimit: byteLimit)
        do throws(RulesError) {
            let rules: Rules =
                FileRuleset.isMeant(text)
                ? .files(try FileRuleset.load(text)) : .database(try Ruleset.load(text))
            return RulesFile(path: path, text: text, rules: rules)
        } catch {
            throw .failed(FaultList.text(error, in: text, path: path))
        }
    }

    /// The rules, which must be for a database.
    var ruleset: Ruleset {
        get throws(CommandError) {
            if case .database(let ruleset) = rules { return ruleset }
            throw .usage("\(path): holds rules for files; rules for a database are needed here")
        }
    }

    /// The rules, which must be for files.
    var fileRuleset: FileRuleset {
        get throws(CommandError) {
            if case .files(let ruleset) = rules { return ruleset }
            throw .usage("\(path): holds rules for a database; rules for files are needed here")
        }
    }
}

enum TextFile {
    /// Reads a file, which must be UTF-8.
    static func read(_ path: String, byteLimit: Int) throws(CommandError) -> String {
        let bytes = try self.bytes(path, byteLimit: byteLimit)
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw .failed("\(path): is not UTF-8 text")
        }
        return text
    }

    /// Reads the bytes of a file or pipe; `-` is standard input.
    static func bytes(_ path: String, byteLimit: Int) throws(CommandError) -> [UInt8] {
        do throws(FileError) {
            return try InputFile.read(path, byteLimit: byteLimit)
        } catch {
            throw .failed("\(error)")
        }
    }
}

/// Faults of a text that people wrote, for people.
enum FaultList {
    /// Faults that are shown of one text.
    private static let limit = 20

    /// Each fault with its line and a caret, without the word `error` before the first one, which the
    /// command line adds.
    static func text(_ error: RulesError, in text: String, path: String) -> String {
        let lines = RulesText(text)
        var shown = error.faults.prefix(limit).map { Excerpt.fault($0, of: path, lines) }
        if error.faults.count > limit { shown.append("and \(error.faults.count - limit) more") }
        return shown.joined(separator: "\n")
    }
}
