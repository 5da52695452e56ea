/// The messages of one chat that a program holds, in their order, whichever way they came.
public struct MessageList: Equatable, Sendable {
    /// By the server's time, and by key in one moment.
    public private(set) var messages: [Message] = []
    /// What was no message, each place once.
    public private(set) var faults: [RecordFault] = []
    /// Whether all that was there when observing began is held.
    public private(set) var isCaughtUp = false

    /// Nothing is held yet.
    public init() {}

    /// Takes what an observer was told.
    public mutating func apply(_ event: MessageEvent) {
        switch event {
        case .added(let message), .changed(let message):
            remove(message.key)
            insert(message)
        case .removed(let key): remove(key)
        case .faulty(let fault): insert(fault)
        case .caughtUp: isCaughtUp = true
        }
    }

    /// Takes a page; a message that is held is as the page has it.
    public mutating func insert(_ page: Listing<Message>) {
        for message in page.records {
            remove(message.key)
            insert(message)
        }
        for fault in page.faults { insert(fault) }
    }

    private mutating func insert(_ message: Message) {
        // Most come last.
        var index = messages.count
        while index > 0, message.precedes(messages[index - 1]) { index -= 1 }
        messages.insert(message, at: index)
    }

    private mutating func insert(_ fault: RecordFault) {
        if !faults.contains(where: { $0.path == fault.path }) { faults.append(fault) }
    }

    private mutating func remove(_ key: String) {
        guard let index = messages.lastIndex(where: { $0.key == key }) else { return }
        messages.remove(at: index)
    }
}
