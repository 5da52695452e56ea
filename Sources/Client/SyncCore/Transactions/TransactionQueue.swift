import JSONTree

/// The open transactions, in the order they were started. Transactions at one path and below form a group, with the one
/// nearest to the root as its head: the result of one is part of another's data, so they are sent together, as one
/// write at the head's path. Finding a group takes O(depth of the path and size of the group).
struct TransactionQueue {
    /// By number, which counts starts; each has its own `writeID`.
    private var transactions: [Int: Transaction] = [:]
    private var lastNumber = 0
    /// The numbers of the transactions at each path, ascending; never empty.
    private var at: [Path: [Int]] = [:]
    /// The numbers of the transactions at and below each path, ascending; never empty.
    private var within: [Path: [Int]] = [:]
    /// Unanswered writes: the path, and the transactions whose results each joins.
    private var sent: [WriteID: (path: Path, numbers: [Int])] = [:]

    var isEmpty: Bool { transactions.isEmpty }

    mutating func append(_ transaction: Transaction) {
        lastNumber += 1
        transactions[lastNumber] = transaction
        let path = transaction.path
        at[path, default: []].append(lastNumber)
        for keyCount in 0...path.keyCount {
            within[path.prefix(keyCount), default: []].append(lastNumber)
        }
    }

    subscript(number: Int) -> Transaction {
        get {
            guard let transaction = transactions[number] else {
                preconditionFailure("a transaction is asked for while it is under way")
            }
            return transaction
        }
        set { transactions[number] = newValue }
    }

    // MARK: Groups

    /// The transactions that depend on the data at a path: those at and below the head's path, or the path's own when
    /// there is none at or above it.
    func numbers(around path: Path) -> [Int] { within[head(of: path)] ?? [] }

    func numbers(overlapping path: Path) -> [Int] {
        var numbers = within[path] ?? []
        for keyCount in 0..<path.keyCount { numbers += at[path.prefix(keyCount)] ?? [] }
        return numbers.sorted()
    }

    /// The groups around a path that wait for nothing: all in them have run, none is with the server.
    func ready(around path: Path) -> [(path: Path, numbers: [Int])] {
        var groups: [(path: Path, numbers: [Int])] = []
        var indices: [Path: Int] = [:]
        for number in numbers(around: path) {
            let head = head(of: self[number].path)
            if let index = indices[head] {
                groups[index].numbers.append(number)
            } else {
                indices[head] = groups.count
                groups.append((head, [number]))
            }
        }
        return groups.filter { $0.numbers.allSatisfy { self[$0].status == .run } }
    }

    /// The path nearest to the root among those of transactions at a path and above it; else the path.
    func head(of path: Path) -> Path {
        for keyCount in 0..<path.keyCount {
            let above = path.prefix(keyCount)
            if at[above] != nil { return above }
        }
        return path
    }

    // MARK: Sending

    /// A group is with the server now, as the write `id`.
    mutating func markSent(_ numbers: [Int], at path: Path, as id: WriteID) {
        for number in numbers {
            self[number].status = .sent
            self[number].sentCount += 1
            self[number].isStale = false
        }
        sent[id] = (path, numbers)
    }

    /// The server answered a write: the transactions it joined, and its path. Nil if it was not one of theirs.
    mutating func takeSent(_ id: WriteID) -> (path: Path, numbers: [Int])? {
        guard let write = sent.removeValue(forKey: id) else { return nil }
        return (write.path, write.numbers.filter { transactions[$0] != nil })
    }

    // MARK: Ending

    mutating func remove(_ numbers: [Int]) -> [Transaction] {
        numbers.compactMap { number in
            guard let ended = transactions.removeValue(forKey: number) else { return nil }
            Self.remove(number, from: &at, at: ended.path)
            for keyCount in 0...ended.path.keyCount {
                Self.remove(number, from: &within, at: ended.path.prefix(keyCount))
            }
            return ended
        }
    }

    private static func remove(_ number: Int, from lists: inout [Path: [Int]], at path: Path) {
        guard let index = lists[path]?.ascendingIndex(of: number) else { return }
        lists[path]?.remove(at: index)
        if lists[path]?.isEmpty == true { lists[path] = nil }
    }

    /// Takes all out, with the names of the writes that are with the server.
    mutating func removeAll() -> (transactions: [Transaction], sent: [WriteID]) {
        let numbers = transactions.keys.sorted()
        let all = (numbers.map { self[$0] }, sent.keys.sorted())
        self = TransactionQueue()
        return all
    }
}

extension [Int] {
    /// Where a number is in an ascending list that has it.
    fileprivate func ascendingIndex(of number: Int) -> Int? {
        var (low, high) = (0, count)
        while low < high {
            let middle = low + (high - low) / 2
            if self[middle] < number { low = middle + 1 } else { high = middle }
        }
        return low < count && self[low] == number ? low : nil
    }
}
