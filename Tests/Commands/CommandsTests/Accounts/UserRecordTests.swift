import JSONTree
import Testing

@testable import Commands

@Suite("user records")
struct UserRecordTests {
    @Test("are read from the server's answer")
    func reading() throws {
        let node = try Node.readingAnyJSON(Array(#"{"localId":"u1","email":"a@b"}"#.utf8))
        #expect(UserRecord(node).uid == "u1")
        #expect(UserRecord(node).email == "a@b")
    }
}
