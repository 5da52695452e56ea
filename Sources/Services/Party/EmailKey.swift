import Foundation

/// The key that an e-mail address has under `emails`. It is the address in lower case, with each of `= . # $ / [ ]`
/// written as an equals sign and its two hex digits: `ann@example.com` is `ann@example=2Ecom`. Source:
/// `rules/party.json`, which compares with the address of the token.
enum EmailKey {
    static func encoded(_ email: String) -> String {
        var key = ""
        for scalar in email.lowercased().unicodeScalars {
            if "=.#$/[]".unicodeScalars.contains(scalar) {
                key += "=" + String(scalar.value, radix: 16, uppercase: true)
            } else {
                key.unicodeScalars.append(scalar)
            }
        }
        return key
    }
}
