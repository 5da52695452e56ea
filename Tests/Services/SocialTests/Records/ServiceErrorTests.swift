import Foundation
import HearthDatabase
import Social
import Testing

@Suite("errors of services")
struct ServiceErrorTests {
    private struct Other: Error {}

    @Test("an error of the database becomes one error of a service, and ours stay as they are")
    func kinds() async {
        let fault = RecordFault(path: "a/b", reason: "it is empty")
        let cases: [(any Error, ServiceError)] = [
            (DatabaseError.permissionDenied(path: "a"), .refused("sing")),
            (DatabaseError.offline, .database(.offline)),
            (DatabaseError.writeCancelled, .database(.writeCancelled)),
            (fault, .faulty(fault)),
            (ServiceError.taken("ann"), .taken("ann")),
            (Other(), .database(.refused(code: "UNKNOWN", message: "Other()"))),
        ]
        for (error, expected) in cases {
            await #expect(throws: expected) {
                try await ServiceError.naming("sing") { throw error }
            }
        }
    }

    @Test("each error is a sentence for people")
    func sentences() {
        let cases: [(ServiceError, String)] = [
            (.invalid(field: "name", why: "it is empty"), "name: it is empty"),
            (.notFound("chat with Bea"), "there is no chat with Bea"),
            (.taken("ann"), "ann is taken"),
            (.refused("follow Bea"), "the rules do not allow to follow Bea"),
            (.faulty(RecordFault(path: "a", reason: "b")), "a: b"),
        ]
        for (error, sentence) in cases {
            #expect("\(error)" == sentence)
            #expect(error.localizedDescription == sentence)
        }
    }

    @Test(
        "what people type is a key or is refused",
        arguments: [
            ("ann", true), ("a b,ü=-_", true), (String(repeating: "k", count: 768), true),
            ("", false), ("a/b", false), ("a.b", false), ("$a", false), ("#", false),
            ("a[0]", false), ("a\u{7F}", false), ("a\nb", false),
            (String(repeating: "k", count: 769), false),
            (String(repeating: "ü", count: 385), false),
        ]
    )
    func keys(text: String, isKey: Bool) {
        if isKey {
            #expect(throws: Never.self) { try text.key("uid") }
        } else {
            let expected = ServiceError.invalid(field: "uid", why: "it cannot be a key")
            #expect(throws: expected) { try text.key("uid") }
        }
    }

    @Test("lengths are counted in UTF-16 units, as the rules count them")
    func lengths() {
        #expect(throws: Never.self) { try ServiceError.checkLength(of: "💬💬", "text", 1...4) }
        for (text, why) in [
            ("", "it is empty"), ("💬💬a", "it is longer than 4 characters"),
        ] {
            #expect(throws: ServiceError.invalid(field: "text", why: why)) {
                try ServiceError.checkLength(of: text, "text", 1...4)
            }
        }
        let short = ServiceError.invalid(field: "text", why: "it is shorter than 2 characters")
        #expect(throws: short) { try ServiceError.checkLength(of: "a", "text", 2...4) }
    }

    @Test("many at once come in the order of what they were made from, and one fault ends them")
    func parallel() async throws {
        let numbers = Array(0..<200)
        let doubled = try await numbers.mapInParallel(width: 7) { number in
            if number % 3 == 0 { await Task.yield() }
            return number * 2
        }
        #expect(doubled == numbers.map { $0 * 2 })
        #expect(try await [Int]().mapInParallel { $0 }.isEmpty)
        await #expect(throws: Other.self) {
            try await numbers.mapInParallel { number in
                if number == 50 { throw Other() }
                return number
            }
        }
    }
}
