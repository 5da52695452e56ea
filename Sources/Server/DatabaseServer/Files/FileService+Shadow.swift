import DatabaseCore
import FileProtocol
import FileRules
import FileRulesTools
import JSONTree
import Logging
import SecurityRules
import Transport

/// Rules for files that are stored, and those of them that are tried beside the rules in force.
extension FileService {
    /// Stores a ruleset for an administrator.
    func keep(_ rules: FileRuleset, as id: String, _ pending: PendingExchange) {
        let ruleset = StoredRuleset(id: id, time: Clock.now(), text: rules.text)
        store.commit([], store.tree.writes(storing: ruleset)) { [self] fault in
            if let fault { return finish(pending, .error(fault.status, fault.message)) }
            noteSetting(pending)
            finish(pending, .json(of: ["id": .string(id)]))
        }
    }

    /// Tries a stored ruleset, which a worker loads first, or (nil) none.
    func label(canary id: String?, _ pending: PendingExchange) {
        guard let id else { return putCanary(nil, nil, pending) }
        guard let ruleset = store.tree.ruleset(id) else {
            return finish(pending, .error(400, RequestRefusal.unknownRuleset.text))
        }
        if let shadow, shadow.candidate == ruleset { return putCanary(id, shadow.rules, pending) }
        let isTaken = workers.values.perform {
            Result { () throws(RulesError) in try FileRuleset.load(ruleset.text) }
        } then: { [self] outcome in
            switch outcome {
            case .success(let rules): putCanary(id, rules, pending)
            case .failure:
                finish(pending, .error(400, RequestRefusal.unusableRuleset.text))
            }
        }
        if !isTaken { finish(pending, .error(503, "Too much is being read.")) }
    }

    private func putCanary(_ id: String?, _ rules: FileRuleset?, _ pending: PendingExchange) {
        // It may have made room for others while it was loaded.
        if let id, store.tree.ruleset(id) == nil {
            return finish(pending, .error(400, RequestRefusal.unknownRuleset.text))
        }
        store.commit([], [FileTree.write(canary: id)]) { [self] fault in
            if let fault { return finish(pending, .error(fault.status, fault.message)) }
            noteSetting(pending)
            finish(pending, .statusOK)
        }
        // The engine takes it at once, or refuses it.
        renewShadow(rules)
    }

    /// Tries the ruleset that is labelled `canary`; counts begin anew where it or the rules in force are others now.
    /// `loaded` are these rules, where they are loaded already.
    func renewShadow(_ loaded: FileRuleset? = nil) {
        guard let candidate = store.tree.canary else {
            shadow = nil
            return
        }
        var known = loaded.flatMap { candidate.text.utf8.elementsEqual($0.text.utf8) ? $0 : nil }
        if let shadow, shadow.candidate == candidate {
            if shadow.live.isIdentical(to: rules.shared) { return }
            known = shadow.rules
        }
        do throws(RulesError) {
            let rules: FileRuleset
            if let known { rules = known } else { rules = try FileRuleset.load(candidate.text) }
            shadow = FileShadowRules(candidate, rules, live: self.rules.shared, now: Clock.now())
        } catch {
            // An older server may have taken what this one does not. They have no effect.
            log.warning("shadow rules for files do not load any more, so none are tried: \(error)")
            shadow = nil
        }
    }

    /// What the shadow rules have found.
    func shadowReport(resets: Bool) -> ShadowReport {
        defer { if resets { shadow?.reset(now: Clock.now()) } }
        return shadow?.report ?? ShadowReport(candidate: nil, since: Clock.now())
    }

    /// Notes for the logs that a setting of the rules for files is another one.
    private func noteSetting(_ pending: PendingExchange) {
        let exchange = pending.exchange
        let setting = "/\(exchange.head.pathSegments.joined(separator: "/"))"
        let deed = server.admin.deed(
            "a setting of the rules for files is changed",
            exchange,
            token: pending.parameters.token
        )
        log(deed, ["setting": "\(setting)"], on: exchange)
    }
}
