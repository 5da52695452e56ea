package import DataCommands
package import Files
import Glibc
import JSONTree

/// The commands that change one account.
package enum UserChange {
    /// What a new account has; nil for what it has not.
    package struct New: Sendable {
        package var uid: String?
        package var email: String?
        package var isEmailVerified = false
        package var phoneNumber: String?
        package var name: String?
        package var photoURL: String?
        package var isDisabled = false

        package init() {}
    }

    /// Makes an account.
    ///
    /// - Throws: `CommandError` when the server refuses.
    package static func create(
        _ new: New,
        password: String?,
        _ service: AccountService
    ) throws(CommandError) -> CommandOutcome {
        guard new.email != nil || password == nil else {
            throw .usage("a password is of no use without --email")
        }
        var body = JSONObjectText()
        body.add("localId", new.uid)
        body.add("email", new.email)
        if new.email != nil { body.add("emailVerified", new.isEmailVerified) }
        body.add("password", password)
        body.add("phoneNumber", new.phoneNumber)
        body.add("displayName", new.name)
        body.add("photoUrl", new.photoURL)
        if new.isDisabled { body.add("disabled", true) }
        let project = try service.project()
        let answer = try service.call("accounts", of: project, json: body.bytes)
        guard let uid = try service.tree(answer).member("localId").string else {
            throw .failed("\(service.database.origin) does not tell the new account's uid")
        }
        return .done(uid)
    }

    /// Keeps a user out, or lets one in again.
    package static func setDisabled(
        _ isDisabled: Bool,
        _ selector: UserSelector,
        _ service: AccountService
    ) throws(CommandError) -> CommandOutcome {
        let user = try change(selector, service) { $0.add("disableUser", isDisabled) }
        let words = isDisabled ? "disabled; what was signed in is signed out" : "enabled"
        return .done("\(user.uid) (\(user.shown)) is \(words)")
    }

    /// Makes every token of a user void that was issued until now.
    package static func revoke(
        _ selector: UserSelector,
        _ service: AccountService
    ) throws(CommandError) -> CommandOutcome {
        let user = try change(selector, service) { body in
            // Seconds, the next one: a token of this second is meant too.
            body.add("validSince", "\(time(nil) + 1)")
        }
        return .done("\(user.uid) (\(user.shown)) has to sign in again everywhere")
    }

    /// Removes an account, once somebody agrees.
    package static func delete(
        _ selector: UserSelector,
        _ service: AccountService,
        isForced: Bool
    ) throws(CommandError) -> CommandOutcome {
        let project = try service.project()
        let user = try service.find(selector, in: project).user
        try service.database.console.confirm(
            "This removes the account \(user.uid) (\(user.shown)) of project \(project)",
            isForced: isForced
        )
        var body = JSONObjectText()
        body.add("localId", user.uid)
        _ = try service.call("accounts:delete", of: project, json: body.bytes)
        return .done("\(user.uid) (\(user.shown)) is removed")
    }

    /// Prints a link by which a user sets a new password.
    package static func reset(
        email: String,
        _ service: AccountService
    ) throws(CommandError) -> CommandOutcome {
        var body = JSONObjectText()
        body.add("requestType", "PASSWORD_RESET")
        body.add("email", email)
        body.add("returnOobLink", true)
        let answer = try service.call(
            "accounts:sendOobCode",
            of: service.project(),
            json: body.bytes
        )
        guard let link = try service.tree(answer).member("oobLink").string else {
            throw .failed("\(service.database.origin) tells no link")
        }
        return .done(link)
    }

    /// Changes the account that is meant, and returns it as it was.
    static func change(
        _ selector: UserSelector,
        _ service: AccountService,
        _ add: (inout JSONObjectText) -> Void
    ) throws(CommandError) -> UserRecord {
        let project = try service.project()
        let user = try service.find(selector, in: project).user
        var body = JSONObjectText()
        body.add("localId", user.uid)
        add(&body)
        _ = try service.call("accounts:update", of: project, json: body.bytes)
        return user
    }
}
