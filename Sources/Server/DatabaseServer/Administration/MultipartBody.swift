/// The parts of a form (`multipart/form-data`).
///
/// Source: RFC 7578, with the framing of RFC 2046, 5.1.1.
enum MultipartBody {
    /// Characters in a boundary. Source: RFC 2046, 5.1.1.
    private static let boundaryByteCount = 1...70

    private static let lineEnd: [UInt8] = [0x0D, 0x0A]

    /// The boundary that a `Content-Type` names.
    static func boundary(in contentType: String) throws(BadRequest) -> [UInt8] {
        let fault = BadRequest(
            "An upload must be multipart/form-data with a boundary of 1 to 70 characters."
        )
        let pieces = contentType.split(separator: ";")
        guard let type = pieces.first, type.withoutBlanks.lowercased() == "multipart/form-data"
        else {
            throw fault
        }
        guard let text = parameter("boundary", in: pieces.dropFirst()),
            boundaryByteCount.contains(text.utf8.count)
        else { throw fault }
        return Array(text.utf8)
    }

    /// Where the content of the first part that is a file lies in a body.
    ///
    /// O(bytes up to the end of that part); pure, any thread may do it.
    static func firstFile(in body: [UInt8], boundary: [UInt8]) throws(BadRequest) -> Range<Int> {
        let delimiter = Array("--".utf8) + boundary
        // Every delimiter but the first one has a line end of its own before it.
        var position =
            body.starts(with: delimiter) ? 0 : find(lineEnd + delimiter, in: body, from: 0)
        while let found = position {
            let start = found + (found == 0 ? delimiter.count : delimiter.count + lineEnd.count)
            if body[min(start, body.count)...].starts(with: "--".utf8) { break }
            guard let headersStart = find(lineEnd, in: body, from: start) else { break }
            // A part may have no headers at all; the empty line is there in any case.
            guard let headersEnd = find(lineEnd + lineEnd, in: body, from: headersStart) else {
                break
            }
            let contentStart = headersEnd + 2 * lineEnd.count
            let next = find(lineEnd + delimiter, in: body, from: headersEnd + lineEnd.count)
            guard let next, next >= contentStart - lineEnd.count else {
                throw BadRequest("The upload ends within a part.")
            }
            if isFile(body[headersStart..<headersEnd]) {
                return contentStart..<max(contentStart, next)
            }
            position = next
        }
        throw BadRequest("The upload has no part that is a file.")
    }

    /// Whether the headers of a part name a file.
    private static func isFile(_ headers: ArraySlice<UInt8>) -> Bool {
        let lines = String(decoding: headers, as: UTF8.self).split { $0.isNewline }
        for line in lines {
            let pieces = line.split(separator: ";")
            guard let colon = pieces.first?.firstIndex(of: ":"), let first = pieces.first,
                first[..<colon].withoutBlanks.lowercased() == "content-disposition"
            else { continue }
            return pieces.dropFirst().contains { piece in
                let name = piece.prefix { $0 != "=" }.withoutBlanks.lowercased()
                return piece.contains("=") && (name == "filename" || name == "filename*")
            }
        }
        return false
    }

    /// The value of `name=value` or `name="value"`.
    private static func parameter(_ name: String, in pieces: ArraySlice<Substring>) -> String? {
        for piece in pieces {
            guard let equals = piece.firstIndex(of: "=") else { continue }
            guard piece[..<equals].withoutBlanks.lowercased() == name else { continue }
            let value = piece[piece.index(after: equals)...].withoutBlanks
            guard value.first == "\"" else { return value }
            return value.last == "\"" && value.count > 1
                ? String(value.dropFirst().dropLast()) : nil
        }
        return nil
    }

    /// The first position of `needle`, which begins with a carriage return, at or after `start`.
    private static func find(_ needle: [UInt8], in body: [UInt8], from start: Int) -> Int? {
        let last = body.count - needle.count
        guard start <= last else { return nil }
        return body.withUnsafeBufferPointer { bytes in
            var index = start
            while index <= last {
                if bytes[index] == needle[0],
                    UnsafeBufferPointer(rebasing: bytes[index..<index + needle.count])
                        .elementsEqual(needle)
                {
                    return index
                }
                index += 1
            }
            return nil
        }
    }
}
