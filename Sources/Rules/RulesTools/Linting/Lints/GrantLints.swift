import SecurityRules

/// Lints of grants that let too many callers through.
extension Lint {
    static let grantLints = [
        openRoot, unauthenticatedCreate, writeAboveOwner, writeWithoutExists, readAboveSecret,
        readWithoutOwner,
    ]

    /// A `.read` or `.write` of the root that certainly lets through everyone, or everyone who is signed in. A bound on
    /// `now` alone counts as open: it closes some day, not today.
    private static let openRoot = Lint(
        code: .openRoot,
        summary: "The whole database is open to everybody, or to everybody who is signed in.",
        reason: """
            A grant at the root holds for everything below it, and no rule below can take it back. Anybody who finds \
            the address can copy or wipe the whole database; when only a sign-in is asked for, one free account does it.
            """,
        wrong: """
            / .read true
            / .write auth != null
            """,
        right: """
            /users/$uid .read auth != null && auth.uid == $uid
            /users/$uid .write auth != null && auth.uid == $uid
            """,
        find: { tree in
            guard let top = tree.nodes.first else { return [] }
            return [top.read, top.write].compactMap { $0 }.compactMap { rule in
                guard rule.admitsEverybody || rule.admitsStrangers else { return nil }
                let who = rule.admitsEverybody ? "anybody" : "anybody who signs up"
                let what =
                    rule.kind == .read
                    ? "can download the whole database" : "can change or wipe the whole database"
                return rule.finding(
                    "'.\(rule.kind.rawValue)' at the root: \(who) \(what).",
                    "Grant below, as far down as you can, to the user whose data it is; no rule below can take "
                        + "back what the root grants."
                )
            }
        }
    )

    /// A `.write` that certainly lets a signed-out caller write where nothing exists yet, and no `.validate` on the
    /// path or of a required child stops it.
    private static let unauthenticatedCreate = Lint(
        code: .unauthenticatedCreate,
        summary: "A caller who is not signed in can write.",
        reason: """
            A rule that asks only whether something exists already lets anybody on the internet create entries: \
            fill the database, and sign them with any name they like. It warns when a '.write' certainly holds for a \
            signed-out caller where nothing is yet, and no '.validate' asks for more.
            """,
        wrong: "/messages/$message .write !data.exists()",
        right: """
            /messages/$message .write auth != null && !data.exists() && newData.child('from').val() == auth.uid
            """,
        find: eachNode { node in
            guard let rule = node.write, node.parent != nil else { return nil }
            let world = World.signedOutAtNothing(rule.flow)
            guard let part = rule.flow.grantingPart(rule.expression, in: world),
                !node.isValidatedAgainstSignedOut
            else { return nil }
            let what =
                rule.admitsEverybody
                ? "create, overwrite and delete"
                : "create entries, in anybody's name and without end,"
            return rule.finding(
                at: part,
                "Anybody, also signed out, can \(what) at '\(node.path)'.",
                "Begin with auth != null && and check the author: newData.child('from').val() == auth.uid."
            )
        }
    )

    /// A `.write` that certainly lets strangers replace or delete the data, above a `.write` that names `auth` and does
    /// not let them.
    private static let writeAboveOwner = Lint(
        code: .writeAboveOwner,
        summary: "A '.write' above lets everybody past the owner's rule.",
        reason: """
            Grants cascade: the first '.write' on the way down that holds decides, and rules below are not asked. An owner's \
            rule below a '.write' that any signed-in user satisfies protects nothing.
            """,
        wrong: """
            /posts .write auth != null
            /posts/$post .write data.child('owner').val() == auth.uid && auth != null
            """,
        right: """
            /posts/$post .write auth != null && (data.exists() ? data.child('owner').val() == auth.uid : newData.child('owner').val() == auth.uid)
            """,
        find: eachNode { node in
            guard let rule = node.write, rule.admitsStrangers || rule.isAlwaysTrue else {
                return nil
            }
            let narrower = node.descendants.compactMap(\.write).first {
                $0.expression.names("auth") && !$0.admitsStrangers
            }
            guard let narrower else { return nil }
            let who = rule.admitsEverybody ? "anybody" : "any signed-in user"
            return rule.finding(
                "This lets \(who) write everything below '\(node.path)', so \(narrower.name) never counts.",
                "Remove this '.write' or move it below, beside the owner's; a rule below can add to it but not "
                    + "narrow it."
            )
        }
    )

    /// A `.write` of a wildcard, or of the list around one, that certainly lets an unrelated caller, signed in or
    /// signed out, (a) delete the data; or, of a wildcard, (b) replace it, where no `.validate` reads the old data.
    private static let writeWithoutExists = Lint(
        code: .writeWithoutExists,
        summary: "Any signed-in user, or anybody, can delete or replace other users' entries.",
        reason: """
            A '.write' covers deletes and replacements too, and '.validate' is not asked about what is gone. A '.write' that asks for nothing but a \
            sign-in, or only that the new entry be signed, lets any user delete or replace what others wrote. One that holds for whatever is there \
            lets anybody, also signed out.
            """,
        wrong: "/posts/$post .write auth != null",
        right: """
            /posts/$post .write auth != null && (!data.exists() || data.child('author').val() == auth.uid)
            """,
        find: eachNode { node in
            guard let rule = node.write, node.parent != nil, !rule.admitsEverybody,
                node.isWildcard || node.wildcard?.isClosed == false
            else { return nil }
            let what = node.isWildcard ? "every '\(node.path)'" : "the whole list '\(node.path)'"
            func isReachable(_ world: World) -> Bool {
                rule.flow.isReachable(rule.expression, true, in: world)
            }
            func verb(isSignedIn: Bool) -> String? {
                if isReachable(.strangerDeleting(rule.flow, isSignedIn: isSignedIn)) {
                    return "delete"
                }
                let isReplaced =
                    node.isWildcard
                    && isReachable(.strangerReplacing(rule.flow, isSignedIn: isSignedIn))
                    && !node.isValidatedAgainstBefore
                return isReplaced ? "replace" : nil
            }
            let anybody = verb(isSignedIn: false)
            guard let verb = anybody ?? verb(isSignedIn: true) else { return nil }
            let who = anybody == nil ? "Any signed-in user" : "Anybody, also signed out,"
            return rule.finding(
                "\(who) can \(verb) \(what), also those of other users.",
                "Ask who owns what is there: !data.exists() || data.child('author').val() == auth.uid; or allow "
                    + "only new entries: !data.exists()."
            )
        }
    )

    /// A `.read` that certainly lets through everyone, or any signed-in user, above (a) a narrower `.read` that names
    /// `auth`, (b) a child whose name says that it is private, or, for everyone, (c) a wildcard that one user each may
    /// write.
    private static let readAboveSecret = Lint(
        code: .readAboveSecret,
        summary: "A '.read' above lets everybody see what is private below.",
        reason: """
            Reads cascade like writes: a caller who may read a node gets everything below it, whatever rules stand there. A list of users that \
            everybody may read gives away every e-mail address in it with one request. It warns when a narrower '.read' stands below, \
            when a child below has a name such as email, phone or token, and when everybody may list a node whose children each belong to \
            one user.
            """,
        wrong: """
            /users .read auth != null
            /users/$uid .write auth != null && auth.uid == $uid
            /users/$uid/email .validate newData.isString()
            """,
        right: """
            /profiles .read auth != null
            /profiles/$uid .write auth != null && auth.uid == $uid
            /private/$uid .read auth != null && auth.uid == $uid
            /private/$uid .write auth != null && auth.uid == $uid
            /private/$uid .validate newData.hasChildren(['email'])
            /private/$uid/email .validate newData.isString()
            """,
        find: eachNode { node in
            guard let rule = node.read, rule.admitsEverybody || rule.admitsStrangers,
                let secret = node.secretBelow(isOpenToAll: rule.admitsEverybody)
            else { return nil }
            let who = rule.admitsEverybody ? "anybody, also signed out," : "any signed-in user"
            return rule.finding(
                "This lets \(who) read everything below '\(node.path)': \(secret).",
                "Keep what is private in a tree of its own, readable by its user alone, and public profiles in another."
            )
        }
    )

    /// A `.read` that tests the caller, and still certainly lets signed-out callers read.
    private static let readWithoutOwner = Lint(
        code: .readWithoutOwner,
        summary: "A '.read' that asks who reads lets everybody read what is there.",
        reason: """
            An alternative of '||' that holds for whatever is there takes the meaning from those beside it: 'data.val() != null || ...' lets \
            anybody, also signed out, read every entry there is; the other alternative counts only where there is nothing to read.
            """,
        wrong: """
            /messages/$message .read data.exists() || auth != null && data.child('to').val() == auth.uid
            """,
        right: """
            /messages/$message .read auth != null && (!data.exists() || data.child('to').val() == auth.uid)
            """,
        find: eachNode { node in
            guard let rule = node.read, node.parent != nil, rule.expression.names("auth"),
                !rule.admitsEverybody
            else { return nil }
            let world = World.stranger(rule.flow, isSignedIn: false)
            guard let part = rule.flow.grantingPart(rule.expression, in: world) else {
                return nil
            }
            return rule.finding(
                at: part,
                "This lets anybody, also signed out, read whatever is there at '\(node.path)'; what the rule asks about "
                    + "'auth' never matters.",
                "Join the two with && instead of ||; to let everybody read on purpose, write true."
            )
        }
    )
}

extension LintNode {
    /// Whether it only closes the list of known children.
    var isClosed: Bool {
        guard let validate else { return false }
        return validate.isNeverTrue && read == nil && write == nil && children.isEmpty
    }

    /// Whether a `.validate` here, above, or of a child that is required here never holds for signed-out callers.
    fileprivate var isValidatedAgainstSignedOut: Bool {
        func refuses(_ rule: LintRule) -> Bool {
            !rule.flow.canHoldSignedOut(rule.expression, rule.facts)
        }
        let along = ([self] + ancestors).compactMap(\.validate)
        if along.contains(where: refuses) { return true }
        var required = Facts()
        for rule in along { rule.flow.learn(rule.expression, true, into: &required) }
        if let write { write.flow.learn(write.expression, true, into: &required) }
        return children.contains { child in
            guard let rule = child.validate, required.isPresent(rule.flow.reader.newData) else {
                return false
            }
            return refuses(rule)
        }
    }

    /// Whether a `.validate` here, above or below looks at what was here before.
    fileprivate var isValidatedAgainstBefore: Bool {
        let location = Term(base: .old, path: keys)
        return ([self] + ancestors + descendants).compactMap(\.validate).contains { rule in
            rule.expression.contains { piece in
                rule.flow.reader.snapshot(piece)?.isWithin(location) ?? false
            }
        }
    }

    /// Names of children that are rarely meant for everybody, in lower case without marks between words.
    private static let secretNames: Set<String> = [
        "email", "emailaddress", "mail", "phone", "phonenumber", "password", "passwordhash",
        "secret", "secrets", "token", "tokens", "apikey", "accesstoken", "refreshtoken",
        "fcmtoken", "private", "address", "birthday", "birthdate", "dateofbirth", "creditcard",
        "iban", "salary", "ssn",
    ]

    /// What below should not be read by everybody, as part of a sentence.
    fileprivate func secretBelow(isOpenToAll: Bool) -> String? {
        for node in descendants {
            if let rule = node.read, rule.expression.names("auth"), !rule.admitsStrangers {
                return "\(rule.name) never counts"
            }
            if let key = node.key, !node.isWildcard {
                let bare = key.lowercased().filter { $0 != "_" && $0 != "-" && $0 != " " }
                if LintNode.secretNames.contains(bare) { return "also '\(node.path)'" }
            }
        }
        guard isOpenToAll, let wildcard, let key = wildcard.key, let write = wildcard.write else {
            return nil
        }
        let owner = Term(base: .other(key), path: [])
        let facts = write.flow.facts(write.facts, when: write.expression, true)
        return facts.areEqual(owner, .uid)
            ? "one request lists every user, with all that is private in '\(wildcard.path)'" : nil
    }
}
