import Glibc
import Testing
import TestSupport

@testable import Commands

@Suite("An export's file")
struct OutputFileTests {
    /// More than is kept back, so that it stands in the draft at once.
    private static let text = Array(#"["\#(String(repeating: "text ", count: 60_000))"]"#.utf8)

    @Test("gets its name when it reads back", arguments: [false, true])
    func sound(isCompressed: Bool) throws {
        let folder = try TemporaryFolder()
        let file = try OutputFile("\(folder.path)/out", compresses: isCompressed)
        try file.write(Self.text)
        try file.finish(isReadBack: true)
        #expect(folder.names() == ["out"])
    }

    @Test("gets no name when the disk holds other bytes", arguments: [1, 100_000])
    func changed(offset: off_t) throws {
        let folder = try TemporaryFolder()
        do {
            let file = try OutputFile("\(folder.path)/out")
            try file.write(Self.text)
            let path = try #require(file.draftPath)
            let descriptor = open(path, O_WRONLY)
            #expect(pwrite(descriptor, "x", 1, offset) == 1)
            close(descriptor)
            #expect(throws: CommandError.self) { try file.finish(isReadBack: true) }
        }
        #expect(folder.names().isEmpty)
    }

    @Test("gets no name when its value is not whole")
    func cut() throws {
        let folder = try TemporaryFolder()
        do {
            let file = try OutputFile("\(folder.path)/out")
            try file.write(Array(Self.text.dropLast()))
            #expect(throws: CommandError.self) { try file.finish(isReadBack: true) }
        }
        #expect(folder.names().isEmpty)
    }
}
