package import JSONTree

/// Why a client's text is not a message, so that no reply can be addressed. The connection must be
/// closed; anything less wrong is a `ClientRequest.Action.malformed`.
package enum MessageError: Error, Equatable, Sendable {
    /// The bytes are not UTF-8; of a WebSocket's messages the transport has found that out before.
    case notUTF8
    /// The text is not JSON (or nests deeper than anything that could be stored).
    case notJSON(JSONError)
    /// The text or its payload is JSON but no object.
    case notAnObject
    /// A member that every message of its kind has is missing.
    case missing(member: String)
    /// A member that every message of its kind has is of the wrong type.
    case wrongType(member: String)
    /// `t` is neither `c` nor `d`.
    case unknownLayer
}

extension MessageError: CustomStringConvertible {
    /// What is wrong, for the log and the close reason.
    package var description: String {
        switch self {
        case .notUTF8: "not UTF-8"
        case .notJSON(let error):
            "not JSON: \(FaultText.json(error.reason)) at byte \(error.offset)"
        case .notAnObject: "not a message: an object was expected"
        case .missing(let member): "not a message: `\(member)` is missing"
        case .wrongType(let member): "not a message: `\(member)` is of the wrong type"
        case .unknownLayer: "not a message: `t` is neither \"c\" nor \"d\""
        }
    }

    /// The RFC 6455 close code to end the connection with.
    package var closeCode: UInt16 {
        switch self {
        case .notUTF8, .notJSON: 1007
        case .notAnObject, .missing, .wrongType, .unknownLayer: 1003
        }
    }
}
