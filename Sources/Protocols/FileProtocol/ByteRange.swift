/// Which bytes of an object a download has.
package enum ByteRange: Sendable, Equatable {
    case whole
    case part(Range<Int64>)
    /// No byte of the object is meant.
    case unsatisfiable

    /// What the header `Range` means for an object of this size. One range counts: several give the whole object, and so does
    /// what cannot be read. `emptyIsWhole` says that `bytes=0-…` of an empty object is all of it: SDKs of clients take 416 for a
    /// failure, libraries of servers expect it.
    package init(_ header: String?, byteCount: Int64, emptyIsWhole: Bool) {
        self = .whole
        guard let header, let equals = header.firstIndex(of: "="),
            header[..<equals].lowercased() == "bytes"
        else { return }
        let text = header[header.index(after: equals)...].filter { $0 != " " }
        let ends = text.split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2 else { return }
        let (first, last) = (Self.number(ends[0]), Self.number(ends[1]))
        switch (first, last) {
        case (let first?, let last?):
            guard first <= last else { return }
            self = Self.part(first, last, byteCount, emptyIsWhole)
        case (let first?, nil) where ends[1].isEmpty:
            self = Self.part(first, .max, byteCount, emptyIsWhole)
        case (nil, let count?) where ends[0].isEmpty:
            self =
                count == 0 || byteCount == 0
                ? .unsatisfiable : .part(max(0, byteCount - count)..<byteCount)
        default: return
        }
    }

    /// The status of an answer with these bytes.
    package var status: Int {
        switch self {
        case .whole: 200
        case .part: 206
        case .unsatisfiable: 416
        }
    }

    /// Where these bytes are in an object of this size.
    package func bytes(byteCount: Int64) -> Range<Int64> {
        switch self {
        case .whole: 0..<byteCount
        case .part(let part): part
        case .unsatisfiable: 0..<0
        }
    }

    /// The value of the header `Content-Range`; nil for the whole object.
    package func contentRange(byteCount: Int64) -> String? {
        switch self {
        case .whole: nil
        case .part(let part): "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(byteCount)"
        case .unsatisfiable: "bytes */\(byteCount)"
        }
    }

    private static func part(
        _ first: Int64,
        _ last: Int64,
        _ byteCount: Int64,
        _ emptyIsWhole: Bool
    ) -> ByteRange {
        if byteCount == 0, first == 0, emptyIsWhole { return .whole }
        if first >= byteCount { return .unsatisfiable }
        return .part(first..<min(last, byteCount - 1) + 1)
    }

    /// A number of digits alone; one that is too large is as large as can be.
    private static func number(_ text: some StringProtocol) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int64(text) ?? .max
    }
}
