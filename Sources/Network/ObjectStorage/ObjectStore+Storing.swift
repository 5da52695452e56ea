import FileProtocol
import HTTPClient

extension ObjectStore {
    /// Stores an object under a name, in the place of one that is there.
    ///
    /// Up to 64 MiB by one request, more in parts, which a store shows only when all are there. `digest` is the SHA-256 of
    /// all bytes as 64 hexadecimal digits, if the caller knows it: else what one request sends is read twice.
    package func put(
        _ source: ObjectSource,
        at key: ObjectKey,
        digest: String? = nil
    ) throws(ObjectStoreError) {
        guard source.byteCount <= ObjectStoreLimits.objectByteCount else {
            throw error(.putObject, key, .tooLarge(byteCount: source.byteCount))
        }
        guard source.byteCount <= configuration.partByteCount else {
            try putParts(source, at: key)
            return
        }
        let payload: String
        if let digest {
            payload = digest
        } else {
            payload = try self.payload(of: source, .putObject, key)
        }
        var call = Call(operation: .putObject, method: .put, key: key)
        call.headers = [("Content-Type", "application/octet-stream")]
        call.body = source
        call.payload = payload
        try perform(.putObject, key) { () throws(StoreFault) in _ = try send(call) }
    }

    /// What signatures of a source say of its bytes.
    private func payload(
        of source: ObjectSource,
        _ operation: StoreOperation,
        _ key: ObjectKey
    ) throws(ObjectStoreError) -> String {
        guard configuration.signsPayloads || !configuration.address.isEncrypted else {
            return CanonicalRequest.unsignedPayload
        }
        do throws(StoreFault) { return try source.digest() } catch {
            throw self.error(operation, key, error.reason)
        }
    }

    /// The parts of an object of so many bytes: as many as it takes, and never more than a store takes.
    static func parts(of byteCount: Int64, partByteCount: Int64) -> [Range<Int64>] {
        let least = (byteCount + ObjectStoreLimits.partCount - 1) / ObjectStoreLimits.partCount
        let step = max(partByteCount, least)
        return stride(from: 0, to: byteCount, by: Int(step)).map {
            $0..<min($0 + step, byteCount)
        }
    }

    private func putParts(_ source: ObjectSource, at key: ObjectKey) throws(ObjectStoreError) {
        let id = try createUpload(key)
        do throws(ObjectStoreError) {
            var tags: [String] = []
            let parts = Self.parts(
                of: source.byteCount,
                partByteCount: configuration.partByteCount
            )
            for range in parts {
                tags.append(
                    try uploadPart(source.part(range), number: tags.count + 1, id: id, key)
                )
            }
            try completeUpload(id, tags, byteCount: source.byteCount, key)
        } catch {
            var error = error
            do throws(ObjectStoreError) { try abortUpload(id, key) } catch let abort {
                // The first error says why; the second one only that parts stay, if the upload is there still.
                if !abort.isOfMissingUpload { error.leftUploadID = id }
            }
            throw error
        }
    }

    private func createUpload(_ key: ObjectKey) throws(ObjectStoreError) -> String {
        var call = Call(operation: .createMultipartUpload, method: .post, key: key)
        call.query = [("uploads", "")]
        call.headers = [("Content-Type", "application/octet-stream")]
        call.body = .bytes([])
        return try perform(.createMultipartUpload, key) { () throws(StoreFault) in
            let response = try send(call)
            let result = try element("InitiateMultipartUploadResult", in: response)
            guard let id = result.text(of: "UploadId"), !id.isEmpty else {
                throw StoreFault(.unexpected("it has no UploadId"))
            }
            return id
        }
    }

    /// Stores a part, counted from 1, and gives its entity tag.
    private func uploadPart(
        _ part: ObjectSource,
        number: Int,
        id: String,
        _ key: ObjectKey
    ) throws(ObjectStoreError) -> String {
        var call = Call(operation: .uploadPart, method: .put, key: key)
        call.query = [("partNumber", "\(number)"), ("uploadId", id)]
        call.body = part
        call.payload = try payload(of: part, .uploadPart, key)
        return try perform(.uploadPart, key) { () throws(StoreFault) in
            guard let tag = try send(call).headers["etag"], !tag.isEmpty else {
                throw StoreFault(.unexpected("part \(number) has no entity tag"))
            }
            return tag
        }
    }

    private func completeUpload(
        _ id: String,
        _ tags: [String],
        byteCount: Int64,
        _ key: ObjectKey
    ) throws(ObjectStoreError) {
        let body = ObjectSource.bytes(Array(Self.completion(tags).utf8))
        var call = Call(operation: .completeMultipartUpload, method: .post, key: key)
        call.query = [("uploadId", id)]
        call.headers = [("Content-Type", "application/xml")]
        call.body = body
        call.payload = try payload(of: body, .completeMultipartUpload, key)
        do throws(ObjectStoreError) {
            try perform(.completeMultipartUpload, key) { () throws(StoreFault) in
                let response = try send(call)
                _ = try element("CompleteMultipartUploadResult", in: response)
            }
        } catch {
            // An answer that was lost: the store had ended the upload before the second try came.
            guard error.tryCount > 1, error.isOfMissingUpload,
                try head(key)?.byteCount == byteCount
            else { throw error }
        }
    }

    /// The parts of an upload and their entity tags, in their order.
    static func completion(_ tags: [String]) -> String {
        let parts = tags.enumerated().map { index, tag in
            let escaped = tag.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
                .replacing(">", with: "&gt;").replacing("\"", with: "&quot;")
            return "<Part><PartNumber>\(index + 1)</PartNumber><ETag>\(escaped)</ETag></Part>"
        }
        return "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
            + parts.joined() + "</CompleteMultipartUpload>"
    }

    private func abortUpload(_ id: String, _ key: ObjectKey) throws(ObjectStoreError) {
        var call = Call(operation: .abortMultipartUpload, method: .delete, key: key)
        call.query = [("uploadId", id)]
        try perform(.abortMultipartUpload, key) { () throws(StoreFault) in _ = try send(call) }
    }
}
