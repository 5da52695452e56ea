import Foundation
import JSONTree
import Queries

/// A place in a database, to read and to write.
///
/// A reference to a path or key that cannot be says so to whoever uses it: completions, cancel blocks and
/// async forms get the error, and nothing is sent. `child(validating:)` throws at once.
///
/// `Sendable` as a query is: all it holds is immutable.
public final class DatabaseReference: DatabaseQuery, @unchecked Sendable {
    /// The place below this one at a path.
    public func child(_ pathString: String) -> DatabaseReference {
        if case .failure = place { return self }
        do throws(DatabaseError) {
            return try checkedChild(pathString)
        } catch {
            owner.warn("a reference cannot be used: \(error.localizedDescription)")
            return DatabaseReference(owner, .failure(error))
        }
    }

    /// The place below this one at a path.
    ///
    /// - Throws: `DatabaseError.invalidPath` for a path that cannot be.
    public func child(validating path: String) throws -> DatabaseReference {
        try checkedChild(path)
    }

    func checkedChild(_ path: String) throws(DatabaseError) -> DatabaseReference {
        let base = try place.get().path
        return DatabaseReference(owner, .success(QueryPlace(try Path(appText: path, below: base))))
    }

    /// A new place below this one; places made later, by any client, sort behind it.
    @discardableResult
    public func childByAutoId() -> DatabaseReference {
        guard case .success(let place) = place else { return self }
        guard place.path.keyCount < Limits.depth else { return child("-") }
        let key = owner.sync.nextPushID()
        return DatabaseReference(owner, .success(QueryPlace(place.path.appending(key))))
    }

    /// The place above; nil at the root.
    public var parent: DatabaseReference? {
        guard case .success(let place) = place else { return nil }
        return place.path.parent.map { DatabaseReference(owner, .success(QueryPlace($0))) }
    }

    /// The root of the database.
    public var root: DatabaseReference { owner.reference() }

    /// The last key of the path; nil at the root.
    public var key: String? {
        guard case .success(let place) = place else { return nil }
        return place.path.lastKey?.string
    }

    /// The address of the place: `http://localhost:9000/users/ada`.
    public var url: String {
        guard case .success(let place) = place else { return owner.address.url }
        let path = place.path.wireText.split(separator: "/")
            .map { PercentCoding.encode(String($0)) }.joined(separator: "/")
        return path.isEmpty ? owner.address.url : "\(owner.address.url)/\(path)"
    }

    /// The database.
    public var database: Database { owner }

    /// The address of the place.
    public override var description: String {
        if case .failure(let error) = place { return "(\(error.localizedDescription))" }
        return url
    }

    /// The text of the path in errors; empty for a path that cannot be.
    var pathText: String {
        if case .success(let place) = place { place.path.description } else { "" }
    }

    /// Closes the connections of all databases until `goOnline`.
    public static func goOffline() {
        for database in Database.all { database.goOffline() }
    }

    /// Undoes `goOffline` for all databases.
    public static func goOnline() {
        for database in Database.all { database.goOnline() }
    }
}

// Swift takes no property and function of one name and no arguments in one type; through a protocol it takes both.
extension CustomStringConvertible where Self == DatabaseReference {
    /// The address of the place, in the form that Swift gives to what Objective-C declares.
    public func description() -> String { description as String }
}
