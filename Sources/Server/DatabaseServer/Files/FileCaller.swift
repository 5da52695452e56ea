import FileRules
import JSONTree
import SecurityRules
import Tokens

/// Who asks for files, verified.
enum FileCaller: Sendable {
    /// Rules do not apply.
    case admin
    /// A user who is signed in.
    case user(FileAuth)
    case anonymous

    init(_ auth: AuthVariable) {
        guard let uid = auth.uid else {
            self = .anonymous
            return
        }
        let token = auth.value.member("token")
        var claims = token.isMap ? [] : Array("{}".utf8)
        if token.isMap { token.appendJSON(to: &claims, .value) }
        self = .user(FileAuth(uid: uid, claims: claims))
    }

    var isAdmin: Bool { if case .admin = self { true } else { false } }

    /// What rules see of them.
    var auth: FileAuth? { if case .user(let auth) = self { auth } else { nil } }

    /// Who is noted as the uploader.
    var uid: String? { auth?.uid }
}
