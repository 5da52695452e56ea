import CPages
import Tokens

/// A file of a page, as it is compiled in.
struct PageFile: Sendable {
    let name: String
    let contentType: String
    let bytes: [UInt8]
    /// SHA-256 of the bytes in hexadecimal digits.
    let digest: String

    fileprivate init(_ file: page_file) {
        name = String(cString: file.name)
        contentType = String(cString: file.content_type)
        bytes = Array(UnsafeBufferPointer(start: file.bytes, count: file.byte_count))
        digest = SHA256Digest.hex(String(decoding: bytes, as: UTF8.self))
    }

    /// A strong validator: changes with the bytes.
    var tag: String { "\"\(digest.prefix(32))\"" }
}

/// Files that belong together, by their names.
struct PageSet: Sendable {
    let files: [String: PageFile]
    /// Changes with any of the files.
    let digest: String

    private init(_ set: page_set) {
        let all = (0..<set.count).map { PageFile(set.files[$0]) }
        files = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })
        digest = SHA256Digest.hex(all.map(\.digest).joined())
    }

    static let samples = PageSet(sample_pages)
    static let console = PageSet(console_pages)
    static let sampleRules = PageSet(sample_rules)
}
