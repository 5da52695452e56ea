import JSONTree
import SecurityRules
import WireProtocol

/// What can be said of a write before its value is read.
extension Database {
    /// Whether the rules refuse a write at a place whatever it brings, or an update of anything below it.
    ///
    /// A refusal is noted as any other is, but that the shadow rules are not asked: they might look at what is not
    /// known.
    func foreseesRefusal(
        of target: WriteTarget,
        isUpdate: Bool,
        by requester: Requester,
        now: Timestamp,
        _ effects: inout [Effect]
    ) -> Bool {
        if requester.identity.isAdmin { return false }
        let time = commitTime(now)
        let request = RulesRequest(root: root, auth: requester.identity.auth, now: time)
        if rules.mayGrantWrite(at: target.path, isUpdate: isUpdate, request) { return false }
        // Any new data will do: nothing that looks at it decides.
        let decision = rules.decideWrite([target], newRoot: root, request)
        if decision.isAllowed { return false }
        let base = isUpdate ? target.path : nil
        let question = Question(.write([target], base: base), requester, at: time)
        inspect(decision, of: question, newRoot: root, &effects) {
            rules.decideWrite([target], newRoot: root, request, recording: .values)
        }
        return true
    }
}
