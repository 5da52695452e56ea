import Foundation
import Testing
import WriteAheadLog

/// A folder of its own that goes with the test.
private final class TemporaryFolder {
    let path: String

    init() throws {
        let name = "hearth-log-\(UUID().uuidString)"
        path = FileManager.default.temporaryDirectory.appending(path: name).path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    }

    deinit {
        do { try FileManager.default.removeItem(atPath: path) } catch {
            Issue.record("cannot remove \(path): \(error)")
        }
    }

    var storage: FileLogStorage { FileLogStorage(path: "\(path)/data") }
}

@Suite("the log on real files")
struct FileStorageTests {
    @Test("what was appended is recovered after a kill, a checkpoint and a good end")
    func roundTrip() throws {
        let folder = try TemporaryFolder()
        var options = LogOptions(segmentByteCount: 8192, reserveByteCount: 0)
        options.readByteCount = 4096
        let log = try openLog(folder.storage, options)
        try append(entries([10, 5000, 4000]), to: log.writer)
        try append(entries([3], after: 3), to: log.writer)
        try log.writer.maintain()
        // As after a kill: nothing is closed but the lock.
        log.folder.close()
        let again = try openLog(folder.storage, options)
        #expect(again.entries == entries([10, 5000, 4000]) + entries([3], after: 3))
        try checkpoint([[1, 2, 3], [UInt8](repeating: 4, count: 10_000)], again)
        try append(entries([7], after: 4), to: again.writer)
        try again.writer.close()
        again.folder.close()
        let last = try openLog(folder.storage, options)
        #expect(last.entries == entries([7], after: 4))
        #expect(last.chunks == [[1, 2, 3], [UInt8](repeating: 4, count: 10_000)])
        last.folder.close()
        #expect(try LogVerification.run(folder.storage).isSound)
        let copy = FileLogStorage(path: "\(folder.path)/copy")
        #expect(try LogSalvage.run(from: folder.storage, to: copy, options: options).isComplete)
        #expect(try openLog(copy, options).chunks == last.chunks)
    }

    @Test("the files are for this user alone, and the next segment's room is taken beforehand")
    func permissions() throws {
        let folder = try TemporaryFolder()
        let options = LogOptions(segmentByteCount: 1 << 20, reserveByteCount: 0)
        let log = try openLog(folder.storage, options)
        try append(entries([1]), to: log.writer)
        try log.writer.maintain()
        for (name, mode) in [
            ("", 0o700), ("/log", 0o700), ("/LOCK", 0o600), ("/FORMAT", 0o600),
            ("/log/spare", 0o600), ("/log/00000000000000000001.log", 0o600),
        ] {
            let path = "\(folder.storage.path)\(name)"
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            #expect(attributes[.posixPermissions] as? Int == mode, "\(name)")
        }
        var status = stat()
        #expect(stat("\(folder.storage.path)/log/spare", &status) == 0)
        #expect(status.st_blocks * 512 >= 1 << 20)
    }

    @Test(
        "a folder held by this process cannot be opened a second time, and the error names the pid"
    )
    func lockedHere() throws {
        let folder = try TemporaryFolder()
        let log = try openLog(folder.storage)
        let pid = getpid()
        let expected = LogError.inUse(path: folder.storage.path, holder: pid)
        #expect(throws: expected) { try openLog(folder.storage) }
        #expect(expected.description.contains("process \(pid)"))
        #expect(try LogInspection.run(folder.storage).isInUse)
        log.folder.close()
        try openLog(folder.storage).folder.close()
    }

    @Test("two processes cannot hold one folder")
    func lockedElsewhere() throws {
        let folder = try TemporaryFolder()
        try openLog(folder.storage).folder.close()
        let other = Process()
        let input = Pipe()
        let output = Pipe()
        other.executableURL = URL(filePath: "/usr/bin/flock")
        other.arguments = ["\(folder.storage.path)/LOCK", "sh", "-c", "echo held; cat"]
        other.standardInput = input
        other.standardOutput = output
        try other.run()
        #expect(output.fileHandleForReading.availableData == Data("held\n".utf8))
        #expect(throws: LogError.inUse(path: folder.storage.path, holder: getpid())) {
            try openLog(folder.storage)
        }
        try input.fileHandleForWriting.close()
        other.waitUntilExit()
        try openLog(folder.storage).folder.close()
    }

    @Test("a failed call names the path and what the system says")
    func errors() throws {
        let folder = try TemporaryFolder()
        let missing = FileLogStorage(path: "\(folder.path)/no/such")
        let failure = #expect(throws: LogError.self) { try openLog(missing) }
        #expect(
            failure?.description
                == "cannot create folder \(folder.path)/no/such: No such file or directory (errno 2)"
        )
        try Data("x".utf8).write(to: URL(filePath: "\(folder.path)/file"))
        let onFile = FileLogStorage(path: "\(folder.path)/file")
        #expect(throws: LogError.self) { try openLog(onFile) }
    }

    @Test("a folder that is missing has no names, and one that cannot be listed is no empty one")
    func list() throws {
        let folder = try TemporaryFolder()
        let storage = FileLogStorage(path: folder.path)
        #expect(try storage.list("missing") == [])
        try Data("x".utf8).write(to: URL(filePath: "\(folder.path)/file"))
        #expect(try storage.list("") == ["file"])
        let failure = #expect(throws: LogError.self) { try storage.list("file") }
        #expect(
            failure?.description
                == "cannot list \(folder.path)/file: Not a directory (errno 20)"
        )
    }

    @Test("a torn end in a real file is cut in the file")
    func tornTail() throws {
        let folder = try TemporaryFolder()
        let log = try openLog(folder.storage)
        try append(entries([10, 20]), to: log.writer)
        log.folder.close()
        let path = "\(folder.storage.path)/\(segmentNames[0])"
        var bytes = try Data(contentsOf: URL(filePath: path))
        bytes[140] ^= 1
        try bytes.write(to: URL(filePath: path))
        let again = try openLog(folder.storage)
        #expect(again.entries == entries([10]))
        #expect(again.report.torn?.offset == 136)
        #expect(try Data(contentsOf: URL(filePath: path)).count == 136 + sealByteCount)
    }
}
