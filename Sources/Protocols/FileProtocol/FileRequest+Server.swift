import FileRecords

/// The JSON API of Cloud Storage, below `/storage/v1` or at the root, as the Node library asks an emulator.
///
///     GET POST           …/b
///     GET DELETE         …/b/B
///     GET                …/b/B/o
///     GET PATCH PUT DELETE  …/b/B/o/O
///     POST               …/b/B/o/O/copyTo/b/B2/o/O2      and rewriteTo
///     POST               …/b/B/o/O/moveTo/o/O2
///     POST               …/b/B/o/O/compose
///     GET POST DELETE    …/b/B/o/O/acl, …/b/B/o/O/acl/allUsers
///     GET                /download/storage/v1/b/B/o/O
///     POST PUT DELETE    /upload/storage/v1/b/B/o
///     POST               /batch/storage/v1
extension FileRequest {
    static func server(
        _ head: FileRequestHead,
        _ segments: [Substring]
    ) throws(FileFault) -> FileCall {
        var rest = segments[...]
        let root = rest.first
        if root != "b" {
            rest = rest.dropFirst()
            if root != "storage" {
                guard rest.popFirst() == "storage" else { throw .notImplemented }
            }
            guard rest.popFirst() == "v1" else { throw .notImplemented }
        }
        if root == "batch" {
            guard head.method == "POST", rest.isEmpty else { throw .notImplemented }
            return .batch(boundary: try MultipartBoundary.of(head, "multipart/mixed"))
        }
        guard rest.popFirst() == "b" else { throw .notImplemented }
        let path = Array(rest)
        switch root {
        case "upload": return try serverUpload(head, path)
        case "download":
            guard head.meant == "GET", path.count == 3, path[1] == "o" else {
                throw .notImplemented
            }
            let address = try head.object(path[0], path[2])
            return .media(address, try head.conditions(), MediaRequest(head))
        default: return try serverCall(head, path)
        }
    }

    private static func serverCall(
        _ head: FileRequestHead,
        _ path: [Substring]
    ) throws(FileFault) -> FileCall {
        switch (path.count, head.meant) {
        case (0, "GET"): return .buckets
        case (0, "POST"): return .createBucket
        case (1, "GET"): return .bucket(try head.bucket(path[0]))
        case (1, "DELETE"): return .deleteBucket(try head.bucket(path[0]))
        case (2, "GET") where path[1] == "o":
            return .list(try head.bucket(path[0]), try serverList(head))
        case (3..., _) where path[1] == "o":
            let address = try head.object(path[0], path[2])
            return try serverObject(head, address, path[3...])
        default: throw .notImplemented
        }
    }

    private static func serverObject(
        _ head: FileRequestHead,
        _ address: ObjectAddress,
        _ rest: ArraySlice<Substring>
    ) throws(FileFault) -> FileCall {
        let rest = Array(rest)
        switch (rest.first, head.meant) {
        case (nil, "GET"):
            return head.parameter("alt") == "media"
                ? .media(address, try head.conditions(), MediaRequest(head))
                : .metadata(address, try head.conditions())
        case (nil, "PATCH"): return .patch(address, try head.conditions())
        case (nil, "PUT"): return .replace(address, try head.conditions())
        case (nil, "DELETE"): return .delete(address, try head.conditions())
        case ("copyTo", "POST") where rest.count == 5 && rest[1] == "b" && rest[3] == "o":
            return try serverCopy(head, .copy, address, head.object(rest[2], rest[4]))
        case ("rewriteTo", "POST") where rest.count == 5 && rest[1] == "b" && rest[3] == "o":
            return try serverCopy(head, .rewrite, address, head.object(rest[2], rest[4]))
        case ("moveTo", "POST") where rest.count == 3 && rest[1] == "o":
            let name = try FileRequestHead.name(FileRequestHead.decode(rest[2], isForm: false))
            return try serverCopy(head, .move, address, ObjectAddress(address.bucket, name))
        case ("compose", "POST") where rest.count == 1:
            return .compose(address, try head.conditions())
        case ("acl", "GET") where rest.count == 1: return .access(address)
        case ("acl", "POST") where rest.count == 1: return .makePublic(address)
        case ("acl", "DELETE") where rest == ["acl", "allUsers"]: return .makePrivate(address)
        default: throw .notImplemented
        }
    }

    private static func serverCopy(
        _ head: FileRequestHead,
        _ form: FileCopy.Form,
        _ source: ObjectAddress,
        _ destination: ObjectAddress
    ) throws(FileFault) -> FileCall {
        .copy(
            FileCopy(
                form: form,
                source: source,
                sourceConditions: try head.conditions("ifSource", generation: "sourceGeneration"),
                destination: destination,
                // The generation of a request that makes one names nothing.
                conditions: try head.conditions(generation: "")
            )
        )
    }

    private static func serverUpload(
        _ head: FileRequestHead,
        _ path: [Substring]
    ) throws(FileFault) -> FileCall {
        guard path.count == 2, path[1] == "o" else { throw .notImplemented }
        if let id = head.parameter("upload_id") {
            guard ["PUT", "POST", "DELETE"].contains(head.method) else { throw .notImplemented }
            return .uploadStep(id: id, try UploadStep(server: head))
        }
        guard head.method == "POST" || head.method == "PUT" else { throw .notImplemented }
        return .upload(try UploadStart(server: head, try head.bucket(path[0])))
    }

    private static func serverList(_ head: FileRequestHead) throws(FileFault) -> NameQuery {
        for name in ["matchGlob", "filter"] where head.parameter(name)?.isEmpty == false {
            throw FileFault(501, "'\(name)' is not implemented; use 'prefix' and 'delimiter'.")
        }
        for name in ["versions", "softDeleted"] where head.flag(name) {
            throw FileFault(501, "'\(name)' is not implemented: earlier versions are not kept.")
        }
        var query = try head.page(.server)
        query.start = Array((head.parameter("startOffset") ?? "").utf8)
        query.end = Array((head.parameter("endOffset") ?? "").utf8)
        query.includesTrailingDelimiter = head.flag("includeTrailingDelimiter")
        return query
    }
}

/// Plain addresses: `/BUCKET/OBJECT`, where slashes of the name are slashes of the path.
///
/// Signed ones, objects that are public, and some libraries for bytes.
extension FileRequest {
    static func plain(
        _ head: FileRequestHead,
        _ segments: [Substring]
    ) throws(FileFault) -> FileCall {
        // Not `segments`: a name may end in a slash.
        let path = head.rawPath.dropFirst()
        guard let slash = path.firstIndex(of: "/"), path.index(after: slash) < path.endIndex else {
            throw .notImplemented
        }
        let address = try head.object(path[..<slash], path[path.index(after: slash)...])
        if let id = head.parameter("upload_id") {
            guard ["PUT", "DELETE"].contains(head.method) else { throw .notImplemented }
            return .uploadStep(id: id, try UploadStep(server: head))
        }
        let conditions = try head.conditions()
        switch head.meant {
        case "GET": return .media(address, conditions, MediaRequest(head))
        case "DELETE": return .delete(address, conditions)
        case "PUT": return .upload(try UploadStart(plain: head, address, isResumable: false))
        case "POST" where head.header("x-goog-resumable")?.lowercased() == "start":
            return .upload(try UploadStart(plain: head, address, isResumable: true))
        default: throw .notImplemented
        }
    }
}
