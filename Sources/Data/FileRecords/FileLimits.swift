/// What names, metadata and lists of files may grow to.
///
/// Sources: Cloud Storage documentation, "Objects: naming", "Buckets: naming", "Quotas and limits"; where it is silent the
/// number is ours.
package enum FileLimits {
    /// Bytes of UTF-8 in the name of an object.
    package static let nameByteCount = 1...1024

    /// Bytes in the name of a bucket without a dot, and in each part between dots.
    package static let bucketByteCount = 3...63

    /// Bytes in the name of a bucket with dots.
    package static let dottedBucketByteCount = 222

    /// Bytes of one fixed field, such as `contentType`; ours.
    package static let fieldByteCount = 1024

    /// Bytes of all keys and values of custom metadata.
    package static let customByteCount = 8192

    /// Keys of custom metadata; ours.
    package static let customCount = 64

    /// Download tokens of one object; ours.
    package static let tokenCount = 32

    /// Bytes of one download token; ours: a UUID has 36.
    package static let tokenByteCount = 128

    /// Items and prefixes on one page of a list.
    package static let listCount = 1...1000

    /// Names that one page of a list passes over at most; ours. Then the page ends early, with a token.
    package static let listStepCount = 10_000

    /// Bytes of a delimiter of a list; ours.
    package static let delimiterByteCount = 64

    /// Objects that one compose joins.
    package static let composeCount = 1...32
}
