import CTransport

/// The facts of a TLS certificate.
package struct CertificateFacts: Sendable, Equatable {
    /// When it begins to count, and when it ends; seconds since 1970.
    package let validity: ClosedRange<Int64>
    /// Whether it names the host that was asked about.
    package let isForHost: Bool

    /// Reads a certificate and its key as a listener would, without using them.
    ///
    /// - Parameters:
    ///   - files: The certificate and its key.
    ///   - host: A name or an address without brackets that it should be for.
    /// - Throws: `TransportError.badTLSFiles` when a listener could not use them.
    package init(_ files: TLSFiles, host: String?) throws(TransportError) {
        var facts = hearth_certificate()
        var reason = [CChar](repeating: 0, count: Int(HEARTH_REASON_SIZE))
        guard hearth_certificate_read(files.certificate, files.key, host, &facts, &reason) else {
            throw .badTLSFiles(reason: text(reason))
        }
        guard facts.not_before >= 0, facts.not_after >= facts.not_before else {
            throw .badTLSFiles(reason: "\(files.certificate): its times make no sense")
        }
        validity = facts.not_before...facts.not_after
        isForHost = facts.is_for_host
    }
}
