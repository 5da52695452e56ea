import Foundation
import HearthDatabase
import Testing

/// The names, labels and types that source code for Firebase uses. That this compiles is the test.
@Suite("the public names are those of Firebase")
struct ShapeTests {
    private typealias Completion = ((any Error)?, DatabaseReference) -> Void
    private typealias Handler = (DataSnapshot) -> Void
    private typealias SiblingHandler = (DataSnapshot, String?) -> Void
    private typealias Cancel = (any Error) -> Void

    @Test("of a database")
    func database() {
        let _: () -> Database = Database.database
        let _: (String) -> Database = Database.database(url:)
        let _: (FirebaseApp) -> Database = Database.database(app:)
        let _: (FirebaseApp, String) -> Database = Database.database(app:url:)
        let _: () -> String = Database.sdkVersion
        let _: (Bool) -> Void = Database.setLoggingEnabled
        let _: (Database) -> () -> DatabaseReference = Database.reference
        let _: (Database) -> (String) -> DatabaseReference = Database.reference(withPath:)
        let _: (Database) -> (String) -> DatabaseReference = Database.reference(fromURL:)
        let _: (Database) -> () -> Void = Database.purgeOutstandingWrites
        let _: (Database) -> () -> Void = Database.goOffline
        let _: (Database) -> () -> Void = Database.goOnline
        let _: (Database) -> (String, Int) -> Void = Database.useEmulator(withHost:port:)
        let _: KeyPath<Database, FirebaseApp?> = \.app
        let _: ReferenceWritableKeyPath<Database, Bool> = \.isPersistenceEnabled
        let _: ReferenceWritableKeyPath<Database, UInt> = \.persistenceCacheSizeBytes
        let _: ReferenceWritableKeyPath<Database, DispatchQueue> = \.callbackQueue
        let _: () -> [AnyHashable: Any] = ServerValue.timestamp
        let _: (NSNumber) -> [AnyHashable: Any] = ServerValue.increment
        #expect(
            [DataEventType.childAdded, .childRemoved, .childChanged, .childMoved, .value]
                .map(\.rawValue) == [0, 1, 2, 3, 4]
        )
        let _: DatabaseHandle = UInt(0)
    }

    @Test("of a query")
    func query() {
        typealias Query = DatabaseQuery
        let _: (Query) -> (DataEventType, @escaping Handler) -> DatabaseHandle =
            Query.observe(_:with:)
        let _: (Query) -> (DataEventType, @escaping SiblingHandler) -> DatabaseHandle =
            Query.observe(_:andPreviousSiblingKeyWith:)
        let _: (Query) -> (DataEventType, @escaping Handler, Cancel?) -> DatabaseHandle =
            Query.observe(_:with:withCancel:)
        let _: (Query) -> (DataEventType, @escaping SiblingHandler, Cancel?) -> DatabaseHandle =
            Query.observe(_:andPreviousSiblingKeyWith:withCancel:)
        let _: (Query) -> (DataEventType, @escaping Handler) -> Void =
            Query.observeSingleEvent(of:with:)
        let _: (Query) -> (DataEventType, @escaping SiblingHandler) -> Void =
            Query.observeSingleEvent(of:andPreviousSiblingKeyWith:)
        let _: (Query) -> (DataEventType, @escaping Handler, Cancel?) -> Void =
            Query.observeSingleEvent(of:with:withCancel:)
        let _: (Query) -> (DataEventType, @escaping SiblingHandler, Cancel?) -> Void =
            Query.observeSingleEvent(of:andPreviousSiblingKeyWith:withCancel:)
        let _: (Query) -> (@escaping ((any Error)?, DataSnapshot?) -> Void) -> Void =
            Query.getData(completion:)
        let _: (Query) -> (DatabaseHandle) -> Void = Query.removeObserver(withHandle:)
        let _: (Query) -> () -> Void = Query.removeAllObservers
        let _: (Query) -> (Bool) -> Void = Query.keepSynced
        let _: (Query) -> (UInt) -> Query = Query.queryLimited(toFirst:)
        let _: (Query) -> (UInt) -> Query = Query.queryLimited(toLast:)
        let _: (Query) -> (String) -> Query = Query.queryOrdered(byChild:)
        let _: [(Query) -> () -> Query] = [
            Query.queryOrderedByKey, Query.queryOrderedByValue, Query.queryOrderedByPriority,
        ]
        let _: [(Query) -> (Any?) -> Query] = [
            Query.queryStarting(atValue:), Query.queryStarting(afterValue:),
            Query.queryEnding(atValue:), Query.queryEnding(beforeValue:),
            Query.queryEqual(toValue:),
        ]
        let _: [(Query) -> (Any?, String?) -> Query] = [
            Query.queryStarting(atValue:childKey:), Query.queryStarting(afterValue:childKey:),
            Query.queryEnding(atValue:childKey:), Query.queryEnding(beforeValue:childKey:),
            Query.queryEqual(toValue:childKey:),
        ]
        let _: KeyPath<Query, DatabaseReference> = \.ref
    }

    @Test("of a reference")
    func reference() {
        typealias Reference = DatabaseReference
        let _: [(Reference) -> (Any?) -> Void] = [
            Reference.setValue, Reference.setPriority, Reference.onDisconnectSetValue,
        ]
        let _: [(Reference) -> (Any?, @escaping Completion) -> Void] = [
            Reference.setValue(_:withCompletionBlock:),
            Reference.setPriority(_:withCompletionBlock:),
            Reference.onDisconnectSetValue(_:withCompletionBlock:),
        ]
        let _: [(Reference) -> (Any?, Any?) -> Void] = [
            Reference.setValue(_:andPriority:), Reference.onDisconnectSetValue(_:andPriority:),
        ]
        let _: [(Reference) -> (Any?, Any?, @escaping Completion) -> Void] = [
            Reference.setValue(_:andPriority:withCompletionBlock:),
            Reference.onDisconnectSetValue(_:andPriority:withCompletionBlock:),
        ]
        let _: [(Reference) -> () -> Void] = [
            Reference.removeValue, Reference.onDisconnectRemoveValue,
            Reference.cancelDisconnectOperations,
        ]
        let _: [(Reference) -> (@escaping Completion) -> Void] = [
            Reference.removeValue(completionBlock:),
            Reference.onDisconnectRemoveValue(completionBlock:),
        ]
        let _: (Reference) -> (Completion?) -> Void =
            Reference.cancelDisconnectOperations(completionBlock:)
        let _: [(Reference) -> ([AnyHashable: Any]) -> Void] = [
            Reference.updateChildValues, Reference.onDisconnectUpdateChildValues,
        ]
        let _: [(Reference) -> ([AnyHashable: Any], @escaping Completion) -> Void] = [
            Reference.updateChildValues(_:withCompletionBlock:),
            Reference.onDisconnectUpdateChildValues(_:withCompletionBlock:),
        ]
        let _: (Reference) -> (String) -> Reference = Reference.child
        let _: (Reference) -> () -> Reference = Reference.childByAutoId
        let _: [() -> Void] = [Reference.goOffline, Reference.goOnline]
        let _: KeyPath<Reference, Reference?> = \.parent
        let _: KeyPath<Reference, Reference> = \.root
        let _: KeyPath<Reference, String?> = \.key
        let _: KeyPath<Reference, String> = \.url
        let _: KeyPath<Reference, Database> = \.database
    }

    @Test("of snapshots and transactions")
    func data() {
        let _: (DataSnapshot) -> (String) -> DataSnapshot = DataSnapshot.childSnapshot(forPath:)
        let _: (DataSnapshot) -> (String) -> Bool = DataSnapshot.hasChild
        let _: [(DataSnapshot) -> () -> Bool] = [DataSnapshot.hasChildren, DataSnapshot.exists]
        let _: (DataSnapshot) -> () -> Any? = DataSnapshot.valueInExportFormat
        let _: [KeyPath<DataSnapshot, Any?>] = [\.value, \.priority]
        let _: KeyPath<DataSnapshot, UInt> = \.childrenCount
        let _: KeyPath<DataSnapshot, String> = \.key
        let _: KeyPath<DataSnapshot, NSEnumerator> = \.children
        let _: KeyPath<DataSnapshot, DatabaseReference> = \.ref
        let _: [ReferenceWritableKeyPath<MutableData, Any?>] = [\.value, \.priority]
        let _: KeyPath<MutableData, UInt> = \.childrenCount
        let _: KeyPath<MutableData, NSEnumerator> = \.children
        let _: KeyPath<MutableData, String?> = \.key
        let _: (MutableData) -> (String) -> MutableData = MutableData.childData(byAppendingPath:)
        let _: (MutableData) -> (String) -> Bool = MutableData.hasChild(atPath:)
        let _: (MutableData) -> TransactionResult = TransactionResult.success(withValue:)
        let _: () -> TransactionResult = TransactionResult.abort
    }

    /// Never called: names from before Swift 3, each of which compilers offer to replace.
    @available(*, deprecated)
    private func oldNames() {
        let _: FIRDatabase.Type = Database.self
        let _: FIRDatabaseReference.Type = DatabaseReference.self
        let _: FIRDatabaseQuery.Type = DatabaseQuery.self
        let _: FIRDatabaseHandle.Type = DatabaseHandle.self
        let _: FIRDataSnapshot.Type = DataSnapshot.self
        let _: FIRDataEventType.Type = DataEventType.self
        let _: FIRMutableData.Type = MutableData.self
        let _: FIRServerValue.Type = ServerValue.self
        let _: FIRTransactionResult.Type = TransactionResult.self
        let _: FIRApp.Type = FirebaseApp.self
        let _: FIROptions.Type = FirebaseOptions.self
        let _: FIRConfiguration.Type = FirebaseConfiguration.self
        let _: FIRLoggerLevel.Type = FirebaseLoggerLevel.self
    }

    /// Never called: objects made from nothing, and what Objective-C declares as a function.
    private func empty() -> [Any] {
        let text: String = DatabaseReference().description()
        return [
            DatabaseQuery(), DatabaseReference(), DataSnapshot(), MutableData(),
            TransactionResult(), text,
        ]
    }

    /// Never called: what waits, as it is written in apps.
    private func waiting(_ reference: DatabaseReference, _ query: DatabaseQuery) async throws {
        let _: DatabaseReference = try await reference.setValue(1)
        let _: DatabaseReference = try await reference.setValue(1, andPriority: 2)
        let _: DatabaseReference = try await reference.removeValue()
        let _: DatabaseReference = try await reference.setPriority(1)
        let _: DatabaseReference = try await reference.updateChildValues(["a": 1])
        let _: DatabaseReference = try await reference.onDisconnectSetValue(1)
        let _: DatabaseReference = try await reference.onDisconnectSetValue(1, andPriority: 2)
        let _: DatabaseReference = try await reference.onDisconnectRemoveValue()
        let _: DatabaseReference = try await reference.onDisconnectUpdateChildValues(["a": 1])
        let _: DatabaseReference = try await reference.cancelDisconnectOperations()
        let _: DataSnapshot = try await query.getData()
        let _: (DataSnapshot, String?) = await query.observeSingleEventAndPreviousSiblingKey(
            of: .value
        )
        let _: (Bool, DataSnapshot) = try await reference.runTransactionBlock { data in
            data.value = 1
            return TransactionResult.success(withValue: data)
        }
        try await reference.setValue(1)
        try reference.setValue(from: ["a": 1])
        let _: [String: Int] = try await query.getData().data(as: [String: Int].self)
        do {
            try await reference.removeValue()
        } catch let error as NSError {
            _ = error.code
        }
        Task { try await reference.updateChildValues(["a": 1]) }
    }

    /// Never called: closures as they are written in apps, which change what is not `Sendable`.
    @MainActor
    private func calling(_ reference: DatabaseReference) {
        var titles: [String] = []
        let handle = reference.observe(.childAdded) { snapshot in titles.append(snapshot.key) }
        reference.removeObserver(withHandle: handle)
        reference.observe(.value, with: { snapshot in titles = [snapshot.key] }) { error in
            titles = [error.localizedDescription]
        }
        reference.observeSingleEvent(of: .value, with: { titles = [$0.key] }) { error in
            titles = [error.localizedDescription]
        }
        reference.observe(.childMoved) { snapshot, previousKey in
            titles = [snapshot.key, previousKey ?? ""]
        } withCancel: { _ in
            titles = []
        }
        reference.setValue(["at": ServerValue.timestamp()]) { error, reference in
            titles = [error?.localizedDescription ?? reference.url]
        }
        reference.updateChildValues(["a/b": NSNull(), "c": ServerValue.increment(1)])
        reference.getData { error, snapshot in titles = [snapshot?.key ?? "\(error as Any)"] }
        reference.runTransactionBlock({ (data: MutableData) -> TransactionResult in
            guard var post = data.value as? [String: AnyObject] else {
                return TransactionResult.success(withValue: data)
            }
            post["count"] = ((post["count"] as? Int ?? 0) + 1) as AnyObject
            data.value = post
            return TransactionResult.success(withValue: data)
        }) { error, committed, snapshot in
            titles = ["\(committed)", snapshot?.key ?? "", error?.localizedDescription ?? ""]
        }
        reference.runTransactionBlock(
            { _ in TransactionResult.abort() },
            andCompletionBlock: nil,
            withLocalEvents: false,
        )
        _ = titles
    }
}
