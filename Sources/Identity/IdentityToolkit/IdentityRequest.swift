package import JSONTree

/// An identity request whose caller has been let through.
package struct IdentityRequest: Sendable {
    package let route: IdentityRoute
    /// The HTTP method.
    package let verb: String
    package let fields: RequestFields
    /// The parameters of the address.
    package let query: [String: String]
    /// Whether the caller is an administrator; others call client methods only.
    package let isAdmin: Bool

    package init(
        route: IdentityRoute,
        verb: String,
        fields: RequestFields,
        query: [String: String],
        isAdmin: Bool
    ) {
        self.route = route
        self.verb = verb
        self.fields = fields
        self.query = query
        self.isAdmin = isAdmin
    }
}

/// The members of a request's body. Names may be in camel case or snake case; null members count as missing.
package struct RequestFields: Sendable {
    package let body: Node

    package init(_ body: Node) {
        self.body = body
    }

    /// Reads a body by its content: JSON, or the form of a page, which web clients send for tokens.
    ///
    /// Its first byte counts more than its declared type: many clients declare the wrong one.
    package init(_ body: [UInt8], contentType: String?) throws(IdentityError) {
        let isForm = contentType?.lowercased().hasPrefix("application/x-www-form-urlencoded")
        if isForm == true, body.first(where: { $0 > 32 }) != UInt8(ascii: "{") {
            try self.init(form: body)
        } else {
            try self.init(json: body)
        }
    }

    /// Reads a body of JSON; an empty one has no members.
    package init(json: [UInt8]) throws(IdentityError) {
        if json.isEmpty {
            body = .absent
            return
        }
        do throws(JSONError) {
            body = try Node.readingAnyJSON(json)
        } catch {
            throw .invalidPayload("Unexpected token at byte \(error.offset).")
        }
        guard body.isMap || body.isAbsent, json.first(where: { $0 > 32 }) == UInt8(ascii: "{")
        else {
            throw .invalidPayload("The body must be an object.")
        }
    }

    /// The member `name`, given in camel case.
    package func node(_ name: String) -> Node {
        let node = body.member(name)
        guard node.isAbsent, name.utf8.contains(where: Self.isUpperCase) else {
            return node
        }
        return body.member(Self.snakeCase(name))
    }

    /// A text, or a number where a text belongs; nil when it is not there.
    ///
    /// - Throws: `invalidPayload` for another kind of value, and for a text with NUL in it.
    package func text(_ name: String) throws(IdentityError) -> String? {
        let node = node(name)
        return node.isAbsent ? nil : try Self.text(of: node, name)
    }

    private static func text(of node: Node, _ name: String) throws(IdentityError) -> String {
        if let text = node.string {
            guard !text.utf8.contains(0) else {
                throw .invalidPayload("Invalid value at '\(name)': it has a NUL character in it.")
            }
            return text
        }
        guard node.number != nil else {
            throw .invalidPayload("Invalid value at '\(name)' (TYPE_STRING).")
        }
        var text: [UInt8] = []
        node.appendJSON(to: &text, .value, .compact)
        return String(decoding: text, as: UTF8.self)
    }

    /// A text that is not empty; else nil.
    package func givenText(_ name: String) throws(IdentityError) -> String? {
        guard let text = try text(name), !text.isEmpty else { return nil }
        return text
    }

    package func flag(_ name: String) throws(IdentityError) -> Bool? {
        let node = node(name)
        if node.isAbsent { return nil }
        if let flag = node.boolean { return flag }
        if let text = node.string, text == "true" || text == "false" { return text == "true" }
        throw .invalidPayload("Invalid value at '\(name)' (TYPE_BOOL).")
    }

    /// A whole number, or a text of one.
    package func integer(_ name: String) throws(IdentityError) -> Int64? {
        let node = node(name)
        if node.isAbsent { return nil }
        if let number = node.integer { return number }
        if let number = node.string.flatMap({ Int64($0) }) { return number }
        throw .invalidPayload("Invalid value at '\(name)' (TYPE_INT64).")
    }

    /// The elements of a list; a single value is a list of one.
    package func list(_ name: String) -> [Node] {
        let node = node(name)
        if node.isAbsent { return [] }
        guard node.isMap else { return [node] }
        var all: [Node] = []
        node.visitChildren { _, element in
            all.append(element)
            return true
        }
        return all
    }

    private static func snakeCase(_ name: String) -> String {
        var text: [UInt8] = []
        for byte in name.utf8 {
            if isUpperCase(byte) {
                text += [UInt8(ascii: "_"), byte | 0x20]
            } else {
                text.append(byte)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func isUpperCase(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
    }
}
