import JSONTree
import StateRecovery
import Testing
import WriteAheadLog

@testable import DatabaseCore

/// Numbers that the format has room for and no server writes.
@Suite("far numbers")
struct FarNumberTests {
    @Test("a commit from before 1970 is part of a checkpoint that can be read")
    func early() throws {
        let folder = try Folder()
        try folder.append([.write(try WriteTarget("/a"), Node(true))], time: -5)
        try folder.checkpointInParts()
        try folder.crash()
        #expect(folder.root == (try Node(json: #"{"a":true}"#)))
    }
}
