import TestSupport
import EventProtocol
import JSONTree
import Queries
import WireProtocol

func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

/// The keys of pushes: equal times give equal keys.
func pushKey() -> Key {
    var generator = PushIDGenerator(seed: 1)
    return generator.next(now: Timestamp(milliseconds: 0))
}

/// A frame in words, for tables: what it asks, the reply that refuses it, or why it closes.
func words(_ frame: [UInt8]) -> String {
    do throws(EventFrameError) {
        let request = try EventRequest.parse(frame, makeKey: pushKey)
        if case .refused(let error) = request.action {
            return text(EventMessage.reply(request.id, .refused(error)).encoded())
        }
        return "\(request.id.map(String.init) ?? "unanswered") \(words(request.action))"
    } catch {
        return "closes: \(error)"
    }
}

private func words(_ action: EventAction) -> String {
    switch action {
    case .auth(let token): "auth \(token)"
    case .unauth: "unauth"
    case .ping: "ping"
    case .observe(let observation): "observe \(words(observation))"
    case .unobserve(let observer): "unobserve \(observer)"
    case .get(let path, let query, let form): "get \(path)\(words(query))\(words(form))"
    case .keyAt(let path, let index): "keyAt \(path) \(index)"
    case .set(let target, let draft, let tag): "set \(target) \(words(draft))\(words(tag))"
    case .update(let base, let entries): "update \(base) \(words(entries))"
    case .push(let path, let key, let draft): "push \(path) \(key.utf8.count) \(words(draft))"
    case .remove(let target, let tag): "remove \(target)\(words(tag))"
    case .onDisconnectSet(let target, let draft): "onDisconnect set \(target) \(words(draft))"
    case .onDisconnectUpdate(let base, let entries):
        "onDisconnect update \(base) \(words(entries))"
    case .onDisconnectCancel(let target): "onDisconnect cancel \(target)"
    case .refused(let error): "refused \(error.code.rawValue)"
    }
}

private func words(_ observation: Observation) -> String {
    let names = EventSet.names.filter { observation.events.contains($0.event) }.map(\.name)
    return "\(observation.id) \(observation.path) \(names.joined(separator: ","))"
        + "\(words(observation.query))\(words(observation.form))"
}

private func words(_ form: Node.JSONForm) -> String { form == .value ? "" : " \(form)" }

private func words(_ tag: EntityTag?) -> String { tag.map { " if \($0.text)" } ?? "" }

private func words(_ entries: [MergeEntry]) -> String {
    entries.map { "\($0.target)=\(words($0.draft))" }.joined(separator: " ")
}

private func words(_ draft: Draft) -> String {
    var words = text(draft.node.json(.export))
    for place in draft.serverValues {
        switch place.value {
        case .timestamp: words += " \(place.target):timestamp"
        case .increment(let step): words += " \(place.target):increment(\(text(step.json())))"
        }
    }
    return words
}

private func words(_ query: QuerySpec) -> String {
    if query == .everything { return "" }
    let index =
        switch query.index {
        case .key: "key"
        case .value: "value"
        case .priority: "priority"
        case .child(let path): "child \(path)"
        }
    var text = " by \(index)"
    if let start = query.start { text += " from \(words(start))" }
    if let end = query.end { text += " to \(words(end))" }
    if let limit = query.limit { text += " \(query.side) \(limit)" }
    return text
}

private func words(_ bound: QuerySpec.Bound) -> String {
    let key =
        switch bound.key {
        case nil: ""
        case .minimum: "@min"
        case .maximum: "@max"
        case .key(let bytes): "@\(text(bytes))"
        }
    return "\(text(bound.value.json()))\(key)\(bound.isInclusive ? "" : " exclusive")"
}
