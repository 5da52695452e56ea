import JSONTree

/// The body of `POST /_admin/export`: `{"path": "/abs/folder", "initiatedBy": ..., "targets": ["database"]}`.
struct ExportRequest {
    /// Absolute.
    let folder: String

    private static let byteLimit = 64 * 1024

    init(_ body: [UInt8]) throws(BadRequest) {
        guard body.count <= Self.byteLimit else { throw BadRequest("The body is too long.") }
        let found: (path: String?, targets: [String]?)
        do throws(JSONError) { found = try ExportRequest.read(body) } catch {
            throw BadRequest(error, in: body)
        }
        guard let path = found.path, path.hasPrefix("/"), !path.utf8.contains(0) else {
            throw BadRequest("The body must name an absolute \"path\".")
        }
        if let targets = found.targets, !targets.contains("database") {
            throw BadRequest("Of the \"targets\" only \"database\" is here.")
        }
        folder = path
    }

    private static func read(
        _ body: [UInt8]
    ) throws(JSONError) -> (path: String?, targets: [String]?) {
        try body.withBytes { bytes throws(JSONError) in
            var scanner = JSONScanner(bytes)
            var path: String?
            var targets: [String]?
            try scanner.enterObject()
            while let name = try scanner.nextMember() {
                switch (name, try scanner.peek()) {
                case ("path", UInt8(ascii: "\"")): path = try scanner.readString()
                case ("targets", UInt8(ascii: "[")):
                    var names: [String] = []
                    try scanner.enterArray()
                    while try scanner.nextElement() {
                        if try scanner.peek() == UInt8(ascii: "\"") {
                            names.append(try scanner.readString())
                        } else {
                            _ = try scanner.skipValue()
                        }
                    }
                    targets = names
                default: _ = try scanner.skipValue()
                }
            }
            try scanner.expectEnd()
            return (path, targets)
        }
    }
}
