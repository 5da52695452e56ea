/// One database (a namespace): a tree with its own rules, listens and commit order.
///
/// The name is what `ns` carries: 1 to 63 of `a-z`, `0-9`, `-`, lower-cased by the caller.
package struct DatabaseID: Hashable, Comparable, Sendable, CustomStringConvertible {
    package let name: String

    package init(_ name: String) {
        self.name = name
    }

    package var description: String { name }

    package static func < (left: DatabaseID, right: DatabaseID) -> Bool {
        left.name.utf8.lexicographicallyPrecedes(right.name.utf8)
    }
}

/// One socket, as the shell numbers them; never used again within a process.
package struct ConnectionID: Hashable, Comparable, Sendable {
    package let value: UInt64

    package init(_ value: UInt64) {
        self.value = value
    }

    package static func < (left: ConnectionID, right: ConnectionID) -> Bool {
        left.value < right.value
    }
}

/// One HTTP request that waits for its answer.
package struct RequestID: Hashable, Sendable {
    package let value: UInt64

    package init(_ value: UInt64) {
        self.value = value
    }
}

/// The unguessable name of a session, given by the shell; clients repeat it as `ls`.
package struct SessionID: Hashable, Comparable, Sendable {
    package let text: String

    package init(_ text: String) {
        self.text = text
    }

    package static func < (left: SessionID, right: SessionID) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }
}

/// Something the core asked the shell to find out, and waits for.
package struct InquiryID: Hashable, Sendable {
    package let value: UInt64
}

/// The count of a durable change within one database, from 1; 0 is the empty database.
package struct CommitNumber: Hashable, Comparable, Sendable {
    package let value: UInt64

    package init(_ value: UInt64) {
        self.value = value
    }

    package static let zero = CommitNumber(0)

    package var next: CommitNumber { CommitNumber(value + 1) }

    package static func < (left: CommitNumber, right: CommitNumber) -> Bool {
        left.value < right.value
    }
}

/// One listen of one session; counts up within a process, so order is the order of registration.
struct ListenID: Hashable, Comparable, Sendable {
    let value: UInt64

    static func < (left: ListenID, right: ListenID) -> Bool {
        left.value < right.value
    }
}
