import Transport

/// How a body is coded (RFC 9110, section 8.4): as it is, or as gzip.
enum ContentCoding: Sendable {
    case identity
    case gzip

    /// The coding of a request's body; nil for one that is not known here, or several.
    init?(_ head: RequestHead) {
        let isCoded = head.hasHeader("content-encoding")
        switch isCoded ? head.headers("content-encoding").joined(separator: ",").lowercased() : "" {
        case "", "identity": self = .identity
        case "gzip", "x-gzip": self = .gzip
        default: return nil
        }
    }

    /// Whether an answer may be gzip: `Accept-Encoding` names it, or everything, with a weight above 0.
    ///
    /// Without a word on it an answer is sent as it is: programs that do not ask seldom inflate.
    static func allowsGzip(_ head: RequestHead) -> Bool {
        guard head.hasHeader("accept-encoding") else { return false }
        var byName: Bool?
        var byStar: Bool?
        for value in head.headers("accept-encoding") {
            for member in value.split(separator: ",") {
                let parts = member.split(separator: ";", maxSplits: 1)
                guard let name = parts.first.map({ ContentCoding.word($0) }) else { continue }
                let isWanted = parts.count == 1 || weight(parts[1]) > 0
                switch name {
                case "gzip", "x-gzip": byName = (byName ?? false) || isWanted
                case "*": byStar = isWanted
                default: break
                }
            }
        }
        return byName ?? byStar ?? false
    }

    /// The number of `q=0.5`; 0 for what is no weight.
    private static func weight(_ text: Substring) -> Double {
        let pair = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard pair.count == 2, word(pair[0]) == "q", let weight = Double(word(pair[1])) else {
            return 0
        }
        return weight
    }

    private static func word(_ text: Substring) -> String {
        text.filter { $0 != " " && $0 != "\t" }.lowercased()
    }
}
