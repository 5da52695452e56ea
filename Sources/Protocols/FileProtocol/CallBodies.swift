package import FileRecords

/// The body of a call that makes a bucket.
package struct BucketBody: Sendable {
    package let name: BucketName

    /// Reads `{"name":"B"}`.
    package init(_ json: [UInt8]) throws(FileFault) {
        let text: String?
        do throws(JSONFieldsFault) { text = try JSONFields(json).text("name") } catch {
            throw FileFault(400, "The body: \(error).")
        }
        do throws(NameFault) { name = try BucketName(text ?? "") } catch {
            throw FileFault(400, error.description)
        }
    }
}

/// The body of a call that joins objects.
package struct ComposeBody: Sendable {
    /// One object to join.
    package struct Source: Sendable, Equatable {
        package let name: ObjectName
        package let conditions: Preconditions
    }

    /// In the order in which their bytes follow.
    package let sources: [Source]
    /// The metadata of the object that they make.
    package let destination: FileMetadataBody

    /// Reads `{"sourceObjects":[{"name","generation"?,"objectPreconditions"?}],"destination":{…}}`.
    package init(_ json: [UInt8]) throws(FileFault) {
        do throws(JSONFieldsFault) {
            let fields = try JSONFields(json)
            var sources: [Source] = []
            for element in try fields.list("sourceObjects") {
                guard case .nested(let text) = element else {
                    throw JSONFieldsFault("'sourceObjects' must have objects")
                }
                sources.append(try Self.source(JSONFields(text)))
            }
            guard FileLimits.composeCount.contains(sources.count) else {
                throw JSONFieldsFault("'sourceObjects' must have 1 to 32 objects")
            }
            self.sources = sources
            destination =
                if let members = try fields.object("destination") {
                    try FileMetadataBody(fields: members)
                } else { FileMetadataBody() }
        } catch {
            throw FileFault(400, "The body: \(error).")
        }
    }

    private static func source(_ fields: JSONFields) throws(JSONFieldsFault) -> Source {
        var conditions = Preconditions()
        conditions.generation = try fields.integer("generation")
        conditions.ifGenerationMatch = try fields.object("objectPreconditions")?
            .integer("ifGenerationMatch")
        let text = try fields.text("name") ?? ""
        do throws(NameFault) {
            return Source(name: try ObjectName(text), conditions: conditions)
        } catch {
            throw JSONFieldsFault("\(error)")
        }
    }
}

/// The body of a call that opens an object: only reading by everyone is there.
package enum AccessBody {
    /// What the member `acl` of a PATCH says of reading by everyone: `[{"entity":"allUsers","role":"READER"}]`; nil when it is not
    /// there. Grants to others are passed over: they say who may what in a project, which a server does not know.
    package static func isPublic(_ json: [UInt8]) throws(FileFault) -> Bool? {
        do throws(JSONFieldsFault) {
            guard !json.isEmpty else { return nil }
            let fields = try JSONFields(json)
            guard fields.given("acl") != nil else { return nil }
            for element in try fields.list("acl") {
                guard case .nested(let text) = element else { continue }
                if try JSONFields(text).text("entity") == "allUsers" { return true }
            }
            return false
        } catch {
            throw FileFault(400, "The body: \(error).")
        }
    }

    /// Checks `{"entity":"allUsers","role":"READER"}`.
    ///
    /// - Throws: `FileFault`: 501 for other grants.
    package static func check(_ json: [UInt8]) throws(FileFault) {
        let entity: String?
        let role: String?
        do throws(JSONFieldsFault) {
            let fields = try JSONFields(json)
            (entity, role) = (try fields.text("entity"), try fields.text("role"))
        } catch {
            throw FileFault(400, "The body: \(error).")
        }
        guard entity == "allUsers", role == "READER" else {
            throw FileFault(501, "Of access, only READER for allUsers is implemented.")
        }
    }
}
