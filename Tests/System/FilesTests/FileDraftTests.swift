import TestSupport
import Glibc
import Testing

@testable import Files

@Suite("files that take their name when they are whole")
struct FileDraftTests {
    @Test("what stood there stands there until the new file is whole")
    func replaces() throws {
        let folder = try TemporaryFolder()
        let path = try folder.file("a", "old")
        let draft = try FileDraft(path)
        try draft.write(Array("new".utf8))
        #expect(try SmallFile.read(path, byteLimit: 9).bytes == Array("old".utf8))
        try draft.commit()
        #expect(try SmallFile.read(path, byteLimit: 9).bytes == Array("new".utf8))
        #expect(folder.names() == ["a"])
    }

    @Test("a draft that is given up leaves nothing")
    func givenUp() throws {
        let folder = try TemporaryFolder()
        do {
            let draft = try FileDraft("\(folder.path)/a")
            try draft.write([1])
            #expect(folder.names() == ["a.partial"])
        }
        #expect(folder.names() == [])
    }

    @Test("two cannot write one file at a time")
    func locked() throws {
        let folder = try TemporaryFolder()
        let draft = try FileDraft("\(folder.path)/a")
        #expect(throws: FileError.self) { try FileDraft("\(folder.path)/a") }
        try draft.write([1])
        try draft.commit()
        #expect(throws: Never.self) { try FileDraft("\(folder.path)/a") }
    }

    @Test("what a killed process left is written over, and not appended to")
    func leftover() throws {
        let folder = try TemporaryFolder()
        _ = try folder.file("a.partial", "much that was there before")
        let draft = try FileDraft("\(folder.path)/a")
        try draft.write(Array("new".utf8))
        try draft.commit()
        #expect(try SmallFile.read("\(folder.path)/a", byteLimit: 99).bytes == Array("new".utf8))
    }

    @Test("what stands under its draft's name is never written to", arguments: ["link", "file"])
    func stranger(kind: String) throws {
        let folder = try TemporaryFolder()
        let theirs = try folder.file("theirs", "kept")
        let partial = "\(folder.path)/a.partial"
        if kind == "link" {
            #expect(symlink(theirs, partial) == 0)
        } else {
            _ = try folder.file("a.partial", "left", permissions: 0o666)
        }
        let draft = try FileDraft("\(folder.path)/a", permissions: 0o600)
        try draft.write(Array("new".utf8))
        try draft.commit()
        #expect(try SmallFile.read(theirs, byteLimit: 9).bytes == Array("kept".utf8))
        let content = try SmallFile.read("\(folder.path)/a", byteLimit: 9)
        #expect(content.bytes == Array("new".utf8))
        #expect(content.permissions == 0o600)
        var status = stat()
        #expect(lstat("\(folder.path)/a", &status) == 0 && status.st_mode & S_IFMT == S_IFREG)
        #expect(folder.names() == ["a", "theirs"])
    }

    @Test("no device, pipe or folder is replaced by a file")
    func special() throws {
        let folder = try TemporaryFolder()
        let pipe = "\(folder.path)/pipe"
        #expect(mkfifo(pipe, 0o600) == 0)
        for path in ["/dev/full", "/dev/stdout", pipe, folder.path] {
            #expect(throws: FileError.notAFile(path: path)) { try FileDraft(path) }
        }
        #expect(folder.names() == ["pipe"])
    }
}
