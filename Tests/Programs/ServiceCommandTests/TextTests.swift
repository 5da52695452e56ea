import Files
import Foundation
import HearthCore
import HearthDatabase
import Social
import ServiceCommand
import Testing

@Suite("what programs say")
struct TextTests {
    private struct Odd: Error, CustomStringConvertible {
        let description = "odd"
    }

    static let sentences: [(any Error, String)] = [
        (ProgramFault("as it is"), "as it is"),
        (ServiceError.notFound("person called bea"), "there is no person called bea"),
        (ServiceError.taken("bea"), "bea is taken"),
        (ServiceError.refused("follow bea"), "the rules do not allow to follow bea"),
        (ServiceError.invalid(field: "name", why: "it is empty"), "name: it is empty"),
        (
            RecordFault(path: "users/u7", reason: "username: nothing is there"),
            "users/u7: username: nothing is there"
        ),
        (FileError.isFolder(path: "/tmp"), "/tmp: is a folder"),
        (
            FileError.system(call: "open", path: "x", code: ENOENT),
            "x: No such file or directory (open)"
        ),
        (
            HearthAppError.invalidDatabaseName("a/b"),
            "'a/b' cannot name a database: use 1 to 64 ASCII letters, digits, hyphens and underscores"
        ),
        (Odd(), "odd"),
    ]

    @Test("of an error is what its own sentence says", arguments: sentences)
    func faults(error: any Error, text: String) {
        #expect(ProgramFault(error).description == text)
    }

    @Test("of an error of the database has no name of a type in it")
    func databaseErrors() {
        let error = DatabaseError.permissionDenied(path: "users/u7")
        let text = ProgramFault(error).description
        #expect(text == error.localizedDescription && !text.contains("DatabaseError"))
        #expect(ProgramFault(ServiceError.database(error)).description == error.errorDescription)
    }

    @Test(
        "of foreign text is one line that moves no cursor",
        arguments: [
            ("plain 日本", "plain 日本"), ("a\nb", "a b"), ("a\r\nb\tc", "a b c"), ("", ""),
            ("a\rb", "a\\u000db"), ("\u{1B}[2J", "\\u001b[2J"), ("\u{202E}x", "\\u202ex"),
            ("a\u{2028}b", "a\\u2028b"),
        ]
    )
    func line(text: String, shown: String) {
        #expect(Output.line(text) == shown)
    }

    @Test(
        "of a time is in the zone of the machine",
        arguments: [
            (0, "2025-03-08T12:00:07Z", "2025-03-08 12:00"),
            (3_600, "2025-03-08T13:00:07+01:00", "2025-03-08 13:00"),
            (20_700, "2025-03-08T17:45:07+05:45", "2025-03-08 17:45"),
            (-12_600, "2025-03-08T08:30:07-03:30", "2025-03-08 08:30"),
            (50_400, "2025-03-09T02:00:07+14:00", "2025-03-09 02:00"),
        ]
    )
    func times(seconds: Int, iso: String, minute: String) {
        let time = LocalTime(timeZone: TimeZone(secondsFromGMT: seconds))
        let date = Date(timeIntervalSince1970: 1_741_435_207)
        #expect(time.iso(date) == iso)
        #expect(time.minute(date) == minute)
        #expect(minute == "\(time.day(date)) \(time.clock(date))")
    }
}
