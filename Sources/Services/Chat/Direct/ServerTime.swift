internal import Foundation
internal import HearthDatabase
import Social

/// The server's times in the tree: whole milliseconds since 1970.
enum ServerTime {
    /// The greatest one: the limit of a JavaScript date, some 270,000 years from now.
    static let greatest = 8_640_000_000_000_000.0

    /// The time that a field of this name holds.
    ///
    /// - Throws: `Nonsense` for a time that no server writes; a fraction could not be queried again.
    static func date(_ milliseconds: Double, field: String) throws(Nonsense) -> Date {
        guard (0...greatest).contains(milliseconds), milliseconds == milliseconds.rounded() else {
            throw Nonsense("\(field): it is no time of the server")
        }
        return Date(timeIntervalSince1970: milliseconds / 1_000)
    }

    /// The field's value again: a `Date` is exact to less than a millisecond for as long as this matters.
    static func milliseconds(_ date: Date) -> Double {
        (date.timeIntervalSince1970 * 1_000).rounded()
    }
}

extension Fields {
    /// A time of the server.
    func serverTime(_ name: String) throws -> Date { try ServerTime.date(value(name), field: name) }

    /// A time of the server that may be missing.
    func serverTimeIfPresent(_ name: String) throws -> Date? {
        try optional(name).map { try ServerTime.date($0, field: name) }
    }
}

extension DataSnapshot {
    /// The number in a field, by which a query of it is bounded; nil when it holds none.
    func number(in field: String) -> Double? {
        do {
            return try childSnapshot(forPath: field).data(as: Double.self)
        } catch {
            return nil
        }
    }
}
