import HTTPClient
import JSONTree

/// A bucket, by the JSON API of Cloud Storage.
struct StoredBucket {
    let name: String
    let database: RemoteDatabase

    init(_ name: String, _ database: RemoteDatabase) {
        self.name = name
        self.database = database
    }

    /// Below it are its objects.
    private var objects: String { "/storage/v1/b/\(PercentCoding.encode(name))/o" }

    /// Where an object is.
    func address(of object: StoredObject) -> String {
        "\(objects)/\(PercentCoding.encode(object.name))"
    }

    /// Gives every object whose name begins with `prefix`, in the order of names.
    func visit(
        prefix: String?,
        _ body: (StoredObject) throws(CommandError) -> Void
    ) throws(CommandError) {
        var token: String?
        repeat {
            let parameters = Parameters([("prefix", prefix), ("pageToken", token)])
            let response = try database.perform(
                database.request(.get, resource: objects, parameters)
            )
            guard let page = Node(answer: response.body) else {
                throw .failed("the answer of \(database.origin) is not JSON")
            }
            for item in page.member("items").elements {
                guard let object = StoredObject(item) else {
                    throw .failed("\(database.origin) lists an object without name, size or crc32c")
                }
                try body(object)
            }
            token = page.member("nextPageToken").string
        } while token != nil
    }

    /// A request for the bytes of an object, as they are stored.
    func download(_ object: StoredObject) -> HTTPRequest {
        let parameters = Parameters([("alt", "media"), ("generation", object.generation)])
        var request = database.request(.get, resource: address(of: object), parameters)
        request.headers.append("Accept-Encoding: gzip")
        return request
    }

    /// A request that stores an object, whose bytes `read` gives; the store compares them with its CRC-32C.
    func upload(
        _ object: StoredObject,
        read: @escaping (UnsafeMutableRawBufferPointer) throws -> Int
    ) -> HTTPRequest {
        let boundary =
            "hearth-\(UInt64.random(in: 0...UInt64.max))-\(UInt64.random(in: 0...UInt64.max))"
        let type = "Content-Type: application/json; charset=UTF-8"
        let start = Array("--\(boundary)\r\n\(type)\r\n\r\n".utf8) + object.resource.text
        let content = "\r\n--\(boundary)\r\nContent-Type: application/octet-stream\r\n\r\n"
        let end = Array("\r\n--\(boundary)--\r\n".utf8)
        var (before, after) = ((start + Array(content.utf8))[...], end[...])
        let byteCount = before.count + object.byteCount + after.count
        var request = HTTPRequest(
            .post,
            "\(database.origin)/upload\(objects)?uploadType=multipart",
            headers: database.address.headers,
            body: .stream(byteCount: byteCount) { buffer in
                func take(_ rest: inout ArraySlice<UInt8>) -> Int {
                    let part = rest.prefix(buffer.count)
                    buffer.copyBytes(from: part)
                    rest = rest.dropFirst(part.count)
                    return part.count
                }
                if !before.isEmpty { return take(&before) }
                let count = try read(buffer)
                return count > 0 ? count : take(&after)
            }
        )
        request.headers.append("Content-Type: multipart/related; boundary=\(boundary)")
        return request
    }
}

/// An object of a bucket: what a list says of it, and a line of `objects.jsonl` in a folder of downloads.
struct StoredObject {
    let name: String
    let byteCount: Int
    /// Of its bytes: base64, the highest byte first.
    let crc32c: String
    let generation: String?
    /// Whether it has download tokens.
    let hasTokens: Bool
    /// Where its bytes are below the folder; nil while they are in a bucket alone.
    var path: String?
    private let fields: [JSONValue.Member]

    /// What goes along with the bytes. Custom metadata has the download tokens in it.
    private static let fieldNames = [
        "contentType", "cacheControl", "contentDisposition", "contentEncoding", "contentLanguage",
        "customTime",
    ]

    /// Reads an item of a list, or a line; nil for another object.
    init?(_ item: Node) {
        guard let name = item.member("name").string,
            let byteCount = item.member("size").string.flatMap({ Int($0) }), byteCount >= 0,
            let crc32c = item.member("crc32c").string
        else { return nil }
        (self.name, self.byteCount, self.crc32c) = (name, byteCount, crc32c)
        generation = item.member("generation").string
        path = item.member("path").string
        let tokens = item.member("metadata").member("firebaseStorageDownloadTokens").string
        hasTokens = tokens?.isEmpty == false
        var fields = Self.fieldNames.compactMap { name in
            item.member(name).string.map { JSONValue.Member(name, .string($0)) }
        }
        var custom: [JSONValue.Member] = []
        item.member("metadata").visitChildren { key, value in
            if let text = value.string { custom.append(.init(Key(key).string, .string(text))) }
            return true
        }
        if !custom.isEmpty { fields.append(.init("metadata", .object(custom))) }
        self.fields = fields
    }

    /// What an upload says of it.
    var resource: JSONValue {
        .object([.init("name", .string(name)), .init("crc32c", .string(crc32c))] + fields)
    }

    /// Its line.
    var line: JSONValue {
        .object(
            [
                .init("name", .string(name)), .init("path", .string(path ?? "")),
                .init("size", .string("\(byteCount)")), .init("crc32c", .string(crc32c)),
            ] + fields
        )
    }
}
