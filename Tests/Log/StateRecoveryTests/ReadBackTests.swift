import JSONTree
import SimulatedStorage
import StateRecovery
import TestSupport
import Testing
import WriteAheadLog

@testable import DatabaseCore

@Suite("What is written is read back before it counts")
struct ReadBackTests {
    private static let keys = (0..<40).map { "k\(99 - $0)" }

    @Test("a checkpoint that does not decode never counts, and nothing is dropped for it")
    func refused() throws {
        let folder = try Folder()
        try folder.put(Self.keys)
        try folder.checkpoint()
        try folder.put(["a"])
        try folder.checkpoint()
        let files = folder.storage.files.filter { !$0.hasPrefix("log/spare") }
        try folder.put(["b"])
        let error = #expect(throws: LogError.self) { try folder.checkpoint(spoilFirstText) }
        guard case .refused(_, let file, _) = error else {
            Issue.record("not refused but \(String(describing: error))")
            return
        }
        #expect(file.hasSuffix(".partial/data"))
        #expect(folder.storage.files.filter { !$0.hasPrefix("log/spare") } == files)
        let root = folder.root
        try folder.restart()
        #expect(folder.root == root)
        try folder.put(["c"])
        try folder.checkpoint()
    }

    @Test("a checkpoint whose bytes the disk changed never counts")
    func damaged() throws {
        let folder = try Folder()
        try folder.put(Self.keys)
        let storage = folder.storage
        let flip: RecoveryReader = { step throws(RecoveryRefusal) in
            // The manifest is intact and its data not yet read: as if the disk had kept other bytes.
            guard case .checkpointBegan(let info?) = step else { return }
            let digits = String(info.position.value)
            let zeros = String(repeating: "0", count: 20 - digits.count)
            let path = "checkpoints/\(zeros)\(digits).partial/data"
            guard var bytes = storage.content(path) else { return }
            bytes[bytes.count / 2] ^= 1
            storage.overwrite(path, with: bytes)
        }
        let error = #expect(throws: LogError.self) { try folder.checkpoint(readBackBy: flip) }
        guard case .damage(let damage) = error else {
            Issue.record("no damage but \(String(describing: error))")
            return
        }
        #expect(damage.fault == .chunk(index: 0))
        try folder.checkpoint()
    }

    @Test("a checkpoint that names other databases than it holds does not read back")
    func otherHeads() throws {
        let folder = try Folder()
        try folder.put(["a"])
        let older = folder.content
        try folder.put(["b"])
        #expect(throws: LogError.self) {
            try folder.checkpoint(readBackBy: StateChecker().take) { $0 = older }
        }
    }

    @Test("checking finds in changed bytes what decoding finds", arguments: 0..<8)
    func sameFaults(part: Int) throws {
        let folder = try Folder()
        try folder.put(Self.keys)
        try folder.put(["deep/er/still", "long"], String(repeating: "long ", count: 700))
        try folder.append([.setRules(#"{"rules":{".read":true}}"#)])
        let content = folder.content
        var random = TestSeed.generator(UInt64(part))
        for index in stride(from: part, to: content.count, by: 8) {
            var bytes = content
            bytes[index] ^= UInt8.random(in: 1...255, using: &random)
            let changed = bytes
            var decoded: CommitDecodingError?
            var decoder = CheckpointDecoder()
            do throws(CommitDecodingError) {
                try decoder.feed(changed) { snapshot throws(CommitDecodingError) in
                    if let text = snapshot.rules { _ = try Database.load(text) }
                }
                try decoder.finish()
            } catch { decoded = error }
            var checked: CommitDecodingError?
            var check = StateCheck()
            do throws(CommitDecodingError) {
                try check.feed(changed)
                try check.finish()
            } catch { checked = error }
            #expect(decoded == checked, "byte \(index) is \(bytes[index]), was \(content[index])")
        }
    }
}
