/// The messages of one chat that a program has, in order, from any source.
public struct MessageList: Equatable, Sendable {
    /// By the server's time, and by key in one moment.
    public private(set) var messages: [Message] = []
    /// Values that are not messages, each location once.
    public private(set) var faults: [RecordFault] = []
    /// Whether it has all messages from before the observation.
    public private(set) var isCaughtUp = false

    /// An empty list.
    public init() {}

    /// Applies an event of an observer.
    public mutating func apply(_ event: MessageEvent) {
        switch event {
        case .added(let message), .changed(let message):
            remove(message.key)
            insertMessage(message)
        case .removed(let key): remove(key)
        case .faulty(let fault): insertFault(fault)
        case .caughtUp: isCaughtUp = true
        }
    }

    /// Adds a page; it replaces messages that are present.
    public mutating func insert(_ page: Listing<Message>) {
        for message in page.records {
            remove(message.key)
            insertMessage(message)
        }
        for fault in page.faults { insertFault(fault) }
    }

    private mutating func insertMessage(_ message: Message) {
        // Most come last.
        var index = messages.count
        while index > 0, message.precedes(messages[index - 1]) { index -= 1 }
        messages.insert(message, at: index)
    }

    private mutating func insertFault(_ fault: RecordFault) {
        if !faults.contains(where: { $0.path == fault.path }) { faults.append(fault) }
    }

    private mutating func remove(_ key: String) {
        guard let index = messages.lastIndex(where: { $0.key == key }) else { return }
        messages.remove(at: index)
    }
}
