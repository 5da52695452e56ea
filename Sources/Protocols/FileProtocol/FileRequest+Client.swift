import FileRecords

/// The protocol of the SDKs of clients.
///
///     GET    /v0/                               who is there
///     GET    /v0/b/B/o?prefix&delimiter…        list
///     POST   /v0/b/B/o?name=                    upload, of each form
///     GET    /v0/b/B/o/O[?alt=media]            metadata, or bytes
///     PATCH  /v0/b/B/o/O                        change metadata; also PUT or POST with X-HTTP-Method-Override
///     DELETE /v0/b/B/o/O
///     POST   /v0/b/B/o/O?create_token=true      and ?delete_token=T
///     POST   /v0/b/B/o[/O]?upload_id=           a step of a resumable upload
///
/// O is one segment: its slashes are escaped. PUT is taken wherever POST is.
extension FileRequest {
    static func client(
        _ head: FileRequestHead,
        _ segments: [Substring]
    ) throws(FileFault) -> FileCall {
        let method = clientMethod(head)
        if segments.count == 1 || segments == ["v0", ""] {
            if method == "GET" { return .hello }
            throw .notImplemented
        }
        guard segments.count == 4 || segments.count == 5, segments[1] == "b", segments[3] == "o"
        else { throw .notImplemented }
        if method == "POST", let id = head.parameter("upload_id") {
            return .uploadStep(id: id, try UploadStep(client: head))
        }
        if segments.count == 4 {
            let bucket = try head.bucket(segments[2])
            switch method {
            case "GET": return .list(bucket, try clientList(head))
            case "POST": return .upload(try UploadStart(client: head, bucket, path: nil))
            default: throw .notImplemented
            }
        }
        let address = try head.object(segments[2], segments[4])
        switch method {
        case "GET":
            return head.parameter("alt") == "media"
                ? .media(address, Preconditions(), MediaRequest(head))
                : .metadata(address, Preconditions())
        case "PATCH": return .patch(address, Preconditions())
        case "DELETE": return .delete(address, Preconditions())
        case "POST": return try clientPost(head, address)
        default: throw .notImplemented
        }
    }

    /// The method that is meant: PUT counts as POST, and either may name another one.
    private static func clientMethod(_ head: FileRequestHead) -> String {
        guard head.method == "PUT" || head.method == "POST" else { return head.meant }
        let method = head.header("x-http-method-override")?.uppercased() ?? head.method
        return method == "PUT" ? "POST" : method
    }

    private static func clientPost(
        _ head: FileRequestHead,
        _ address: ObjectAddress
    ) throws(FileFault) -> FileCall {
        if let value = head.parameter("create_token") {
            guard value == "true" else {
                throw FileFault(400, "'create_token' must be true.")
            }
            return .createToken(address)
        }
        if let token = head.parameter("delete_token") {
            guard DownloadTokens.isToken(token) else {
                throw FileFault(400, "'delete_token' must be a download token.")
            }
            return .deleteToken(address, token: token)
        }
        return .upload(try UploadStart(client: head, address.bucket, path: address.name))
    }

    private static func clientList(_ head: FileRequestHead) throws(FileFault) -> NameQuery {
        let query = try head.page(.client)
        guard query.prefix.isEmpty || query.prefix.last == UInt8(ascii: "/"),
            !query.prefix.ends(withSlashes: 2)
        else {
            throw FileFault(
                400,
                "The prefix parameter is required to be empty or ends with a single / character."
            )
        }
        return query
    }
}

extension [UInt8] {
    fileprivate func ends(withSlashes count: Int) -> Bool {
        suffix(count).count == count && suffix(count).allSatisfy { $0 == UInt8(ascii: "/") }
    }
}
