// Names from before Swift 3, which the hosted service's SDK had for its types. Compilers offer the new ones.

/// The name of the type before Swift 3.
@available(*, deprecated, renamed: "Storage")
public typealias FIRStorage = Storage

/// The name of the type before Swift 3.
@available(*, deprecated, renamed: "StorageReference")
public typealias FIRStorageReference = StorageReference

/// The name of the type before Swift 3.
@available(*, deprecated, renamed: "StorageMetadata")
public typealias FIRStorageMetadata = StorageMetadata

/// The name of the type before Swift 3.
@available(*, deprecated, renamed: "StorageUploadTask")
public typealias FIRStorageUploadTask = StorageUploadTask

/// The name of the type before Swift 3.
@available(*, deprecated, renamed: "StorageDownloadTask")
public typealias FIRStorageDownloadTask = StorageDownloadTask

/// The name of the type before Swift 3.
@available(*, deprecated, renamed: "StorageTaskSnapshot")
public typealias FIRStorageTaskSnapshot = StorageTaskSnapshot

/// The name of the type before Swift 3.
@available(*, deprecated, renamed: "StorageTaskStatus")
public typealias FIRStorageTaskStatus = StorageTaskStatus

/// The name of the type before Swift 3.
@available(*, deprecated, renamed: "StorageErrorCode")
public typealias FIRStorageErrorCode = StorageErrorCode
