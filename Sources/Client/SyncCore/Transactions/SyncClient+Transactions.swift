import JSONTree
import WireProtocol

/// A transaction and its outcome, reported after the events that its end caused.
typealias EndedTransaction = (transaction: Transaction, outcome: Outcome)

extension SyncClient {
    /// Runs a transaction on the known data, shows its result, and sends it when no transaction that it depends on is
    /// under way. If the data is not known yet, the function gets nothing, and runs again when the data arrives. A
    /// listen reports changes until the end.
    func runTransaction(_ request: TransactionRequest) {
        if request.path.isInfo {
            return finish(request.call, .failed(.infoIsReadOnly))
        }
        let target = ListenTarget(path: request.path)
        let observer = Observer(id: nextInnerObserver(), target: target, kinds: [])
        withTree { $0.add(observer, &$1) }
        let input = tree.node(at: request.path, excluding: [], includingHidden: true) ?? .absent
        var transaction = Transaction(
            request: request,
            observer: observer.id,
            writeID: WriteID(0),
            input: input,
            draft: Draft(.absent),
            result: .absent
        )
        if let outcome = run(&transaction, on: input) {
            return endTransactions([(transaction, outcome)])
        }
        transactions.append(transaction)
        show(transaction)
        sendTransactions(around: request.path)
    }

    /// Calls the function with the present data.
    ///
    /// - Returns: The outcome, if there is no result to send.
    private func run(_ transaction: inout Transaction, on input: Node) -> Outcome? {
        transaction.input = input
        guard let draft = transaction.request.update(input) else {
            return .transaction(isCommitted: false, input)
        }
        transaction.draft = draft
        transaction.result = draft.resolved(existing: input, now: serverTime)
        transaction.writeID = nextWriteID()
        return nil
    }

    private func show(_ transaction: Transaction) {
        withTree { tree, output in
            tree.write(
                transaction.writeID,
                [
                    LocatedNode(
                        target: WriteTarget(path: transaction.path),
                        node: transaction.result
                    )
                ],
                isVisible: transaction.request.appliesLocally,
                &output
            )
        }
    }

    /// Sends the groups around a path that are ready: each as one write of all data at its head's path, on condition
    /// that the server still has the data they started from.
    private func sendTransactions(around path: Path) {
        for group in transactions.ready(around: path) {
            let members = group.numbers.map { transactions[$0] }
            let own = Set(members.map(\.writeID))
            let start = tree.node(at: group.path, excluding: own, includingHidden: true) ?? .absent
            let draft = joined(members, at: group.path, on: start)
            let id = nextWriteID()
            transactions.markSent(group.numbers, at: group.path, as: id)
            let write = LinkWrite(
                id: id,
                body: .set(WriteTarget(path: group.path), draft),
                hash: start.hash()
            )
            withLink { $0.write(write, now: $1) }
        }
    }

    /// All that is at a path once each of these has put its result into it.
    private func joined(_ members: [Transaction], at path: Path, on start: Node) -> Draft {
        var joined: Draft?
        for member in members {
            if member.path == path {
                joined = member.draft
            } else {
                let below = WriteTarget(path: member.path.dropFirst(path.keyCount))
                joined = joined ?? Draft(start)
                joined?.replace(below, with: member.draft)
            }
        }
        return joined ?? Draft(start)
    }
}

extension SyncClient {
    /// The server accepted the results, or will not.
    func transactionWritten(_ id: WriteID, _ failure: SyncFailure?) {
        guard let (path, numbers) = transactions.takeSent(id) else { return }
        if let failure {
            for number in numbers { transactions[number].status = .failed(failure) }
            return rerunTransactions(around: path)
        }
        let accepted = transactions.remove(numbers)
        withTree { tree, output in
            for transaction in accepted {
                tree.settle(transaction.writeID, isRefused: false, &output)
            }
        }
        rerunTransactions(around: path)
        endTransactions(accepted.map { ($0, .transaction(isCommitted: true, $0.result)) })
    }

    /// The server has other data than the transactions started from: they run again.
    func transactionStale(_ id: WriteID) {
        guard let (path, numbers) = transactions.takeSent(id) else { return }
        for number in numbers {
            if case .sentToFail(let failure) = transactions[number].status {
                transactions[number].status = .failed(failure)
            } else {
                transactions[number].status = .run
                transactions[number].isStale = true
            }
        }
        rerunTransactions(around: path)
    }

    /// A write of this client overrides locations: transactions there are aborted. One that was already sent is
    /// aborted only if the server finds that it started from old data.
    func overrideTransactions(at paths: [Path]) {
        if transactions.isEmpty { return }
        // Those that waited for one that is given up have their head here.
        let heads = Set(paths.map { transactions.head(of: $0) }).sorted()
        var unsent: [Int] = []
        for path in paths {
            for number in transactions.numbers(overlapping: path) {
                switch transactions[number].status {
                case .sent: transactions[number].status = .sentToFail(.overriddenBySet)
                case .sentToFail, .failed: break
                case .run: unsent.append(number)
                }
            }
        }
        giveUp(Array(Set(unsent)).sorted(), .overriddenBySet)
        for head in heads { rerunTransactions(around: head) }
    }

    private func giveUp(_ numbers: [Int], _ failure: SyncFailure) {
        if numbers.isEmpty { return }
        let ended = transactions.remove(numbers)
        withTree { $0.refuse(ended.map(\.writeID), &$1) }
        endTransactions(ended.map { ($0, .failed(failure)) })
    }

    /// Data at a path may have changed: transactions there that are not sent run again if their data differs; those
    /// that failed end.
    func rerunTransactions(around path: Path) {
        if transactions.isEmpty { return }
        let head = transactions.head(of: path)
        let numbers = transactions.numbers(around: head)
        // A transaction starts from the data without its own result and those of later ones.
        var excluded: Set<WriteID> = []
        for number in numbers where transactions[number].status == .run {
            excluded.insert(transactions[number].writeID)
        }
        var ended: [(number: Int, outcome: Outcome)] = []
        var isChanged = false
        for number in numbers {
            let oldID = transactions[number].writeID
            switch transactions[number].status {
            case .sent, .sentToFail: continue
            case .failed(let failure): ended.append((number, .failed(failure)))
            case .run:
                let outcome = rerun(number, excluding: excluded, isForced: isChanged)
                excluded.remove(oldID)
                isChanged = isChanged || transactions[number].writeID != oldID
                guard let outcome else { continue }
                ended.append((number, outcome))
            }
            withTree { $0.settle(oldID, isRefused: true, &$1) }
        }
        let outcomes = ended.map(\.outcome)
        endTransactions(zip(transactions.remove(ended.map(\.number)), outcomes).map { ($0, $1) })
        sendTransactions(around: head)
    }

    /// Runs a transaction again, if there is reason to; its result has a new name then, so that it lies over
    /// those of earlier ones.
    ///
    /// - Returns: How it ends, if it does.
    private func rerun(_ number: Int, excluding: Set<WriteID>, isForced: Bool) -> Outcome? {
        var transaction = transactions[number]
        let input =
            tree.node(at: transaction.path, excluding: excluding, includingHidden: true) ?? .absent
        if !isForced, !transaction.isStale, input == transaction.input { return nil }
        if transaction.sentCount >= SyncLimits.transactionRuns {
            return .failed(.tooManyRetries)
        }
        let oldID = transaction.writeID
        if let outcome = run(&transaction, on: input) { return outcome }
        transactions[number] = transaction
        show(transaction)
        withTree { $0.settle(oldID, isRefused: true, &$1) }
        return nil
    }

    /// Stops listening for transactions that ended, and reports their outcomes.
    func endTransactions(_ ended: [EndedTransaction]) {
        for (transaction, outcome) in ended {
            withTree { $0.remove(transaction.observer, &$1) }
            finish(transaction.request.call, outcome)
        }
    }
}
