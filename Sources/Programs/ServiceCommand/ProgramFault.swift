import Foundation
import HearthAuth
import HearthCore
import HearthDatabase
import Files
import Social

/// Why a program failed: a sentence for people, without `error:` in front.
package struct ProgramFault: Error, Equatable, Sendable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }

    /// Converts any error, in its most specific text.
    package init(_ error: any Error) {
        switch error {
        case let fault as ProgramFault: self = fault
        case let error as ServiceError: self.init(error.description)
        case let fault as RecordFault: self.init(fault.description)
        case let error as AuthError: self.init(error.localizedDescription)
        case let error as DatabaseError: self.init(error.localizedDescription)
        case let error as HearthAppError: self.init(error.description)
        case let error as FileError: self.init(error.description)
        case let error: self.init("\(error)")
        }
    }
}

extension ProgramFault {
    /// No server answers at this address.
    static func unreachable(_ server: String) -> ProgramFault {
        ProgramFault(
            "cannot reach \(server): is the server running? `hearth serve --dev --samples`"
        )
    }

    /// No user is signed in to this server.
    static func signedOut(_ server: String, arguments: String) -> ProgramFault {
        let name = ProgramName.current
        return ProgramFault(
            "no one is signed in to \(server): `\(name) sign-in\(arguments) EMAIL`, "
                + "or `\(name) sign-up --help` for a new account"
        )
    }
}

/// The name by which the program was started.
package enum ProgramName {
    /// The last part of the path that it was started by: `hearth-chat`.
    package static var current: String {
        let path = CommandLine.arguments.first ?? ""
        return path.split(separator: "/").last.map { String($0) } ?? "hearth"
    }
}
