/// One request to a resumable upload that has begun.
package enum UploadStep: Sendable, Equatable {
    /// Bytes of the object; the body has them.
    case bytes(Chunk)
    /// No more bytes come, and the body has none that count.
    case finish
    /// How far is it? `total` is the size by the protocol of servers, where asking and finishing look the same.
    case query(total: Int64?)
    case cancel

    /// Where the bytes of a body belong.
    package struct Chunk: Sendable, Equatable {
        /// The place of the first byte; nil behind what is there.
        package var offset: Int64?
        /// Whether the object ends with it.
        package var isLast: Bool
        /// The size of the object; nil when the request does not say.
        package var total: Int64?
        /// How many bytes the request says that its body has; nil when it does not.
        package var byteCount: Int64?

        package init(
            offset: Int64?,
            isLast: Bool,
            total: Int64? = nil,
            byteCount: Int64? = nil
        ) {
            self.offset = offset
            self.isLast = isLast
            self.total = total
            self.byteCount = byteCount
        }
    }

    /// The words of a command, in lower case: `upload, finalize`.
    static func words(_ command: String) -> [String] {
        command.lowercased().split(whereSeparator: { $0 == "," || $0 == " " }).map { String($0) }
    }

    /// A step of a client: `X-Goog-Upload-Command` says which.
    init(client head: FileRequestHead) throws(FileFault) {
        guard let command = head.header("x-goog-upload-command") else {
            throw FileFault(400, "X-Goog-Upload-Command is missing.")
        }
        switch Set(Self.words(command)) {
        case ["upload"], ["upload", "finalize"]:
            var offset: Int64?
            if let text = head.header("x-goog-upload-offset") {
                guard let number = Int64(text), number >= 0 else {
                    throw FileFault(400, "X-Goog-Upload-Offset must be a number of bytes.")
                }
                offset = number
            }
            let isLast = command.lowercased().contains("finalize")
            self = .bytes(Chunk(offset: offset, isLast: isLast))
        case ["finalize"]: self = .finish
        case ["query"]: self = .query(total: nil)
        case ["cancel"]: self = .cancel
        default:
            throw FileFault(
                400,
                "X-Goog-Upload-Command must be upload, finalize, query or cancel."
            )
        }
    }

    /// A step of a library of servers: a PUT with `Content-Range`, or a DELETE.
    ///
    ///     bytes a-b/N   b + 1 = N ends it        bytes */N   size known: asks, or ends
    ///     bytes a-b/*   more comes               bytes */*   asks
    ///     bytes a-*/*   all that follows         none        all of it
    init(server head: FileRequestHead) throws(FileFault) {
        if head.method == "DELETE" {
            self = .cancel
            return
        }
        guard let text = head.header("content-range") else {
            self = .bytes(Chunk(offset: 0, isLast: true))
            return
        }
        let fault = FileFault(400, "Content-Range must be such as 'bytes 0-99/200'.")
        let words = text.lowercased().split(separator: " ")
        guard words.count == 2, words[0] == "bytes" else { throw fault }
        let sides = words[1].split(separator: "/", omittingEmptySubsequences: false)
        guard sides.count == 2 else { throw fault }
        let total = try Self.number(sides[1], orElse: fault)
        if sides[0] == "*" {
            self = .query(total: total)
            return
        }
        let ends = sides[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = try Self.number(ends[0], orElse: fault) else {
            throw fault
        }
        guard let last = try Self.number(ends[1], orElse: fault) else {
            self = .bytes(Chunk(offset: first, isLast: true, total: total))
            return
        }
        guard last >= first, last < .max, total == nil || last < total ?? 0 else { throw fault }
        self = .bytes(
            Chunk(
                offset: first,
                isLast: last + 1 == total,
                total: total,
                byteCount: last - first + 1
            )
        )
    }

    /// A number; nil for `*`.
    private static func number(
        _ text: Substring,
        orElse fault: FileFault
    ) throws(FileFault) -> Int64? {
        if text == "*" { return nil }
        guard let number = Int64(text), number >= 0, text.first != "+" else { throw fault }
        return number
    }
}
