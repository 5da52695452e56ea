package import JSONTree
import FileRecords
import HTTPClient

/// What a store says of an object without giving it.
package struct ObjectFacts: Equatable, Sendable {
    package let byteCount: Int64
    /// With its quotes; empty where the store gives none.
    package let entityTag: String
}

/// An object in a list.
package struct ListedObject: Equatable, Sendable {
    package let key: String
    package let byteCount: Int64
    /// When it was stored, by the store's clock.
    package let modified: Timestamp
}

/// A part of a list, in the order of the names' UTF-8.
package struct ObjectPage: Equatable, Sendable {
    package let objects: [ListedObject]
    /// Whether no object follows them.
    package let isLast: Bool
}

extension ObjectStore {
    /// Reads an object, or a part of it, from its start to its end.
    ///
    /// `range` is in bytes, not empty, and must begin within the object; what is beyond its end is left out. `receive`
    /// gets pieces of at most 128 KiB, and ends the request when it returns false. After a cut the request is sent again for
    /// the rest, if the object is still the same.
    ///
    /// - Throws: `ObjectStoreError`, which `isMissing` when there is no such object.
    package func get(
        _ key: ObjectKey,
        _ range: Range<Int64>? = nil,
        receive: @escaping (UnsafeRawBufferPointer) -> Bool
    ) throws(ObjectStoreError) {
        let begin = range?.lowerBound ?? 0
        var offset = begin
        var entityTag: String?
        try perform(.getObject, key) { () throws(StoreFault) in
            // The cut came behind the last byte.
            if let range, offset == range.upperBound { return }
            var call = Call(operation: .getObject, method: .get, key: key)
            let isPart = range != nil || offset > begin
            if isPart {
                let last = range.map { "\($0.upperBound - 1)" } ?? ""
                call.headers.append(("Range", "bytes=\(offset)-\(last)"))
                if let entityTag { call.headers.append(("If-Match", entityTag)) }
            }
            let expected = isPart ? offset : nil
            let accept: HTTPClient.HeadReceiver = { status, headers in
                try Self.check(status, headers, offset: expected, end: range?.upperBound)
                // A weak one never matches.
                if entityTag == nil, let tag = headers["etag"], !tag.hasPrefix("W/") {
                    entityTag = tag
                }
            }
            _ = try send(call, accept: accept) { bytes in
                offset += Int64(bytes.count)
                guard receive(bytes) else { throw StoreFault(.stopped) }
            }
        }
    }

    /// Whether the answer is for the bytes that were asked for; `offset` is nil for the whole object.
    private static func check(
        _ status: Int,
        _ headers: [String: String],
        offset: Int64?,
        end: Int64?
    ) throws(StoreFault) {
        guard let offset else {
            guard status == 200 else { throw StoreFault(.unexpected("its status is \(status)")) }
            return
        }
        let range = headers["content-range"] ?? ""
        let words = range.split(whereSeparator: { " -/".contains($0) })
        guard status == 206, words.count == 4, words[0] == "bytes", Int64(words[1]) == offset,
            let last = Int64(words[2]), let total = Int64(words[3]),
            last == min(end ?? total, total) - 1
        else {
            throw StoreFault(.unexpected("it has status \(status) and range '\(range.prefix(60))'"))
        }
    }

    /// What the store has of an object; nil when it is not there.
    ///
    /// The answer to HEAD has no code, so a bucket that is missing looks the same: `check` finds that.
    package func head(_ key: ObjectKey) throws(ObjectStoreError) -> ObjectFacts? {
        do throws(ObjectStoreError) {
            return try perform(.headObject, key) { () throws(StoreFault) in
                let response = try send(Call(operation: .headObject, method: .head, key: key))
                guard let count = response.headers["content-length"].flatMap({ Int64($0) }) else {
                    throw StoreFault(.unexpected("it has no length"))
                }
                return ObjectFacts(byteCount: count, entityTag: response.headers["etag"] ?? "")
            }
        } catch {
            if error.isMissing { return nil }
            throw error
        }
    }

    /// Deletes an object; one that is not there is no error.
    package func delete(_ key: ObjectKey) throws(ObjectStoreError) {
        do throws(ObjectStoreError) {
            try perform(.deleteObject, key) { () throws(StoreFault) in
                _ = try send(Call(operation: .deleteObject, method: .delete, key: key))
            }
        } catch {
            if !error.isMissing { throw error }
        }
    }

    /// Finds out whether bucket, address, credentials and region are right, by a list of one object.
    package func check() throws(ObjectStoreError) {
        _ = try list(prefix: "", limit: 1)
    }

    /// The next objects whose names begin with `prefix` and come after a name, which need not be there.
    ///
    /// `limit` is from 1 to 1,000; the store may give fewer. A list goes on after the last name of a page, so it outlives
    /// a restart.
    package func list(
        prefix: String,
        after key: String? = nil,
        limit: Int = ObjectStoreLimits.listCount
    ) throws(ObjectStoreError) -> ObjectPage {
        var call = Call(operation: .listObjects, method: .get)
        call.query = [
            ("list-type", "2"), ("encoding-type", "url"), ("max-keys", "\(limit)"),
            ("prefix", prefix),
        ]
        if let key { call.query.append(("start-after", key)) }
        call.answerByteLimit = ObjectStoreLimits.listByteCount
        return try perform(.listObjects, nil) { () throws(StoreFault) in
            let response = try send(call)
            let page = try Self.page(try element("ListBucketResult", in: response))
            // A store that ignores where to begin would let a list go round for ever.
            if let key, let first = page.objects.first?.key,
                !key.utf8.lexicographicallyPrecedes(first.utf8)
            {
                throw StoreFault(.unexpected("the list begins before what was asked for"))
            }
            return page
        }
    }

    /// Reads a page of a list. Names are escaped where the store says that it did so.
    static func page(_ list: XMLElement) throws(StoreFault) -> ObjectPage {
        let isEscaped = list.text(of: "EncodingType") == "url"
        var objects: [ListedObject] = []
        for entry in list.children where entry.name == "Contents" {
            guard let name = entry.text(of: "Key"),
                let key = isEscaped ? unescaped(name) : name,
                let byteCount = entry.text(of: "Size").flatMap({ Int64($0) }), byteCount >= 0,
                let modified = entry.text(of: "LastModified")
                    .flatMap({ FileTime.timestamp(rfc3339: $0) })
            else { throw StoreFault(.unexpected("an object in it lacks name, size or time")) }
            objects.append(ListedObject(key: key, byteCount: byteCount, modified: modified))
        }
        switch list.text(of: "IsTruncated") {
        case "true":
            guard !objects.isEmpty else {
                throw StoreFault(.unexpected("the list goes on, and this part has no object"))
            }
            return ObjectPage(objects: objects, isLast: false)
        case "false": return ObjectPage(objects: objects, isLast: true)
        default: throw StoreFault(.unexpected("it does not say whether the list goes on"))
        }
    }

    /// Stores escape as forms are escaped.
    private static func unescaped(_ name: String) -> String? {
        PercentCoding.decode(name.replacing("+", with: " ")[...])
    }
}
