import Social

/// The look of a message, by names that each program interprets.
public struct Style: Hashable, Sendable {
    /// The colour of its bubble, `teal` or `#0a7`; at most 32 characters.
    public let color: String?
    /// Its font; at most 64 characters.
    public let font: String?

    /// A style; one of the two has to be there.
    public init(color: String? = nil, font: String? = nil) {
        self.color = color
        self.font = font
    }
}

extension Style: Decodable {
    func check() throws(ServiceError) {
        guard color != nil || font != nil else {
            throw .invalid(field: "style", why: "it has neither color nor font")
        }
        try ServiceError.checkLength(of: color ?? "", "style.color", ChatLimits.colorLength)
        try ServiceError.checkLength(of: font ?? "", "style.font", ChatLimits.fontLength)
    }

    var stored: [String: Any] {
        var stored: [String: Any] = [:]
        stored["color"] = color
        stored["font"] = font
        return stored
    }
}
