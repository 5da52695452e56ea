package import JSONTree

/// An event that an observer is notified of.
///
///     {"event":"childAdded","key":"-Nx","previousKey":"-Nw","value":{...},"observer":2}
///
/// The observer's id comes last, so that every byte before it is the same for all who observe the
/// same: encode it once, then append id and `ending` for each.
package enum ObserverEvent: Sendable {
    /// What the query selects is now this; absent is null.
    case value(Node)
    /// A child came into sight behind this one; nil for the first child.
    case childAdded(Key, previousKey: Key?, Node)
    /// A child has another value.
    case childChanged(Key, previousKey: Key?, Node)
    /// A child is now behind this one.
    case childMoved(Key, previousKey: Key?, Node)
    /// A child went out of sight; it last had this value.
    case childRemoved(Key, Node)
    /// The observer is gone: the server dropped it for this reason.
    case cancelled(EventError)

    /// The text behind the observer's id.
    package static let ending = Array("}".utf8)

    /// Everything before the observer's id.
    package func sharedText(_ form: Node.JSONForm) -> [UInt8] {
        var out: [UInt8] = []
        appendPrefix(to: &out)
        if let node { node.appendJSON(to: &out, form) }
        out.append(Self.observerMember)
        return out
    }

    /// The whole message for one observer.
    package func encoded(observer: Int64, _ form: Node.JSONForm) -> [UInt8] {
        sharedText(form) + Array(String(observer).utf8) + Self.ending
    }
}

extension ObserverEvent {
    /// The text between the value and the observer's id.
    static let observerMember = #","observer":"#

    /// The value that the message carries last but for the observer's id.
    var node: Node? {
        switch self {
        case .value(let node), .childAdded(_, _, let node), .childChanged(_, _, let node),
            .childMoved(_, _, let node), .childRemoved(_, let node):
            node
        case .cancelled: nil
        }
    }

    /// Appends the text before the value.
    func appendPrefix(to out: inout [UInt8]) {
        switch self {
        case .value: out.append(#"{"event":"value""#)
        case .childAdded(let key, let previous, _): appendChild("childAdded", key, previous, &out)
        case .childChanged(let key, let previous, _):
            appendChild("childChanged", key, previous, &out)
        case .childMoved(let key, let previous, _): appendChild("childMoved", key, previous, &out)
        case .childRemoved(let key, _):
            out.append(#"{"event":"childRemoved","key":"#)
            key.withBytes { appendJSONString($0, to: &out) }
        case .cancelled(let error):
            out.append(#"{"event":"cancelled","error":""#)
            out.append(error.code.rawValue)
            out.append(#"","message":"#)
            appendJSONString(error.message, to: &out)
            return
        }
        out.append(#","value":"#)
    }

    private func appendChild(_ name: String, _ key: Key, _ previous: Key?, _ out: inout [UInt8]) {
        out.append(#"{"event":""#)
        out.append(name)
        out.append(#"","key":"#)
        key.withBytes { appendJSONString($0, to: &out) }
        out.append(#","previousKey":"#)
        if let previous {
            previous.withBytes { appendJSONString($0, to: &out) }
        } else {
            out.append("null")
        }
    }
}
