// Names from before Swift 3, which the hosted service's SDK had for its types. Compilers offer the new ones.

/// The name of the type before Swift 3.
@available(*, deprecated, renamed: "Database")
public typealias FIRDatabase = Database

/// The name of the type before Swift 3.
@available(*, deprecated, renamed: "DatabaseReference")
public typealias FIRDatabaseReference = DatabaseReference

/// The name of the type before Swift 3.
@available(*, deprecated, renamed: "DatabaseQuery")
public typealias FIRDatabaseQuery = DatabaseQuery

/// The name of the type before Swift 3.
@available(*, deprecated, renamed: "DatabaseHandle")
public typealias FIRDatabaseHandle = DatabaseHandle

/// The name of the type before Swift 3.
@available(*, deprecated, renamed: "DataSnapshot")
public typealias FIRDataSnapshot = DataSnapshot

/// The name of the type before Swift 3.
@available(*, deprecated, renamed: "DataEventType")
public typealias FIRDataEventType = DataEventType

/// The name of the type before Swift 3.
@available(*, deprecated, renamed: "MutableData")
public typealias FIRMutableData = MutableData

/// The name of the type before Swift 3.
@available(*, deprecated, renamed: "ServerValue")
public typealias FIRServerValue = ServerValue

/// The name of the type before Swift 3.
@available(*, deprecated, renamed: "TransactionResult")
public typealias FIRTransactionResult = TransactionResult
