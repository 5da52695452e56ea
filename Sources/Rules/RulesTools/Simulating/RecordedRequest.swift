import JSONTree
import SecurityRules

/// One request that the rules of a running server decided, as `/.inspect/requests.json` reports it.
package struct RecordedRequest: Sendable, Equatable {
    /// Counts up from 1 in one run of the server.
    package let id: UInt64
    /// Milliseconds since 1970.
    package let time: Int64
    /// The whole of it as JSON, on one line.
    package let json: String
    /// For people, with the explanation; ends in an empty line.
    package let text: String

    /// What a server answers.
    package struct List: Sendable, Equatable {
        /// The oldest first.
        package let requests: [RecordedRequest]
        /// How to have requests recorded, when none are.
        package let hint: String?

        /// Reads the body of an answer; nil when it is something else.
        package init?(_ body: [UInt8]) {
            let list: List?? = body.withBytes { bytes in
                do throws(InputFault) { return try List(bytes) } catch { return nil }
            }
            guard let list = list ?? nil else { return nil }
            self = list
        }

        private init?(_ bytes: Bytes) throws(InputFault) {
            let answer = try RawObject(try RawValue(whole: bytes, what: "It"), what: "It")
            guard let list = answer["requests"] else { return nil }
            var requests: [RecordedRequest] = []
            for value in try list.elements("requests") {
                guard let request = try RecordedRequest(value) else { return nil }
                requests.append(request)
            }
            self.requests = requests.reversed()
            hint = try answer["hint"]?.string("hint")
        }
    }

    private init?(_ value: RawValue) throws(InputFault) {
        let object = try RawObject(value, what: "It")
        guard let id = object["id"].flatMap({ UInt64($0.bytes.string) }),
            let time = object["time"].flatMap({ Int64($0.bytes.string) }),
            let operation = try object["operation"]?.string("operation"),
            let path = try object["path"]?.string("path"),
            let channel = try object["protocol"]?.string("protocol"),
            let explanation = try object["explanation"]?.string("explanation")
        else { return nil }
        self.id = id
        self.time = time
        json = String(value.bytes.string.map { $0.isNewline ? " " : $0 })
        let decision = object["allowed"]?.bytes.string == "true" ? "allowed" : "refused"
        let who = try Self.who(object["auth"])
        let bucket = try object["bucket"].map { (value) throws(InputFault) in
            try value.string("bucket") + "/"
        }
        var text =
            "#\(id) \(ISO8601.text(of: time)) \(decision) \(operation) \(bucket ?? "")\(path) by \(who) over \(channel)\n"
        for line in explanation.split(separator: "\n", omittingEmptySubsequences: false) {
            text += line.isEmpty ? "\n" : "    \(line)\n"
        }
        self.text = text + "\n"
    }

    /// The caller, in words.
    private static func who(_ auth: RawValue?) throws(InputFault) -> String {
        guard let auth, auth.kind == .object else { return "a signed-out caller" }
        guard let uid = try RawObject(auth, what: "'auth'")["uid"], uid.kind == .string else {
            return "a caller without a uid"
        }
        // Unchanged: a quoted text on one line.
        return uid.bytes.string
    }
}
