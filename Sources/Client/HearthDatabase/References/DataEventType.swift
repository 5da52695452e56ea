import Queries
import SyncCore

/// The kinds of events for observers.
public enum DataEventType: Int, Sendable, CaseIterable {
    /// A child came, or was there.
    case childAdded = 0
    /// A child went.
    case childRemoved = 1
    /// A child is another than before.
    case childChanged = 2
    /// A child has moved in the order.
    case childMoved = 3
    /// The whole is known, or is another than before.
    case value = 4

    var kind: ObservedKinds {
        switch self {
        case .childAdded: .childAdded
        case .childRemoved: .childRemoved
        case .childChanged: .childChanged
        case .childMoved: .childMoved
        case .value: .value
        }
    }

    init(_ kind: ChildEventKind) {
        switch kind {
        case .added: self = .childAdded
        case .removed: self = .childRemoved
        case .changed: self = .childChanged
        case .moved: self = .childMoved
        }
    }
}

/// Names an observer, for `removeObserver(withHandle:)`.
public typealias DatabaseHandle = UInt
