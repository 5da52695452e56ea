import JSONTree
import Tokens

/// Claims that an administrator gives an account: the JSON text of an object, whose members join every ID token.
package enum CustomClaims {
    /// Unicode scalars of the text. Source: Firebase Admin SDK, "Control access with custom claims".
    package static let lengthLimit = 1000

    /// Why a text holds no claims.
    package enum Refusal: Error, Equatable {
        case tooLarge(length: Int)
        case notAnObject
        case reserved(name: String)
    }

    /// The names of the claims of `text`, in their order.
    ///
    /// - Throws: `Refusal` when an account may not have them.
    package static func names(of text: String) throws(Refusal) -> [String] {
        let length = text.unicodeScalars.count
        guard length <= lengthLimit else { throw .tooLarge(length: length) }
        let names: [String]
        do throws(JSONError) { names = try read(Array(text.utf8)) } catch { throw .notAnObject }
        if let name = names.first(where: ReservedClaims.names.contains) {
            throw .reserved(name: name)
        }
        return names
    }

    private static func read(_ json: [UInt8]) throws(JSONError) -> [String] {
        try json.withBytes { (bytes) throws(JSONError) in
            var names: [String] = []
            var scanner = JSONScanner(bytes)
            try scanner.enterObject()
            while let name = try scanner.nextMember() {
                _ = try scanner.skipValue()
                names.append(name)
            }
            try scanner.expectEnd()
            return names
        }
    }
}
