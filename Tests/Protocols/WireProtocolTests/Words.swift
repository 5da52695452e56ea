import JSONTree
import Queries

@testable import WireProtocol

/// A message in words, for tables.
func words(_ text: String) -> String {
    do throws(MessageError) {
        return words(try ClientMessage.parse(Array(text.utf8)))
    } catch {
        return "!\(error)"
    }
}

func words(_ message: ClientMessage) -> String {
    switch message {
    case .ping: "ping"
    case .upgradeAck: "upgradeAck"
    case .endOfTransmission: "endOfTransmission"
    case .unknownControl: "unknownControl"
    case .request(let request): "\(request.number) \(words(request.action))"
    }
}

private func words(_ action: ClientRequest.Action) -> String {
    switch action {
    case .stats: "stats"
    case .auth(let credential): "auth \(words(credential))"
    case .gauth(let credential): "gauth \(words(credential))"
    case .unauth: "unauth"
    case .appCheck: "appCheck"
    case .unAppCheck: "unAppCheck"
    case .listen(let target, let tag, let hash):
        "listen \(words(target))\(words("t", tag))\(words("h", hash?.hash))"
            + words("ch", hash?.compound.map(words))
    case .unlisten(let target, let tag): "unlisten \(words(target))\(words("t", tag))"
    case .get(let target): "get \(words(target))"
    case .put(let target, let draft, let hash):
        "put \(target) \(words(draft))\(words("h", hash))"
    case .merge(let base, let entries, let hash):
        "merge \(base) [\(words(entries))]\(words("h", hash))"
    case .onDisconnectPut(let target, let draft): "onDisconnectPut \(target) \(words(draft))"
    case .onDisconnectMerge(let base, let entries): "onDisconnectMerge \(base) [\(words(entries))]"
    case .onDisconnectCancel(let target): "onDisconnectCancel \(target)"
    case .echo(let text): "echo \(String(decoding: text, as: UTF8.self))"
    case .unknown(let name): "unknown \(name)"
    case .tooBig(let limit): "too big: \(limit)"
    case .malformed(let text): "malformed: \(text)"
    }
}

private func words<T>(_ name: String, _ value: T?) -> String {
    value.map { " \(name)=\($0)" } ?? ""
}

private func words(_ compound: CompoundHash) -> String {
    zip(compound.ends, compound.hashes).map { "\($0):\($1)" }.joined(separator: ",")
}

private func words(_ credential: Credential) -> String {
    switch credential.override {
    case nil: credential.token
    case .nobody: "\(credential.token) as nobody"
    case .value(let node): "\(credential.token) as \(json(node))"
    }
}

private func words(_ target: ListenTarget) -> String {
    guard let text = target.queryText else { return "\(target.path)" }
    return "\(target.path) \(String(decoding: text, as: UTF8.self))"
}

private func words(_ entries: [MergeEntry]) -> String {
    entries.map { "\($0.target)=\(words($0.draft))" }.joined(separator: " ")
}

private func words(_ draft: Draft) -> String {
    var text = json(draft.node)
    for place in draft.serverValues {
        switch place.value {
        case .timestamp: text += " \(place.target):timestamp"
        case .increment(let step): text += " \(place.target):increment(\(json(step)))"
        }
    }
    return text
}

func json(_ node: Node) -> String {
    var out: [UInt8] = []
    node.appendJSON(to: &out, .export)
    return String(decoding: out, as: UTF8.self)
}

func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

func path(_ text: String) throws -> Path { try Path(text) }

func node(_ json: String) throws -> Node { try Node(json: Array(json.utf8)) }
