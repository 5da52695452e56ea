import HTTPClient
import JSONTree

/// A part of an import: one request, applied whole or not at all.
struct ImportPart: Equatable {
    let method: HTTPRequest.Method
    /// Its location, counted from the target of the import.
    let path: [String]
    /// The value, or an object with a member for each location below `path` that gets a value.
    let body: [UInt8]
    /// The first location that it writes, for messages.
    let firstPath: [String]
    /// The offset in the source after it.
    let endOffset: Int
    /// Whether all parts before it must be done before it is sent.
    let mustFollow: Bool
}

extension ImportPart {
    /// The part that writes one piece.
    init(_ piece: JSONPieces.Piece) throws(JSONError) {
        path = piece.target.path.keyTexts
        endOffset = piece.endOffset
        mustFollow = piece.mustFollow
        if piece.target.isPriority {
            method = .patch
            body = Array(#"{".priority":"#.utf8) + piece.json + [UInt8(ascii: "}")]
            firstPath = path + [".priority"]
        } else if piece.isWhole {
            method = .put
            body = piece.json
            firstPath = path
        } else {
            method = .patch
            body = piece.json
            firstPath = path + (try piece.firstName.map { [$0] } ?? [])
        }
    }
}

extension JSONPieces.Piece {
    fileprivate var firstName: String? {
        get throws(JSONError) {
            try json.withBytes { bytes throws(JSONError) in
                var scanner = JSONScanner(bytes)
                try scanner.enterObject()
                return try scanner.nextMember()
            }
        }
    }
}

extension Path {
    /// The keys, as requests name them.
    var keyTexts: [String] { (0..<keyCount).map { key(at: $0).string } }
}
