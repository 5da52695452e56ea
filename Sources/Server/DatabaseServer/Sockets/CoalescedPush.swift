import DatabaseCore
import Transport

/// Pushes to the same receivers that leave as one: a batch of commits to one path then costs each
/// receiver one item in its queue.
struct CoalescedPush {
    /// Bytes for one receiver after which more is kept apart, of every kind: as much as one send takes.
    static let byteLimit = 64 * 1024

    let receivers: [ConnectionID]
    private(set) var frame: SharedFrame

    /// Whether `next` is for the same receivers, and now waits with the rest.
    mutating func append(_ next: SharedFrame, to receivers: [ConnectionID]) -> Bool {
        // Mostly one and the same array, which is seen at once.
        guard receivers == self.receivers, frame.byteCount < Self.byteLimit else { return false }
        frame.append(next)
        return true
    }
}

/// The same for pushes in which a number differs between receivers: those with equal numbers share their bytes.
struct CoalescedNumberedPush {
    /// Bytes for all numbers together after which more pushes are kept apart.
    private static let totalByteLimit = 4 * 1024 * 1024

    let receivers: [NumberedReceiver]
    /// Each number that a receiver has, in the order of first appearance.
    private var numbers: [Int64] = []
    /// What waits for the receivers with each of `numbers`.
    private(set) var frames: [SharedFrame] = []
    /// For each receiver, where its number stands in `numbers`.
    private(set) var indices: [Int] = []
    private var byteCount = 0

    /// Holds `text`, which has at most `NumberedFrames.copiedByteCount` bytes with any number.
    init(receivers: [NumberedReceiver], text: NumberedText) {
        self.receivers = receivers
        indices.reserveCapacity(receivers.count)
        var indexOfNumber: [Int64: Int] = [:]
        for receiver in receivers {
            if let last = indices.last, numbers[last] == receiver.number {
                indices.append(last)
                continue
            }
            let index = indexOfNumber[receiver.number] ?? numbers.count
            if index == numbers.count {
                numbers.append(receiver.number)
                indexOfNumber[receiver.number] = index
            }
            indices.append(index)
        }
        frames = numbers.map { CoalescedNumberedPush.frame(text, $0) }
        byteCount = frames.reduce(0) { $0 + $1.byteCount }
    }

    /// Whether `next` is for the same receivers with the same numbers, and now waits with the rest.
    mutating func append(_ next: NumberedText, to receivers: [NumberedReceiver]) -> Bool {
        // Mostly one and the same array, which is seen at once.
        guard receivers == self.receivers, let first = frames.first,
            first.byteCount < CoalescedPush.byteLimit, byteCount < Self.totalByteLimit
        else { return false }
        for index in numbers.indices {
            let frame = CoalescedNumberedPush.frame(next, numbers[index])
            byteCount += frame.byteCount
            frames[index].append(frame)
        }
        return true
    }

    private static func frame(_ text: NumberedText, _ number: Int64) -> SharedFrame {
        SharedFrame(text: text.text, ending: NumberedFrames.end(of: text, number))
    }
}

/// The same for event streams: texts that become one chunk.
struct CoalescedEvents {
    let receivers: [ConnectionID]
    private(set) var text: [UInt8]

    /// Whether `next` is for the same receivers, and now waits with the rest.
    mutating func append(_ next: [UInt8], to receivers: [ConnectionID]) -> Bool {
        guard receivers == self.receivers, text.count < CoalescedPush.byteLimit
        else { return false }
        text += next
        return true
    }
}

/// What the effects of one step have not queued yet.
enum CoalescedPushes {
    case none
    case plain(CoalescedPush)
    case numbered(CoalescedNumberedPush)
    case serverSent(CoalescedEvents)

    /// Whether something waits for this connection. O(receivers).
    func contains(_ connection: ConnectionID) -> Bool {
        switch self {
        case .none: false
        case .plain(let push): push.receivers.contains(connection)
        case .numbered(let push): push.receivers.contains { $0.connection == connection }
        case .serverSent(let events): events.receivers.contains(connection)
        }
    }

    /// Whether a text of one frame now waits with others for the same receivers.
    mutating func appendFrame(_ frame: SharedFrame, to receivers: [ConnectionID]) -> Bool {
        guard case .plain(var push) = self else { return false }
        // Out of `self` while it is edited, so that its bytes are not copied.
        self = .none
        defer { self = .plain(push) }
        return push.append(frame, to: receivers)
    }

    /// Whether events now wait with others for the same streams.
    mutating func appendEvents(_ text: [UInt8], to receivers: [ConnectionID]) -> Bool {
        guard case .serverSent(var events) = self else { return false }
        self = .none
        defer { self = .serverSent(events) }
        return events.append(text, to: receivers)
    }

    /// Whether a numbered text now waits with others for the same receivers and numbers.
    mutating func appendNumbered(_ text: NumberedText, to receivers: [NumberedReceiver]) -> Bool {
        guard case .numbered(var push) = self else { return false }
        self = .none
        defer { self = .numbered(push) }
        return push.append(text, to: receivers)
    }
}
