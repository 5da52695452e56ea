import Testing

/// The samples under `rules/` that share parts.
@Suite("sample rules")
struct SampleTests {
    /// The parts of a rules file between its headings, `// ==== Name ====`, by name.
    private static func sections(of file: String) throws -> [String: String] {
        let heading = "        // ==== "
        var sections: [String: String] = [:]
        var name: String?
        for line in try Repository.file("rules/\(file)").lines {
            if line.hasPrefix(heading) {
                name = String(line.dropFirst(heading.count))
            } else if let name, !line.isEmpty {
                sections[name, default: ""] += line + "\n"
            }
        }
        // The last section ends with the file, whose brackets belong to no section.
        return sections.mapValues { $0.hasSuffix("    }\n}\n") ? String($0.dropLast(8)) : $0 }
            .filter { !$0.key.hasPrefix("End") }
    }

    @Test("social.json has every section of chat.json and of timeline.json, word for word")
    func social() throws {
        let social = try Self.sections(of: "social.json").mapValues(Self.withoutLastComma)
        for file in ["chat.json", "timeline.json"] {
            let sections = try Self.sections(of: file).mapValues(Self.withoutLastComma)
            #expect(sections.count >= 2)
            for (name, text) in sections {
                #expect(social[name] == text, "\(file): \(name)")
            }
        }
    }

    /// Whether a comma follows depends on what comes behind a section.
    private static func withoutLastComma(_ text: String) -> String {
        text.hasSuffix("},\n") ? text.dropLast(2) + "\n" : text
    }
}
