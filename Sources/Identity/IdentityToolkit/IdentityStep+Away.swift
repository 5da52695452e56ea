import JSONTree

/// Work on many accounts, away from the loop.
extension IdentityStep {
    /// Accounts that are processed on the loop: with ten members each they take up to a millisecond.
    private static let briefCount = 32

    /// Does `work` off the loop if it is about many accounts, else at once, and continues with its result.
    static func away(
        _ accountCount: Int,
        _ context: IdentityContext,
        _ work: @escaping @Sendable () throws(IdentityError) -> Link
    ) -> IdentityStep {
        let safely: @Sendable () -> Link = {
            do throws(IdentityError) { return try work() } catch { return { _ in .refuse(error) } }
        }
        return accountCount > briefCount ? .away(safely) : safely()(context)
    }

    /// Answers with a list of up to `accountCount` accounts, as they are now: a long one is read and written away from
    /// the loop.
    static func listing(
        _ accountCount: Int,
        _ context: IdentityContext,
        _ body: @escaping @Sendable () throws(IdentityError) -> JSONMembers
    ) -> IdentityStep {
        away(accountCount, context) { () throws(IdentityError) in
            let body = try body()
            let (text, count) = (body.written, body.count("users"))
            return { _ in
                var answer = IdentityAnswer(text)
                answer.listedCount = count
                return .answer(answer)
            }
        }
    }
}

extension JSONMembers {
    /// The same with every value as text.
    fileprivate var written: JSONMembers {
        var written = JSONMembers()
        for member in all { written.add(member.name, .raw(member.value.text)) }
        return written
    }
}
