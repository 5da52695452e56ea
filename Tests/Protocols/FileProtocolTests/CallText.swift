import FileProtocol
import FileRecords

extension FileRequest {
    /// What was decoded, as tables write it.
    var text: String {
        let text =
            switch call {
            case .hello: "hello"
            case .metadata(let object, let conditions): "get \(object.text)\(conditions.text)"
            case .media(let object, let conditions, let media):
                "media \(object.text)\(conditions.text)\(media.text)"
            case .list(let bucket, let query): "list \(bucket.text)\(query.text)"
            case .patch(let object, let conditions): "patch \(object.text)\(conditions.text)"
            case .replace(let object, let conditions): "replace \(object.text)\(conditions.text)"
            case .delete(let object, let conditions): "delete \(object.text)\(conditions.text)"
            case .createToken(let object): "create token \(object.text)"
            case .deleteToken(let object, let token): "delete token \(object.text) \(token)"
            case .upload(let start): start.text
            case .uploadStep(let id, let step): "step \(id) \(step.text)"
            case .buckets: "buckets"
            case .bucket(let bucket): "bucket \(bucket.text)"
            case .createBucket: "create bucket"
            case .deleteBucket(let bucket): "delete bucket \(bucket.text)"
            case .copy(let copy):
                "\(copy.form) \(copy.source.text)\(copy.sourceConditions.text) to \(copy.destination.text)\(copy.conditions.text)"
            case .compose(let object, let conditions): "compose \(object.text)\(conditions.text)"
            case .access(let object): "access \(object.text)"
            case .makePublic(let object): "make public \(object.text)"
            case .makePrivate(let object): "make private \(object.text)"
            case .batch(let boundary): "batch \(String(decoding: boundary, as: UTF8.self))"
            }
        return text + (isHead ? " head" : "") + (token.map { " token=\($0)" } ?? "")
    }
}

extension ObjectAddress {
    var text: String { "\(bucket.text)|\(name.text)" }
}

extension Preconditions {
    var text: String {
        [
            ("generation", generation), ("ifGenerationMatch", ifGenerationMatch),
            ("ifGenerationNotMatch", ifGenerationNotMatch),
            ("ifMetagenerationMatch", ifMetagenerationMatch),
            ("ifMetagenerationNotMatch", ifMetagenerationNotMatch),
        ].map { name, value in value.map { " \(name)=\($0)" } ?? "" }.joined()
    }
}

extension MediaRequest {
    var text: String {
        [
            ("range", range), ("ifRange", ifRange), ("ifNoneMatch", ifNoneMatch),
            ("ifModifiedSince", ifModifiedSince),
            ("type", type), ("disposition", disposition), ("gzip", acceptsGzip ? "yes" : nil),
        ].map { name, value in value.map { " \(name)=\($0)" } ?? "" }.joined()
    }
}

extension NameQuery {
    var text: String {
        func part(_ name: String, _ bytes: [UInt8]) -> String {
            bytes.isEmpty ? "" : " \(name)=\(String(decoding: bytes, as: UTF8.self))"
        }
        return part("prefix", prefix) + part("delimiter", delimiter)
            + (limit == 1000 ? "" : " limit=\(limit)")
            + part("after", after?.name ?? []) + part("start", start) + part("end", end)
            + (includesTrailingDelimiter ? " trailing" : "")
    }
}

extension UploadStart {
    var text: String {
        let form =
            switch form {
            case .raw: "raw"
            case .multipart(let boundary): "multipart \(String(decoding: boundary, as: UTF8.self))"
            case .resumable: "resumable"
            }
        return "upload \(form) \(bucket.text)|\(name?.text ?? "?")"
            + (type.map { " type=\($0)" } ?? "")
            + (byteCount.map { " size=\($0)" } ?? "") + conditions.text
    }
}

extension UploadStep {
    var text: String {
        switch self {
        case .bytes(let chunk):
            "bytes \(chunk.offset.map { "\($0)" } ?? "-")"
                + (chunk.byteCount.map { "+\($0)" } ?? "")
                + (chunk.isLast ? " last" : "") + (chunk.total.map { " of \($0)" } ?? "")
        case .finish: "finish"
        case .query(let total): "query" + (total.map { " of \($0)" } ?? "")
        case .cancel: "cancel"
        }
    }
}
