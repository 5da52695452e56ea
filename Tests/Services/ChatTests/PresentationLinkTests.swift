import Chat
import Foundation
import TestSupport
import Testing

@Suite("links in what people say")
struct PresentationLinkTests {
    struct Example: Decodable, CustomTestStringConvertible {
        let text: String
        let links: [[String]]

        var testDescription: String { text }
    }

    /// The table that the sample page is tested with too.
    static func examples() throws -> [Example] {
        let table = try Data(contentsOf: URL(filePath: "\(Checkout.path)/Tests/Clients/links.json"))
        return try JSONDecoder().decode([Example].self, from: table)
    }

    @Test("addresses and phone numbers are links", arguments: try examples())
    func found(example: Example) {
        let found = TextLink.all(in: example.text)
            .map { [String(example.text[$0.range]), $0.address] }
        #expect(found == example.links)
    }
}
