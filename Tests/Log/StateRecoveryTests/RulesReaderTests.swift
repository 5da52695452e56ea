import JSONTree
import SimulatedStorage
import StateRecovery
import Testing
import WriteAheadLog

@testable import DatabaseCore

@Suite("Which rules a folder's databases have is found without their data")
struct RulesReaderTests {
    private static let open = #"{"rules":{".read":true}}"#
    private static let closed = #"{"rules":{".read":false}}"#

    /// The operations that put rules in force, or take them away, as the engine logs them.
    private func change(_ number: Int, _ text: String?) -> [CommitOperation] {
        let version = RulesVersion(
            number: number,
            time: Timestamp(milliseconds: 5),
            author: "\u{301}ann",
            text: text,
        )
        let entry = version.entry
        let setting = CommitOperation.setting(name: entry.name, text: entry.text)
        return [setting, text.map { .setRules($0) } ?? .detachRules]
    }

    /// Compares with what a recovery finds; the folder itself stays as it is.
    private func expectFound(_ folder: Folder, _ comment: Comment) throws {
        let files = Dictionary(
            uniqueKeysWithValues: folder.storage.files.map { ($0, folder.storage.content($0)) }
        )
        let found = try RulesReader.read(folder.storage)
        let known = folder.state.engine.summaries()
        #expect(found.map(\.database) == known.map(\.database), comment)
        #expect(found.map(\.version) == known.map(\.ownRules), comment)
        #expect(Set(folder.storage.files) == Set(files.keys), comment)
        for (path, content) in files { #expect(folder.storage.content(path) == content, comment) }
    }

    @Test("whatever of them stands in a checkpoint and in the log after it")
    func histories() throws {
        let folder = try Folder()
        try expectFound(folder, "an empty folder")
        try folder.put((0..<60).map { "k\(99 - $0)" })
        try expectFound(folder, "data alone")
        let changes: [[CommitOperation]] = [
            // As of a build without a history.
            [.setRules(Self.open)], [.detachRules],
            change(1, Self.open), change(2, nil), change(3, Self.closed),
        ]
        for (index, operations) in changes.enumerated() {
            try folder.append(operations)
            try expectFound(folder, "change \(index) in the log")
            if index % 2 == 0 { try folder.checkpoint() } else { try folder.restart() }
            try expectFound(folder, "change \(index), then a checkpoint or an orderly end")
            try folder.put(["later\(index)"], String(repeating: "long ", count: 2_000))
            try folder.crash()
            try expectFound(folder, "change \(index), then a crash")
        }
        #expect(try RulesReader.read(folder.storage)[0].version?.number == 3)
    }

    @Test("of a checkpoint only what is not data is read")
    func passesOver() throws {
        let folder = try Folder()
        try folder.append(change(1, Self.open))
        try folder.put(["a"])
        try folder.checkpointInParts()
        let path = try #require(folder.storage.files.first { $0.hasSuffix("/data") })
        var bytes = try #require(folder.storage.content(path))
        let text = Array("value".utf8)
        let place = (0..<bytes.count - text.count).first { start in
            bytes[start..<start + text.count].elementsEqual(text)
        }
        bytes[try #require(place)] ^= 1
        folder.storage.overwrite(path, with: bytes)
        #expect(try RulesReader.read(folder.storage)[0].version?.number == 1)
    }

    @Test("a log that a start would refuse is refused")
    func damage() throws {
        let folder = try Folder()
        try folder.put(["a"])
        try folder.restart()
        let path = try #require(folder.storage.files.first { $0.hasSuffix("1.log") })
        var bytes = try #require(folder.storage.content(path))
        for index in 64..<bytes.count { bytes[index] = 0 }
        folder.storage.overwrite(path, with: bytes)
        #expect(throws: LogError.self) { try RulesReader.read(folder.storage) }
    }
}
