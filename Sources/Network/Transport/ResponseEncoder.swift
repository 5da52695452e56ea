/// Writes response heads.
enum ResponseEncoder {
    /// How the body of a response is delimited.
    enum Body: Equatable {
        /// None, by the rules of HTTP; `byteCount` is the length for a GET, when known.
        case none(byteCount: Int?)
        case length(Int)
        case chunked
        /// Until the connection closes, for HTTP/1.0.
        case untilClose
    }

    /// The status line, the given headers, and those that framing needs. `unixSeconds` is now.
    @LoopActor
    static func head(
        status: Int,
        headers: HTTPHeaders,
        body: Body,
        keepsAlive: Bool,
        unixSeconds: Int
    ) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(headCapacity)
        append(status == 200 ? okLine : "HTTP/1.1 \(status) \(reason(status))\r\n", to: &text)
        append("Date: ", to: &text)
        append(date(unixSeconds), to: &text)
        append("\r\n", to: &text)
        for header in headers {
            appendClean(header.name, to: &text)
            append(": ", to: &text)
            appendClean(header.value, to: &text)
            append("\r\n", to: &text)
        }
        switch body {
        case .none(let byteCount):
            if let byteCount { append(contentLength: byteCount, to: &text) }
        case .length(let byteCount): append(contentLength: byteCount, to: &text)
        case .chunked: append("Transfer-Encoding: chunked\r\n", to: &text)
        case .untilClose: break
        }
        append(keepsAlive ? keepAliveEnding : closeEnding, to: &text)
        return text
    }

    /// The date is the same for all answers of a second.
    @LoopActor private static var lastDate = (unixSeconds: -1, text: "")

    @LoopActor
    private static func date(_ unixSeconds: Int) -> String {
        if lastDate.unixSeconds != unixSeconds {
            lastDate = (unixSeconds, HTTPDate.text(unixSeconds))
        }
        return lastDate.text
    }

    /// Room for most heads.
    private static let headCapacity = 512
    /// Of most answers; the others' are put together.
    private static let okLine = "HTTP/1.1 200 OK\r\n"
    private static let keepAliveEnding = "Connection: keep-alive\r\n\r\n"
    private static let closeEnding = "Connection: close\r\n\r\n"

    private static func append(contentLength byteCount: Int, to text: inout [UInt8]) {
        append("Content-Length: ", to: &text)
        let start = text.count
        var rest = byteCount
        repeat {
            text.append(UInt8(ascii: "0") + UInt8(rest % 10))
            rest /= 10
        } while rest > 0
        text[start...].reverse()
        append("\r\n", to: &text)
    }

    private static func append(_ piece: String, to text: inout [UInt8]) {
        text.append(contentsOf: piece.utf8)
    }

    /// Values may contain a client's text, so a line break in one must not begin a header.
    private static func appendClean(_ piece: String, to text: inout [UInt8]) {
        let start = text.count
        text.append(contentsOf: piece.utf8)
        for index in start..<text.count where text[index] < 0x20 || text[index] == 0x7f {
            text[index] = 0x20
        }
    }

    private static func reason(_ status: Int) -> String {
        reasons[status] ?? "Unknown"
    }

    private static let reasons: [Int: String] = [
        100: "Continue", 101: "Switching Protocols", 200: "OK", 201: "Created", 202: "Accepted",
        204: "No Content", 206: "Partial Content", 301: "Moved Permanently", 302: "Found",
        303: "See Other", 304: "Not Modified", 307: "Temporary Redirect", 308: "Permanent Redirect",
        400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found",
        405: "Method Not Allowed", 406: "Not Acceptable", 408: "Request Timeout", 409: "Conflict",
        410: "Gone", 411: "Length Required", 412: "Precondition Failed", 413: "Content Too Large",
        414: "URI Too Long", 415: "Unsupported Media Type", 417: "Expectation Failed",
        422: "Unprocessable Content", 426: "Upgrade Required", 428: "Precondition Required",
        429: "Too Many Requests", 431: "Request Header Fields Too Large",
        500: "Internal Server Error",
        501: "Not Implemented", 502: "Bad Gateway", 503: "Service Unavailable",
        504: "Gateway Timeout",
        505: "HTTP Version Not Supported", 507: "Insufficient Storage",
    ]
}

/// The date format of HTTP: `Sun, 06 Nov 1994 08:49:37 GMT`.
enum HTTPDate {
    private static let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// The text of a time from 1970 on.
    static func text(_ unixSeconds: Int) -> String {
        let days = unixSeconds / 86400
        let seconds = unixSeconds % 86400
        let (year, month, day) = civil(days)
        return "\(weekdays[days % 7]), \(two(day)) \(months[month - 1]) \(year) "
            + "\(two(seconds / 3600)):\(two(seconds / 60 % 60)):\(two(seconds % 60)) GMT"
    }

    private static func two(_ number: Int) -> String {
        number < 10 ? "0\(number)" : "\(number)"
    }

    /// Days since 1970 to a date of the Gregorian calendar, with years that begin in March.
    private static func civil(_ days: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = days + 719_468
        let era = shifted / 146_097
        let dayOfEra = shifted % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }
}
