import Foundation

/// One request to a server of files, without its host and its credential.
struct StorageRequest: Equatable, Sendable {
    enum Method: String, Sendable {
        case get = "GET"
        case post = "POST"
        case patch = "PATCH"
        case delete = "DELETE"
    }

    struct Header: Equatable, Sendable {
        let name: String
        let value: String

        init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    enum Body: Equatable, Sendable {
        case none
        case bytes(Data)
        /// These bytes of the source of an upload.
        case piece(Range<Int64>)
    }

    let method: Method
    /// Path and query, escaped.
    let target: String
    var headers: [Header] = []
    var body = Body.none
    /// Whether it is sent with the user's token. The address of a session of an upload is a credential itself.
    var isAuthorized = true

    private static let json = Header("Content-Type", "application/json; charset=utf-8")
}

// MARK: - Objects and lists

extension StorageRequest {
    static func metadata(of path: StoragePath) -> StorageRequest {
        StorageRequest(method: .get, target: path.objectTarget)
    }

    static func update(_ path: StoragePath, json: Data) -> StorageRequest {
        StorageRequest(
            method: .patch,
            target: path.objectTarget,
            headers: [Self.json],
            body: .bytes(json)
        )
    }

    static func delete(_ path: StoragePath) -> StorageRequest {
        StorageRequest(method: .delete, target: path.objectTarget)
    }

    /// The bytes of an object, from where an earlier attempt ended.
    static func media(of path: StoragePath, from state: DownloadState) -> StorageRequest {
        var request = StorageRequest(method: .get, target: "\(path.objectTarget)?alt=media")
        if let entityTag = state.entityTag, state.byteCount > 0 {
            request.headers = [
                Header("Range", "bytes=\(state.byteCount)-"), Header("If-Range", entityTag),
            ]
        }
        return request
    }

    /// One page of what is directly below a folder; `maxResults` nil: as many as the server likes.
    static func list(
        _ path: StoragePath,
        maxResults: Int64?,
        pageToken: String?,
    ) -> StorageRequest {
        let prefix = path.isRoot ? "" : "\(path.object)/"
        var query = "prefix=\(StoragePath.escaped(prefix))&delimiter=%2F"
        if let maxResults { query += "&maxResults=\(maxResults)" }
        if let pageToken { query += "&pageToken=\(StoragePath.escaped(pageToken))" }
        return StorageRequest(method: .get, target: "\(path.collectionTarget)?\(query)")
    }
}

// MARK: - Uploads

extension StorageRequest {
    /// An object in one request:
    ///
    ///     --BOUNDARY CRLF Content-Type: application/json; charset=utf-8 CRLF CRLF METADATA CRLF
    ///     --BOUNDARY CRLF Content-Type: TYPE CRLF CRLF BYTES CRLF
    ///     --BOUNDARY-- CRLF
    ///
    /// `boundary` must not stand in the bytes.
    static func whole(
        _ path: StoragePath,
        json: Data,
        type: String,
        bytes: Data,
        boundary: String,
    ) -> StorageRequest {
        var body = Data(
            "--\(boundary)\r\nContent-Type: application/json; charset=utf-8\r\n\r\n".utf8
        )
        body += json
        body += Data("\r\n--\(boundary)\r\nContent-Type: \(type)\r\n\r\n".utf8)
        body += bytes
        body += Data("\r\n--\(boundary)--\r\n".utf8)
        return StorageRequest(
            method: .post,
            target: "\(path.collectionTarget)?name=\(StoragePath.escaped(path.object))",
            headers: [
                Header("X-Goog-Upload-Protocol", "multipart"),
                Header("Content-Type", "multipart/related; boundary=\(boundary)"),
            ],
            body: .bytes(body)
        )
    }

    /// Begins an upload of several requests.
    static func start(
        _ path: StoragePath,
        json: Data,
        type: String,
        byteCount: Int64,
    ) -> StorageRequest {
        StorageRequest(
            method: .post,
            target: "\(path.collectionTarget)?name=\(StoragePath.escaped(path.object))",
            headers: [
                Header("X-Goog-Upload-Protocol", "resumable"),
                Header("X-Goog-Upload-Command", "start"),
                Header("X-Goog-Upload-Header-Content-Length", "\(byteCount)"),
                Header("X-Goog-Upload-Header-Content-Type", type),
                Self.json,
            ],
            body: .bytes(json)
        )
    }

    /// Bytes of an upload; the last ones end it.
    static func chunk(_ session: String, _ range: Range<Int64>, isLast: Bool) -> StorageRequest {
        StorageRequest(
            method: .post,
            target: session,
            headers: [
                Header("X-Goog-Upload-Command", isLast ? "upload, finalize" : "upload"),
                Header("X-Goog-Upload-Offset", "\(range.lowerBound)"),
                Header("Content-Type", "application/octet-stream"),
            ],
            body: range.isEmpty ? .bytes(Data()) : .piece(range),
            isAuthorized: false
        )
    }

    /// Asks how far an upload is.
    static func query(_ session: String) -> StorageRequest { command("query", session) }

    /// Gives an upload up.
    static func cancel(_ session: String) -> StorageRequest { command("cancel", session) }

    private static func command(_ command: String, _ session: String) -> StorageRequest {
        StorageRequest(
            method: .post,
            target: session,
            headers: [Header("X-Goog-Upload-Command", command)],
            body: .bytes(Data()),
            isAuthorized: false
        )
    }
}
