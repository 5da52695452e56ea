import Foundation
import JSONTree
import Queries

/// A location in a database, to read and to write.
///
/// A reference to an invalid path or key reports the error when used: completions, cancel blocks and async forms
/// receive it, and nothing is sent. `child(validating:)` throws at once.
///
/// `Sendable` as a query is: all it holds is immutable.
public final class DatabaseReference: DatabaseQuery, @unchecked Sendable {
    /// The location at a path below this one.
    public func child(_ pathString: String) -> DatabaseReference {
        if case .failure = location { return self }
        do throws(DatabaseError) {
            return try checkedChild(pathString)
        } catch {
            owner.warn("a reference cannot be used: \(error.localizedDescription)")
            return DatabaseReference(owner, .failure(error))
        }
    }

    /// The location at a path below this one.
    ///
    /// - Throws: `DatabaseError.invalidPath` for a path that cannot be.
    public func child(validating path: String) throws -> DatabaseReference {
        try checkedChild(path)
    }

    func checkedChild(_ path: String) throws(DatabaseError) -> DatabaseReference {
        let base = try location.get().path
        return DatabaseReference(
            owner,
            .success(QueryLocation(try Path(appText: path, below: base)))
        )
    }

    /// A new location below this one; keys made later, by any client, sort after it.
    @discardableResult
    public func childByAutoId() -> DatabaseReference {
        guard case .success(let location) = location else { return self }
        guard location.path.keyCount < Limits.depth else { return child("-") }
        let key = owner.sync.nextPushID()
        return DatabaseReference(owner, .success(QueryLocation(location.path.appending(key))))
    }

    /// The location above; nil at the root.
    public var parent: DatabaseReference? {
        guard case .success(let location) = location else { return nil }
        return location.path.parent.map { DatabaseReference(owner, .success(QueryLocation($0))) }
    }

    /// The root of the database.
    public var root: DatabaseReference { owner.reference() }

    /// The last key of the path; nil at the root.
    public var key: String? {
        guard case .success(let location) = location else { return nil }
        return location.path.lastKey?.string
    }

    /// The address of the location: `http://localhost:9000/users/ada`.
    public var url: String {
        guard case .success(let location) = location else { return owner.address.url }
        let path = location.path.wireText.split(separator: "/")
            .map { PercentCoding.encode(String($0)) }.joined(separator: "/")
        return path.isEmpty ? owner.address.url : "\(owner.address.url)/\(path)"
    }

    /// The database.
    public var database: Database { owner }

    /// The address of the location.
    public override var description: String {
        if case .failure(let error) = location { return "(\(error.localizedDescription))" }
        return url
    }

    /// The text of the path in errors; empty for a path that cannot be.
    var pathText: String {
        if case .success(let location) = location { location.path.description } else { "" }
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
    /// The address of the location, in the form that Swift gives to Objective-C declarations.
    public func description() -> String { description as String }
}
