import Accounts
import JSONTree

extension IdentityStep {
    /// The same chain with another end: `answer` makes it of what the chain would have answered or refused.
    ///
    /// Changes, tokens and events of an answer are `answer`'s to keep.
    func ending(
        _ answer:
            @escaping @Sendable (Result<IdentityAnswer, IdentityError>, IdentityContext) ->
            IdentityAnswer,
        _ context: IdentityContext
    ) -> IdentityStep {
        switch self {
        case .answer(let done): .answer(answer(.success(done), context))
        case .refuse(let error): .answer(answer(.failure(error), context))
        case .password(let work, let then):
            .password(work) { outcome, context in
                then(outcome, context).ending(answer, context)
            }
        case .check(let check, let then):
            .check(check) { outcome, context in
                then(outcome, context).ending(answer, context)
            }
        case .away(let work):
            .away {
                let then = work()
                return { context in then(context).ending(answer, context) }
            }
        }
    }
}

extension IdentityAnswer {
    /// A refusal that changes something all the same.
    init(refusing error: IdentityError, _ changes: AccountChanges) {
        var body = JSONMembers()
        if case .object(let members) = error.body {
            for member in members { body.add(member.name, member.value) }
        }
        self.init(body)
        status = error.status
        self.changes = changes
    }
}
