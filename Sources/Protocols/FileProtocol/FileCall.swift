package import FileRecords

/// The address of an object.
package struct ObjectAddress: Hashable, Sendable {
    package let bucket: BucketName
    package let name: ObjectName

    package init(_ bucket: BucketName, _ name: ObjectName) {
        self.bucket = bucket
        self.name = name
    }
}

/// What a request asks for; every dialect decodes to these.
package enum FileCall: Sendable {
    /// Who is there: `GET /v0/`.
    case hello
    case metadata(ObjectAddress, Preconditions)
    case media(ObjectAddress, Preconditions, MediaRequest)
    case list(BucketName, NameQuery)
    /// The body is a `FileMetadataBody`, as of the next two.
    case patch(ObjectAddress, Preconditions)
    case replace(ObjectAddress, Preconditions)
    case delete(ObjectAddress, Preconditions)
    /// One more download token.
    case createToken(ObjectAddress)
    case deleteToken(ObjectAddress, token: String)
    case upload(UploadStart)
    /// One step of an upload that was begun before; its credential is the identifier.
    case uploadStep(id: String, UploadStep)
    case buckets
    case bucket(BucketName)
    /// The body has the name: `BucketBody`.
    case createBucket
    case deleteBucket(BucketName)
    case copy(FileCopy)
    /// The body is a `ComposeBody`.
    case compose(ObjectAddress, Preconditions)
    /// Who may read an object at its plain address.
    case access(ObjectAddress)
    /// The body is an `AccessBody`.
    case makePublic(ObjectAddress)
    case makePrivate(ObjectAddress)
    /// The body is split by `FileBatch`.
    case batch(boundary: [UInt8])
}

/// A copy of an object within the server.
package struct FileCopy: Sendable {
    /// How it is answered, and what becomes of the source.
    package enum Form: Sendable { case copy, rewrite, move }

    package let form: Form
    package let source: ObjectAddress
    package let sourceConditions: Preconditions
    package let destination: ObjectAddress
    package let conditions: Preconditions
}
