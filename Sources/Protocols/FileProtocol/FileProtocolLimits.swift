/// What requests of the file protocols may grow to.
package enum FileProtocolLimits {
    /// Bytes of the metadata of an upload, a PATCH or another call; ours.
    package static let metadataByteCount = 64 * 1024

    /// Bytes of the headers of one part of a multipart body; ours.
    package static let partHeadByteCount = 8 * 1024

    /// Bytes of a boundary. Source: RFC 2046, 5.1.1.
    package static let boundaryByteCount = 1...70

    /// Chunks of resumable uploads are multiples of it, but for the last. Observed of the hosted service.
    package static let granularity: Int64 = 262_144

    /// Milliseconds that an upload may take: 7 days. Source: Cloud Storage, "Resumable uploads".
    package static let sessionLifetime: Int64 = 7 * 86_400_000

    /// Requests in one batch. Source: Cloud Storage, "Batch requests".
    package static let batchCount = 100

    /// Seconds that a signed address may count. Source: Cloud Storage, "Signed URLs".
    package static let signedSeconds: Int64 = 604_800

    /// Milliseconds that the clock of a signer may go ahead. Source: the same.
    package static let clockSkew: Int64 = 15 * 60_000
}
