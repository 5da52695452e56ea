import ArgumentParser
import Files
import Foundation
import ServiceCommand
import TestSupport
import Testing

@Suite("passwords of programs")
struct PasswordTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func read(_ path: String) throws -> String {
        try PasswordOptions.parse(["--password-file", path]).read(confirming: true)
    }

    @Test(
        "are the first line of a file, with its blanks",
        arguments: [
            ("secret1", "secret1"), ("secret1\n", "secret1"), ("secret1\r\nmore\n", "secret1"),
            (" two words \n\n", " two words "), ("日本\n", "日本"), ("a\rb\r\r\n", "a\rb\r"),
        ]
    )
    func firstLine(text: String, password: String) throws {
        #expect(try read(try folder.file("secret", text)) == password)
    }

    @Test("are not the line behind an empty one", arguments: ["", "\n", "\r\n", "\nsecret1\n"])
    func empty(text: String) throws {
        let path = try folder.file("secret", text)
        #expect(throws: ProgramFault("\(path): its first line has no password")) {
            try read(path)
        }
    }

    @Test("are UTF-8")
    func encoding() throws {
        let path = "\(folder.path)/secret"
        try Data([0x61, 0xFF, 0x0A]).write(to: URL(filePath: path))
        #expect(throws: ProgramFault("\(path): is not UTF-8 text")) { try read(path) }
    }

    @Test("are in no folder, in no file that is not there, and in none that is long")
    func wrongFiles() throws {
        #expect(throws: FileError.isFolder(path: folder.path)) { try read(folder.path) }
        let gone = "\(folder.path)/gone"
        #expect(throws: FileError.system(call: "open", path: gone, code: ENOENT)) {
            try read(gone)
        }
        let longest = try folder.file("longest", String(repeating: "a", count: 16_384))
        #expect(try read(longest).count == 16_384)
        let long = try folder.file("long", "a\n" + String(repeating: "a", count: 16_384))
        #expect(throws: FileError.tooLarge(path: long, byteLimit: 16_384)) { try read(long) }
    }
}
