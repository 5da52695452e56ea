import Accounts
import CSamplePages

/// A file of the sample services' pages, as it is compiled in.
package struct SamplePage: Sendable {
    /// What stands behind `/.samples/` in its address; empty for the list of the pages.
    package let name: String
    package let contentType: String
    package let bytes: [UInt8]
    /// A strong validator: changes with the bytes.
    package let tag: String

    private init(_ file: sample_file) {
        name = String(cString: file.name)
        contentType = String(cString: file.content_type)
        bytes = Array(UnsafeBufferPointer(start: file.bytes, count: file.byte_count))
        let digest = SHA256Digest.hex(String(decoding: bytes, as: UTF8.self))
        tag = "\"\(digest.prefix(32))\""
    }

    /// Every file by its name.
    package static let all: [String: SamplePage] = {
        let pages = (0..<sample_page_count).map { SamplePage(sample_page($0)) }
        return Dictionary(uniqueKeysWithValues: pages.map { ($0.name, $0) })
    }()
}
