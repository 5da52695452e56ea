import FileRecords

/// A request of a file protocol, decoded.
package struct FileRequest: Sendable {
    package let dialect: FileDialect
    package let call: FileCall
    /// Whether the answer is sent without its body.
    package let isHead: Bool
    /// A download token that the address has. Never write it into a log.
    package let token: String?

    /// Reads a head.
    ///
    /// - Throws: `FileRefusal`: what to answer instead, in the dialect of the address.
    package init(_ head: FileRequestHead) throws(FileRefusal) {
        let segments = head.segments
        dialect = Self.dialect(segments)
        token = head.parameter("token")
        isHead = head.method == "HEAD"
        do throws(FileFault) {
            call =
                switch dialect {
                case .client: try Self.client(head, segments)
                case .server: try Self.server(head, segments)
                case .plain: try Self.plain(head, segments)
                }
        } catch {
            throw FileRefusal(dialect: dialect, fault: error)
        }
    }

    /// Whether an address is of the file protocols, for a server that has others beside them on a port.
    package static func dialect(_ segments: [Substring]) -> FileDialect {
        switch segments.first {
        case "v0": .client
        case "b", "storage", "upload", "download", "batch": .server
        default: .plain
        }
    }
}

extension FileRequestHead {
    /// The method that is meant; a HEAD asks for what a GET does.
    var meant: String { method == "HEAD" ? "GET" : method }

    func bucket(_ segment: Substring) throws(FileFault) -> BucketName {
        let text = try Self.decode(segment, isForm: false)
        do throws(NameFault) {
            return try BucketName(text)
        } catch {
            throw FileFault(400, error.description)
        }
    }

    func object(
        _ bucket: Substring,
        _ name: Substring
    ) throws(FileFault) -> ObjectAddress {
        ObjectAddress(
            try self.bucket(bucket),
            try Self.name(try Self.decode(name, isForm: false))
        )
    }

    static func name(_ text: String) throws(FileFault) -> ObjectName {
        do throws(NameFault) {
            return try ObjectName(text)
        } catch {
            throw FileFault(400, error.description)
        }
    }

    /// Conditions by the names of their parameters; `prefix` is `if` or `ifSource`.
    func conditions(
        _ prefix: String = "if",
        generation: String = "generation"
    ) throws(FileFault) -> Preconditions {
        var conditions = Preconditions()
        conditions.ifGenerationMatch = try integer("\(prefix)GenerationMatch")
        conditions.ifGenerationNotMatch = try integer("\(prefix)GenerationNotMatch")
        conditions.ifMetagenerationMatch = try integer("\(prefix)MetagenerationMatch")
        conditions.ifMetagenerationNotMatch = try integer("\(prefix)MetagenerationNotMatch")
        conditions.generation = try integer(generation)
        return conditions
    }

    /// What both dialects say of a page of a list.
    func page(_ style: NameQuery.Style) throws(FileFault) -> NameQuery {
        var query = NameQuery(style)
        query.prefix = Array((parameter("prefix") ?? "").utf8)
        query.delimiter = Array((parameter("delimiter") ?? "").utf8)
        guard query.delimiter.count <= FileLimits.delimiterByteCount else {
            throw FileFault(
                400,
                "'delimiter' must have at most \(FileLimits.delimiterByteCount) bytes."
            )
        }
        if let text = parameter("maxResults") {
            guard let count = Int(text), count > 0 else {
                throw FileFault(400, "'maxResults' must be a whole number above 0.")
            }
            query.limit = min(count, FileLimits.listCount.upperBound)
        }
        if let text = parameter("pageToken"), !text.isEmpty {
            guard let token = PageToken(text) else {
                throw FileFault(400, "'pageToken' must be the nextPageToken of an earlier page.")
            }
            query.after = token
        }
        return query
    }
}
