import TestSupport
import Glibc
import Testing

@testable import Files

@Suite("a small file")
struct SmallFileTests {
    @Test("is read whole with its permissions")
    func reading() throws {
        let folder = try TemporaryFolder()
        let text = String(repeating: "0123456789", count: 20_000)
        let path = try folder.file("a", text, permissions: 0o640)
        let content = try SmallFile.read(path, byteLimit: 200_000)
        #expect(content.bytes == Array(text.utf8))
        #expect(content.permissions == 0o640)
        #expect(FileStamp.of(path)?.byteCount == 200_000)
        #expect(throws: FileError.tooLarge(path: path, byteLimit: 199_999)) {
            try SmallFile.read(path, byteLimit: 199_999)
        }
    }

    @Test("is refused when it is missing or no regular file")
    func bad() throws {
        let folder = try TemporaryFolder()
        let missing = folder.path + "/none"
        #expect(throws: FileError.system(call: "open", path: missing, code: ENOENT)) {
            try SmallFile.read(missing, byteLimit: 10)
        }
        #expect(throws: FileError.notAFile(path: folder.path)) {
            try SmallFile.read(folder.path, byteLimit: 10)
        }
        #expect(throws: FileError.notAFile(path: "/dev/zero")) {
            try SmallFile.read("/dev/zero", byteLimit: 10)
        }
        #expect(FileStamp.of(missing) == nil)
        #expect(
            "\(FileError.system(call: "open", path: "x", code: ENOENT))"
                == "x: No such file or directory (open)"
        )
    }

    @Test("is made for its owner alone, and never over another")
    func creation() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/secret"
        #expect(try SmallFile.createPrivate(path, Array("one".utf8)))
        #expect(try !SmallFile.createPrivate(path, Array("two".utf8)))
        let content = try SmallFile.read(path, byteLimit: 10)
        #expect(content.bytes == Array("one".utf8))
        #expect(content.permissions == 0o600)
        #expect(folder.names() == ["secret"])
    }
}
