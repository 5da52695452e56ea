import Glibc
import SimulatedStorage
import Testing
import WriteAheadLog

@testable import BlobStore

@Suite("the store after a failure")
struct WriteGateTests {
    private static let stopping: [(DiskFailure.Operation, Int32)] =
        [.create, .write, .sync, .truncate, .rename, .link, .protect, .createFolder]
        .map { ($0, EIO) } + [(.sync, ENOSPC), (.protect, EDQUOT), (.create, EROFS)]

    private static let harmless: [(DiskFailure.Operation, Int32)] =
        [.create, .write, .truncate, .rename, .link, .createFolder].map { ($0, ENOSPC) }
        + [.open, .read, .list, .status, .remove, .measureFreeSpace].map { ($0, EIO) }
        + [(.sync, EMFILE), (.create, ENFILE), (.protect, EMFILE), (.write, EDQUOT)]

    @Test("takes no more writes after one that failed", arguments: stopping)
    func stops(operation: DiskFailure.Operation, number: Int32) throws {
        let gate = WriteGate()
        let failure = DiskFailure(operation, "files/a", errorNumber: number)
        #expect(throws: BlobError.disk(failure)) {
            try gate.run { () throws(LogError) in throw .disk(failure) }
        }
        #expect(gate.failure == failure)
        #expect(throws: BlobError.stopped(by: failure)) {
            try gate.run { () throws(LogError) in Issue.record("nothing is called") }
        }
    }

    @Test("goes on where nothing was lost", arguments: harmless)
    func goesOn(operation: DiskFailure.Operation, number: Int32) throws {
        let gate = WriteGate()
        let failure = DiskFailure(operation, "files/a", errorNumber: number)
        #expect(throws: BlobError.disk(failure)) {
            try gate.run { () throws(LogError) in throw .disk(failure) }
        }
        #expect(gate.failure == nil)
        #expect(try gate.run { () throws(LogError) in 7 } == 7)
    }

    @Test("says which call failed on which file, and still reads")
    func reads() throws {
        let store = try Store()
        let hash = try store.keep([1, 2, 3])
        let draft = try store.uploads.create(store.uploads.newID())
        try draft.append([1])
        store.disk.fail(.sync, errorNumber: EIO)
        let text = "cannot sync simulated/\(draft.path): Input/output error (errno 5)"
        do throws(BlobError) { _ = try draft.seal() } catch { #expect("\(error)" == text) }
        do throws(BlobError) { try draft.append([1]) } catch {
            #expect(
                "\(error)" == "the store of files takes no more writes since it failed: \(text)"
            )
        }
        #expect(throws: BlobError.self) { try store.uploads.create(store.uploads.newID()) }
        #expect(throws: BlobError.self) { try store.blobs.remove(hash) }
        #expect(try read(hash, in: store.blobs) == [1, 2, 3])
        #expect(store.folder.failure?.operation == .sync)
    }
}
