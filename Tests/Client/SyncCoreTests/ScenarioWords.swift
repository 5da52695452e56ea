import Foundation
import JSONTree
import Queries
import SyncCore
import WireProtocol

/// Writes what a client does the way scenarios say it.
///
/// A hash says nothing to people: where the scenario expects one of some JSON, that is written.
struct ScenarioWords {
    private let hashes: [String: String]

    init(_ lines: [String]) {
        var hashes: [String: String] = [:]
        for line in lines {
            guard let place = line.range(of: " hash ") else { continue }
            let json = String(line[place.upperBound...])
            if let node = try? Node(json: json) { hashes[node.hash()] = json }
        }
        self.hashes = hashes
    }

    // MARK: Requests

    func opening(_ address: SocketAddress) -> String {
        let parameters = address.target.split(separator: "?").last ?? ""
        let last = parameters.split(separator: "&").first { $0.hasPrefix("ls=") }
        return "  opens \(address.host)" + (last.map { " \($0)" } ?? "")
    }

    /// The requests in frames; what is none has a negative number.
    func requests(_ frames: [[UInt8]]) -> [ScenarioPlayer.SentRequest] {
        var assembler = FrameAssembler(byteLimit: 1 << 24)
        var requests: [ScenarioPlayer.SentRequest] = []
        for frame in frames {
            var text = frame
            switch try? assembler.receive(frame) {
            case .message(let message): text = message
            case .keepAlive: break
            case .incomplete, nil: continue
            }
            let message = try? JSONSerialization.jsonObject(with: Data(text)) as? [String: Any]
            let payload = message?["d"] as? [String: Any]
            let number = payload?["r"] as? Int ?? -1
            let action = payload?["a"] as? String ?? String(decoding: text, as: UTF8.self)
            let body = payload?["b"] as? [String: Any] ?? [:]
            requests.append(.init(number: number, action: action, body: body))
        }
        return requests
    }

    func line(_ request: ScenarioPlayer.SentRequest) -> String {
        var words = ["  > " + request.action]
        let body = request.body
        if let token = body["cred"] as? String { words.append(token) }
        if let path = body["p"] as? String { words.append(path.hasPrefix("/") ? path : "/" + path) }
        if let query = body["q"] as? [String: Any], !query.isEmpty {
            words.append(Self.text(query))
        }
        if let data = body["d"], request.action != "oc" { words.append(Self.text(data)) }
        if let tag = body["t"] { words.append("tag \(tag)") }
        if let hash = body["h"] as? String, request.action == "p" || !hash.isEmpty {
            words.append("hash \(hash.isEmpty ? "null" : hashes[hash] ?? hash)")
        }
        if body["ch"] != nil { words.append("in parts") }
        return words.joined(separator: " ")
    }

    static func text(_ json: Any) -> String {
        let data = try? JSONSerialization.data(
            withJSONObject: json,
            options: [.sortedKeys, .fragmentsAllowed, .withoutEscapingSlashes]
        )
        return data.map { String(decoding: $0, as: UTF8.self) } ?? "?"
    }

    // MARK: Events

    func text(_ node: Node) -> String { String(decoding: node.json(), as: UTF8.self) }

    func event(_ event: ObservedEvent) -> String {
        switch event {
        case .value(let node): return "value \(text(node))"
        case .cancelled(let failure): return "cancelled \(word(failure))"
        case .child(let event):
            let after = event.previousKey.map { " after \($0)" } ?? ""
            return "\(event.kind) \(event.key) \(text(event.node))\(after)"
        }
    }

    func outcome(_ outcome: Outcome) -> String {
        switch outcome {
        case .done: "done"
        case .value(let node): "value \(text(node))"
        case .transaction(let isCommitted, let node):
            "\(isCommitted ? "committed" : "given up") \(text(node))"
        case .failed(let failure): "failed \(word(failure))"
        }
    }

    private func word(_ failure: SyncFailure) -> String {
        switch failure {
        case .refused(let status, _): status
        case .disconnected: "disconnected"
        case .tooManyRetries: "tooManyRetries"
        case .overriddenBySet: "overriddenBySet"
        case .writeCancelled: "writeCancelled"
        case .offline: "offline"
        }
    }

    func warning(_ warning: Warning) -> String {
        switch warning {
        case .missingIndex(let path, let index): "missing index \(path) \(word(index))"
        case .writeRefused(let path, let failure): "write refused \(path) \(word(failure))"
        case .listenRefused(let path, let failure): "listen refused \(path) \(word(failure))"
        case .credentialRefused(let text): "credential refused: \(text)"
        case .shutDown(let text): "shut down: \(text)"
        case .securityDebug(let text): "debug: \(text)"
        case .badMessage: "bad message"
        case .notConnected(let reason, _): "not connected: \(reason)"
        case .connectionLost(let reason): "connection lost: \(reason)"
        }
    }

    private func word(_ index: QuerySpec.Index) -> String {
        switch index {
        case .key: ".key"
        case .value: ".value"
        case .priority: ".priority"
        case .child(let path): path.wireText
        }
    }

    // MARK: The disk cache

    func change(_ change: StoreChange) -> String {
        switch change {
        case .saveWrite(let id, .set(let target, let draft)):
            "stores write \(id.value) set \(target) \(text(draft.node))"
        case .saveWrite(let id, .update(let path, let entries)):
            "stores write \(id.value) update \(path) of \(entries.count)"
        case .removeWrite(let id): "forgets write \(id.value)"
        case .saveListen(let target, let node): "stores \(name(target)) \(text(node))"
        case .saveChildren(let target, let children):
            "stores children of \(name(target))"
                + children.map { " \($0.key)=\(text($0.node))" }.joined()
        case .useListen(let target, let isActive):
            "\(isActive ? "uses" : "leaves") \(name(target))"
        case .removeListen(let target): "forgets \(name(target))"
        case .removeAll: "forgets all"
        case .account(let account): "belongs to \(account ?? "stranger")"
        }
    }

    private func name(_ target: ListenTarget) -> String {
        let query = target.queryText.map { " " + String(decoding: $0, as: UTF8.self) } ?? ""
        return "\(target.path)\(query)"
    }
}
