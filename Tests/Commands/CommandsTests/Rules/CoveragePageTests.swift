import Foundation
import Testing

@testable import Commands

@Suite("the page of coverage")
struct CoveragePageTests {
    @Test("holds titles and reports as text, in six bytes for each at most, and lets nothing in")
    func page() throws {
        let title = "</script><img src=x onerror=alert(1)>"
        let text = String(repeating: "<", count: 1_000_000)
        let bytes = CoveragePage.bytes(title: title, Array(#"{"rules":"\#(text)"}"#.utf8))
        #expect(bytes.count < 6_200_000)
        let page = String(decoding: bytes, as: UTF8.self)
        let data = try #require(page.range(of: #"id="own-coverage">"#)).upperBound
        #expect(page[data...].filter { $0 == "<" }.count == 1, "the end of the script")
        #expect(page.contains("default-src 'none'"))
    }
}
