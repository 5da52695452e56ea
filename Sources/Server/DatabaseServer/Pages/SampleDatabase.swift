import FileRules
import SecurityRules

/// A database of the sample services, named as the pages ask for it.
enum SampleDatabase: String, CaseIterable, Sendable {
    /// Of chat and timeline.
    case social
    case party

    /// The rules of `rules/social.json` and `rules/party.json`, compiled in.
    ///
    /// - Throws: `RulesError`; the tests load each.
    func rules() throws(RulesError) -> Ruleset {
        guard let file = PageSet.sampleRules.files[rawValue] else {
            preconditionFailure("each sample database has rules")
        }
        return try Ruleset.load(String(decoding: file.bytes, as: UTF8.self))
    }

    /// The rules of its bucket of files, which has the same name: `rules/social.storage` and `rules/party.storage`.
    ///
    /// - Throws: `RulesError`; the tests load each.
    func fileRules() throws(RulesError) -> FileRuleset {
        guard let file = PageSet.sampleRules.files["\(rawValue).storage"] else {
            preconditionFailure("each sample database has rules for files")
        }
        return try FileRuleset.load(String(decoding: file.bytes, as: UTF8.self))
    }
}

extension Configuration {
    /// Reads whether there are sample services, and adds the databases of those that are not named.
    mutating func readSamples(_ reader: inout SettingReader) {
        servesSamples = reader.toggle(.samples)
        guard servesSamples else { return }
        if mode == .production {
            reader.fault(
                .samples,
                "serves pages that are for trying things out, which only a --dev server may",
                "Leave it out, or add --dev."
            )
        }
        let named = Set(databases.map(\.name.text))
        for sample in SampleDatabase.allCases where !named.contains(sample.rawValue) {
            do throws(DatabaseNameError) {
                let name = try DatabaseName(sample.rawValue)
                databases.append(Database(name: name, rulesFile: nil))
            } catch {
                preconditionFailure("names of sample databases are names")
            }
        }
    }

    /// The databases that get the sample rules: those without a rules file of their own.
    var sampleDatabases: [SampleDatabase] {
        guard servesSamples else { return [] }
        let ruled = Set(databases.filter { $0.rulesFile != nil }.map(\.name.text))
        return SampleDatabase.allCases.filter { !ruled.contains($0.rawValue) }
    }
}
