import Foundation
import Testing

/// One story of a client: what happens, and what the client must do each time.
struct Scenario: Sendable, CustomTestStringConvertible {
    let file: String
    let title: String
    /// The lines behind the title: what happens stands at the margin, what the client does is indented.
    let lines: [String]

    var testDescription: String { "\(file): \(title)" }

    /// The scenarios of a file, each behind a line `# title`; what stands before the first is prose.
    static func read(_ text: String, file: String) -> (prose: [String], scenarios: [Scenario]) {
        var prose: [String] = []
        var scenarios: [Scenario] = []
        var title: String?
        var lines: [String] = []
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
            if line.hasPrefix("# ") {
                if let title { scenarios.append(Scenario(file: file, title: title, lines: lines)) }
                title = String(line.dropFirst(2))
                lines = []
            } else if title == nil {
                prose.append(line)
            } else if !line.isEmpty {
                lines.append(line)
            }
        }
        if let title { scenarios.append(Scenario(file: file, title: title, lines: lines)) }
        return (prose, scenarios)
    }

    /// The text as it stands in its file.
    var text: String { (["# " + title] + lines).joined(separator: "\n") }
}

@Suite("Scenarios of the client")
struct ScenarioTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "Scenarios")

    private static let files: [(name: String, prose: [String], scenarios: [Scenario])] = {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path())) ?? []
        return names.filter { $0.hasSuffix(".txt") }.sorted().compactMap { name in
            guard
                let text = try? String(contentsOf: folder.appending(path: name), encoding: .utf8)
            else { return nil }
            let (prose, scenarios) = Scenario.read(text, file: name)
            return (name, prose, scenarios)
        }
    }()

    static let scenarios = files.flatMap(\.scenarios)

    private static var isUpdating: Bool {
        ProcessInfo.processInfo.environment["UPDATE_SPECS"] == "1"
    }

    @Test("there are at least 150 scenarios, and each has a title of its own")
    func count() {
        #expect(Self.scenarios.count >= 150)
        #expect(Set(Self.scenarios.map(\.title)).count == Self.scenarios.count)
    }

    /// A failure shows the lines that are gone with `-` and those that are new with `+`.
    @Test("the client does what the scenario says", arguments: scenarios)
    func play(scenario: Scenario) throws {
        if Self.isUpdating { return }
        let played = try ScenarioPlayer.play(scenario)
        if played == scenario.lines { return }
        let difference = Self.difference(scenario.lines, played).joined(separator: "\n")
        Issue.record("\(scenario.title)\n\(difference)")
    }

    /// `UPDATE_SPECS=1` rewrites the files; the difference is then for people to decide.
    @Test("the files of scenarios can be rewritten")
    func rewrite() throws {
        guard Self.isUpdating else { return }
        for file in Self.files {
            var parts = [file.prose.joined(separator: "\n").trimmingCharacters(in: .newlines)]
            for scenario in file.scenarios {
                let lines = try ScenarioPlayer.play(scenario)
                let played = Scenario(file: file.name, title: scenario.title, lines: lines)
                parts.append(played.text)
            }
            let text = parts.filter { !$0.isEmpty }.joined(separator: "\n\n") + "\n"
            try text.write(
                to: Self.folder.appending(path: file.name),
                atomically: true,
                encoding: .utf8
            )
        }
    }

    private static func difference(_ old: [String], _ new: [String]) -> [String] {
        var removed: Set<Int> = []
        var inserted: Set<Int> = []
        for change in new.difference(from: old) {
            switch change {
            case .remove(let offset, _, _): removed.insert(offset)
            case .insert(let offset, _, _): inserted.insert(offset)
            }
        }
        var lines: [String] = []
        var oldIndex = 0
        var newIndex = 0
        while oldIndex < old.count || newIndex < new.count {
            if removed.contains(oldIndex) {
                lines.append("-" + old[oldIndex])
                oldIndex += 1
            } else if inserted.contains(newIndex) {
                lines.append("+" + new[newIndex])
                newIndex += 1
            } else {
                lines.append(" " + old[oldIndex])
                oldIndex += 1
                newIndex += 1
            }
        }
        return lines
    }
}
