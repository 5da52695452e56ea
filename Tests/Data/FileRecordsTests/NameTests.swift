import FileRecords
import TestSupport
import Testing

@Suite("names of buckets and objects")
struct NameTests {
    struct Row: Decodable, Sendable, CustomTestStringConvertible {
        let name: String
        let times: Int?
        let suffix: String?
        /// The case of `NameFault`; nil where the name is one.
        let fault: String?
        /// Why clients cannot address it.
        let client: String?

        var text: String { String(repeating: name, count: times ?? 1) + (suffix ?? "") }
        var testDescription: String { "\(name.debugDescription) × \(times ?? 1)" }
    }

    private static func word(_ fault: NameFault?) -> String? {
        fault.map { String("\(Mirror(reflecting: $0).children.first?.label ?? plain($0))") }
    }

    private static func plain(_ fault: NameFault) -> String {
        switch fault {
        case .bucketEnds: "bucketEnds"
        case .bucketPart: "bucketPart"
        case .bucketAddress: "bucketAddress"
        case .bucketReserved: "bucketReserved"
        case .noName: "noName"
        case .nameDots: "nameDots"
        case .nameReserved: "nameReserved"
        case .emptySegment: "emptySegment"
        case .dotSegment: "dotSegment"
        case .bucketLength, .bucketCharacter, .nameTooLong, .nameEncoding, .nameCharacter: "?"
        }
    }

    @Test(
        "of buckets are taken or refused as their rows say",
        arguments: spec("buckets", of: Row.self)
    )
    func buckets(row: Row) {
        var fault: NameFault?
        do throws(NameFault) { #expect(try BucketName(row.text).text == row.text) } catch {
            fault = error
        }
        #expect(Self.word(fault) == row.fault)
        #expect(fault?.description.hasSuffix(".") ?? true)
    }

    @Test(
        "of objects are taken or refused as their rows say",
        arguments: spec("objects", of: Row.self)
    )
    func objects(row: Row) {
        var fault: NameFault?
        do throws(NameFault) {
            let name = try ObjectName(row.text)
            #expect(name.utf8 == Array(row.text.utf8))
            #expect(Self.word(name.clientFault) == row.client)
        } catch {
            fault = error
        }
        #expect(Self.word(fault) == row.fault)
    }

    @Test("that are not UTF-8 are refused, with the byte")
    func encoding() {
        let cases: [([UInt8], Int)] = [
            ([0x61, 0xC3], 1), ([0x61, 0x62, 0xFF, 0x61], 2), ([0xED, 0xA0, 0x80], 0),
            ([0xC0, 0xAF], 0), ([0xF4, 0x90, 0x80, 0x80], 0),
        ]
        for (bytes, offset) in cases {
            #expect(throws: NameFault.nameEncoding(offset: offset)) { try ObjectName(utf8: bytes) }
        }
    }

    @Test("with the same look and other bytes are two names")
    func normalForms() throws {
        let (composed, parts) = (try ObjectName("\u{E9}"), try ObjectName("e\u{301}"))
        #expect(composed.text == parts.text, "a String takes them for equal")
        #expect(composed != parts)
        #expect(Set([composed, parts]).count == 2)
        #expect(parts < composed)
    }

    @Test("are in the order of their bytes")
    func order() throws {
        let names = ["A", "a", "a/", "a/b", "a0", "é", "～", "😀"]
        let sorted = try names.shuffled().map { try ObjectName($0) }.sorted()
        #expect(sorted.map(\.text) == names)
    }
}
