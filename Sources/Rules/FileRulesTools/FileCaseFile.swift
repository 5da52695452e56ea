import FileRules
import JSONTree
import RulesTools
package import SecurityRules

/// A file of cases for rules of files, read and checked.
///
///     {"service": "files", "rules"?: TEXT, "bucket"?, "auth"?, "now"?, "data"?, "databases"?: {NAME: TREE},
///      "cases": [case, ...]}
///     case = {"name", "op": "get|list|create|update|delete", "path", "auth"?, "now"?, "resource"?, "newResource"?,
///             "data"?, "rules"?, "expect": "allow|deny|invalid-rules", "why"?,
///             "decidedBy"?: "read /b/{bucket}/o/{id}" | null, "error"?, "errors"?: [text]}
package struct FileCaseFile: Sendable {
    /// In the order of the file.
    package let cases: [FileCase]

    /// The rules that the file itself has for all its cases; nil when it has none.
    package let sharedRules: LoadedFileRules?

    private let lines: InputText

    /// Reads a text.
    ///
    /// - Throws: `RulesError` with a fault for each case that cannot be read.
    package static func read(_ text: [UInt8]) throws(RulesError) -> FileCaseFile {
        var reader = FileCaseReader()
        text.withBytes { reader.read($0) }
        let lines = InputText(text)
        if !reader.faults.isEmpty {
            throw RulesError(faults: reader.faults.prefix(CaseFile.faultLimit).map(lines.resolved))
        }
        return FileCaseFile(cases: reader.cases, sharedRules: reader.sharedRules, lines: lines)
    }

    /// Whether a text is a file of cases for files: an object with `"service": "files"`.
    package static func isMeant(_ text: [UInt8]) -> Bool {
        text.withBytes { bytes in
            do throws(InputFault) {
                let whole = try RawObject(
                    RawValue(whole: bytes, what: "The file"),
                    what: "The file"
                )
                return try whole["service"]?.string("service") == "files"
            } catch {
                return false
            }
        }
    }

    /// Line and column of a case, both from 1.
    package func position(of example: FileCase) -> (line: Int, column: Int) {
        lines.position(of: example.offset)
    }

    /// Runs every case under its own rules, those of the file, or those given, and counts what they reach of the latter.
    ///
    /// - Returns: the outcomes of the cases that have rules, and the coverage of `rules`, or of the file's own; nil
    ///   when neither loads.
    package func run(under rules: LoadedFileRules?) -> ([FileCaseOutcome], FileCoverage?) {
        let shared = rules ?? sharedRules
        var coverage: FileCoverage?
        if case .success(let loaded)? = shared { coverage = FileCoverage(loaded) }
        let outcomes = cases.compactMap { $0.run(under: shared) }
        for outcome in outcomes where outcome.example.ownRules == nil {
            if let decision = outcome.decision { coverage?.add(decision) }
        }
        return (outcomes, coverage)
    }
}

/// Reads a file of cases and collects its faults.
private struct FileCaseReader {
    private(set) var cases: [FileCase] = []
    private(set) var faults: [InputFault] = []
    private(set) var sharedRules: LoadedFileRules?

    private var bucket = "bucket"
    private var now = RuleCase.usualTime
    private var auth: FileAuth?
    private var databases: [String: Node] = [:]
    private var loaded: [String: LoadedFileRules] = [:]

    mutating func read(_ bytes: Bytes) {
        do throws(InputFault) {
            let whole = try RawValue(whole: bytes, what: "The file of cases")
            let file = try RawObject(whole, what: "The file of cases")
            try file.check(
                ["service", "rules", "bucket", "auth", "now", "data", "databases", "cases"],
                in: "the file of cases"
            )
            bucket = try file["bucket"]?.string("bucket") ?? bucket
            now = try file.now() ?? now
            auth = try auth(of: file)
            if let value = file["databases"] {
                for member in try RawObject(value, what: "'databases'").members {
                    databases[member.name] = try tree(member.value)
                }
            }
            if let value = file["data"] { databases[""] = try tree(value) }
            if let value = file["rules"] { sharedRules = try rules(value) }
            let list = try file.required("cases", "it is the list of cases")
            for value in try list.elements("cases") where faults.count < CaseFile.faultLimit {
                readCase(value)
            }
        } catch {
            faults.append(error)
        }
    }

    private mutating func readCase(_ value: RawValue) {
        do throws(InputFault) {
            cases.append(try example(try RawObject(value, what: "A case")))
        } catch {
            faults.append(error)
        }
    }

    private mutating func example(_ object: RawObject) throws(InputFault) -> FileCase {
        try object.check(
            [
                "name", "op", "path", "auth", "now", "resource", "newResource", "data", "rules",
                "expect", "why", "decidedBy", "error", "errors",
            ],
            in: "a case"
        )
        var databases = databases
        if let value = object["data"] { databases[""] = try tree(value) }
        let errors = try object["errors"]?.elements("errors").map { (element) throws(InputFault) in
            try element.string("errors")
        }
        var decidedBy: String??
        if let value = object["decidedBy"] {
            decidedBy = value.kind == .null ? .some(nil) : try value.string("decidedBy")
        }
        let ownRules = try object["rules"].map { (value) throws(InputFault) in try rules(value) }
        return FileCase(
            name: try object.required("name", "it says in a few words what must hold").string(
                "name"
            ),
            offset: object.offset,
            request: try request(object),
            databases: databases,
            expected: try choice(object, "expect", FileCase.Expectation.allCases),
            why: try object["why"]?.string("why"),
            decidedBy: decidedBy,
            error: try object["error"]?.string("error"),
            errors: errors,
            ownRules: ownRules
        )
    }

    /// One of the words that a member can be.
    private func choice<T: RawRepresentable<String>>(
        _ object: RawObject,
        _ name: String,
        _ all: [T]
    ) throws(InputFault) -> T {
        let words = all.map(\.rawValue).joined(separator: ", ")
        let value = try object.required(name, "it is one of \(words)")
        guard let found = T(rawValue: try value.string(name)) else {
            throw InputFault(value.offset, "'\(name)' must be one of \(words).")
        }
        return found
    }

    private mutating func rules(_ value: RawValue) throws(InputFault) -> LoadedFileRules {
        let text = try value.string("rules")
        if let known = loaded[text] { return known }
        let result = Result { () throws(RulesError) in try FileRuleset.load(text) }
        loaded[text] = result
        return result
    }

    private func tree(_ value: RawValue) throws(InputFault) -> Node {
        try value.read("'data' cannot be kept") { (scanner) throws(JSONError) in
            try scanner.readNode()
        }
    }

    private func auth(of object: RawObject) throws(InputFault) -> FileAuth? {
        guard let value = object["auth"] else { return auth }
        if value.kind == .null { return nil }
        let caller = try RawObject(value, what: "'auth'")
        try caller.check(["uid", "token"], in: "'auth'")
        let uid = try caller.required("uid", "it is the user's id").string("uid")
        guard let token = caller["token"] else { return FileAuth(uid: uid) }
        _ = try RawObject(token, what: "'token'")
        return FileAuth(uid: uid, claims: token.bytes.array)
    }

    // MARK: The request

    private func request(_ object: RawObject) throws(InputFault) -> FileRulesRequest {
        let operation = try choice(object, "op", FileOperation.allCases)
        let path = try object.required(
            "path",
            "it names an object or a prefix, without a slash before it"
        ).string("path")
        let time = try object.now() ?? now
        let old = try resource(object["resource"], path, time)
        var new = try resource(object["newResource"], path, time)
        switch operation {
        case .get, .list, .delete:
            if let value = object["newResource"] {
                throw InputFault(
                    value.offset,
                    "'newResource' has no meaning for \(operation.rawValue)."
                )
            }
        case .create: new = new ?? usual(path, time)
        case .update: new = new ?? old
        }
        return FileRulesRequest(
            operation,
            bucket: bucket,
            name: path,
            auth: try auth(of: object),
            time: time,
            resource: old,
            newResource: new
        )
    }

    /// An object of which a case says nothing.
    private func usual(_ name: String, _ time: Timestamp) -> FileResource {
        var resource = FileResource(name: name, bucket: bucket, size: 0)
        (resource.generation, resource.metageneration) = (1, 1)
        (resource.timeCreated, resource.updated) = (time, time)
        return resource
    }

    private func resource(
        _ value: RawValue?,
        _ name: String,
        _ time: Timestamp
    ) throws(InputFault) -> FileResource? {
        guard let value, value.kind != .null else { return nil }
        let object = try RawObject(value, what: "A resource")
        try object.check(FileResource.members, in: "a resource")
        var resource = usual(try object["name"]?.string("name") ?? name, time)
        resource.bucket = try object["bucket"]?.string("bucket") ?? bucket
        for (name, field) in FileResource.texts {
            resource[keyPath: field] = try object[name]?.string(name)
        }
        resource.size = try integer(object, "size") ?? 0
        resource.generation = try integer(object, "generation") ?? 1
        resource.metageneration = try integer(object, "metageneration") ?? 1
        let created = try integer(object, "timeCreated")
        resource.timeCreated = created.map { Timestamp(milliseconds: $0) } ?? time
        let updated = try integer(object, "updated")
        resource.updated = updated.map { Timestamp(milliseconds: $0) } ?? time
        if let metadata = object["metadata"] {
            for member in try RawObject(metadata, what: "'metadata'").members {
                resource.metadata[member.name] = try member.value.string(member.name)
            }
        }
        return resource
    }

    private func integer(_ object: RawObject, _ name: String) throws(InputFault) -> Int64? {
        guard let value = object[name] else { return nil }
        let number =
            value.kind != .number
            ? nil
            : try value.read("'\(name)' is no number") { (scanner) throws(JSONError) in
                try scanner.readInteger()
            }
        guard let number else {
            throw InputFault(value.offset, "'\(name)' must be a whole number.")
        }
        return number
    }
}
