import DatabaseCore
import EventProtocol
import Transport

/// What the headers of a data request say about tags.
struct RESTConditions {
    /// Whether the answer shall carry a tag.
    var wantsTag = false
    /// A write is done only if this is the tag of what is there.
    var match: EntityTag?
    /// Tags of values that the reader has already.
    var known: [EntityTag] = []

    /// Whether the engine works out a tag.
    var tagUse: Request.TagUse { wantsTag ? .wanted : .none }

    /// No tag is wanted or given.
    static let none = RESTConditions()

}

extension RESTConditions {
    /// `method` is the one that is meant. Throws for combinations that the API does not have.
    init(_ head: RequestHead, _ method: String, _ parameters: RESTParameters) throws(BadRequest) {
        self.init()
        if let flag = head.header("x-firebase-etag") { wantsTag = flag.lowercased() == "true" }
        switch method {
        case "GET", "HEAD":
            // Two tags have no comma in common: they are base64.
            if let tags = head.header("if-none-match") {
                known = tags.split(separator: ",").map { EntityTag(received: $0.withoutBlanks) }
                wantsTag = true
            }
        default: try takeMatch(head, method, parameters)
        }
        if wantsTag, parameters.choosesChildren {
            throw BadRequest("ETags are not supported together with 'shallow' or query parameters")
        }
    }

    private mutating func takeMatch(
        _ head: RequestHead,
        _ method: String,
        _ parameters: RESTParameters
    ) throws(BadRequest) {
        guard let text = head.header("if-match") else { return }
        guard method == "PUT" || method == "DELETE" else {
            throw BadRequest("'if-match' is not supported with \(method)")
        }
        if parameters.print == .silent {
            throw BadRequest("'if-match' is not supported together with 'print=silent'")
        }
        match = EntityTag(received: text)
        wantsTag = true
    }
}

extension StringProtocol {
    /// Without the spaces and tabs around it.
    var withoutBlanks: String {
        let isBlank = { (character: Character) in character == " " || character == "\t" }
        return String(drop(while: isBlank).reversed().drop(while: isBlank).reversed())
    }
}
