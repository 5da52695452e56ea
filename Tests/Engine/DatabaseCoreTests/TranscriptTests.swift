import TestSupport
import Foundation
import Testing

@Suite("Transcripts of the engine")
struct TranscriptTests {
    static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "Transcripts")

    static let names: [String] = {
        let files = try? FileManager.default.contentsOfDirectory(atPath: folder.path())
        return (files ?? []).filter { $0.hasSuffix(".txt") }.sorted()
    }()

    @Test("there are transcripts to play")
    func transcriptsExist() {
        #expect(Self.names.count >= 8)
    }

    /// `UPDATE_SPECS=1` rewrites the files; the difference is then to be reviewed.
    @Test("the engine does what the transcript says", arguments: names)
    func play(name: String) throws {
        let file = Self.folder.appending(path: name)
        let written = try String(contentsOf: file, encoding: .utf8)
        let played = try Transcript.play(written)
        if ProcessInfo.processInfo.environment["UPDATE_SPECS"] == "1" {
            try played.write(to: file, atomically: true, encoding: .utf8)
        } else {
            #expect(played == written)
        }
    }
}
