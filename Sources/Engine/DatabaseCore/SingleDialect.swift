import EventProtocol
import JSONTree
import Queries
import WireProtocol

/// Single requests as operations.
extension Operation {
    init(_ operation: Request.Operation) {
        switch operation {
        case .get(let target, let query, let use):
            self = .get(target, query, use, .value)
        case .stream(let connection, let path, let query, let isExport):
            let asked = Database.ListenRequest(
                name: .stream,
                path: path,
                query: query,
                number: nil,
                encoding: .serverSent(isExport: isExport)
            )
            self = .stream(connection, asked)
        case .put(let target, let draft, let tag, let use):
            let entry = MergeEntry(target: target, draft: draft)
            self = .put(entry, tag.map { .tag($0) }, pushed: nil, use)
        case .push(let path, let key, let draft, let use):
            let target = WriteTarget(path: path.appending(key))
            self = .put(MergeEntry(target: target, draft: draft), nil, pushed: key, use)
        case .merge(let base, let entries, let use): self = .update(base, entries, nil, use)
        case .foresee(let target, let isUpdate): self = .foresee(target, isUpdate: isUpdate)
        case .getRules, .putRules, .getRulesHistory, .getSettings, .putSetting, .storeRuleset,
            .labelRulesets, .simulate, .shadow, .profile, .inspect, .setInspection, .coverage,
            .backUp, .confirm, .databases, .status:
            self = .administer(operation)
        }
    }
}

/// Answers to single requests.
extension Response {
    init(_ answer: Answer) {
        self =
            switch answer {
            case .done: .done
            case .value(let node, let tag, _): .value(node, tag)
            case .listening(let listen, _): .streaming(listen.session.connection)
            case .written(let changes, isUpdate: false, let tag): .written(changes[0].new, tag)
            case .written(let changes, isUpdate: true, let tag):
                .merged(changes.map { ($0.target, $0.new) }, tag)
            case .pushed(let key, let tag): .pushed(key, tag)
            case .mismatch(let node, let tag): .mismatch(node, tag)
            case .denied: .permissionDenied
            case .failed(.indexNotDefined, let text): .notIndexed(text)
            case .failed: .refused(.tooManyListens)
            case .refused(let refusal): .refused(refusal)
            case .badCredential(let refusal): .badCredential(refusal)
            case .pong, .authenticated, .signedOut, .key:
                preconditionFailure("only sessions ask for this")
            }
    }
}
