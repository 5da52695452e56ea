public import Foundation
public import HearthDatabase

/// Parties, and answers to invitations.
public struct PartyService: Sendable {
    let tree: PartyTree

    /// The service as this signed-in user has it.
    public init(database: Database, uid: String) { tree = PartyTree(database: database, uid: uid) }

    // MARK: Seeing

    /// A party of one's own, or that one is invited to.
    ///
    /// - Throws: `ServiceError.notFound` when this user does not see it.
    public func show(_ key: String) async throws -> HostedParty { try await tree.party(key) }

    /// The user's parties, the next first; invalid ones are in the faults.
    public func owned() async throws -> Listing<HostedParty> {
        try await listing(tree.user().ownedParties)
    }

    /// Others' parties that the user attends, the next first; parties that cannot be seen are left out.
    public func attending() async throws -> Listing<HostedParty> {
        try await listing(tree.user().attendingParties.filter(\.value).keys.sorted())
    }

    private func listing(_ keys: [String]) async throws -> Listing<HostedParty> {
        let tree = tree
        let found = try await keys.filter(PartyLimits.isKey).mapInParallel {
            key -> Result<HostedParty?, RecordFault> in
            do {
                return .success(try await tree.visibleParty(key))
            } catch ServiceError.faulty(let fault) {
                return .failure(fault)
            }
        }
        var listing = Listing<HostedParty>()
        for result in found { listing.append { () throws(RecordFault) in try result.get() } }
        listing.records.sort { $0.date == $1.date ? $0.key < $1.key : $0.date < $1.date }
        listing.faults.sort { $0.path < $1.path }
        return listing
    }

    /// Reports a party, or its fault, now and after each change, on `callbackQueue`.
    ///
    /// The cancel block is called when this user does not see it any more.
    public func observe(
        _ key: String,
        with block: @escaping @Sendable (Result<HostedParty, RecordFault>) -> Void,
        withCancel cancelBlock: (@Sendable (any Error) -> Void)? = nil,
    ) -> Observation {
        let location = tree.database.reference(withPath: "parties/\(key)")
        let handle = location.observe(
            .value,
            with: { snapshot in
                block(
                    Result { () throws(RecordFault) in try snapshot.record(as: HostedParty.self) }
                )
            },
            withCancel: cancelBlock,
        )
        return Observation(location, handle)
    }

    // MARK: Giving one

    /// Makes a party and invites all friends, in one update.
    ///
    /// A description has 1 to 2,000 characters; a date is of a year from 1970 to 9999.
    public func create(description: String, date: Date) async throws -> HostedParty {
        try ServiceError.checkLength(of: description, "description", PartyLimits.descriptionLength)
        let milliseconds = try PartyDate.milliseconds(date)
        let friends = try await tree.user().friends.filter { $0 != tree.uid }
        let key = try tree.newKey()
        var values: [String: Any] = [
            "owner": tree.uid, "description": description, "date": milliseconds,
        ]
        if !friends.isEmpty {
            values["guests"] = Dictionary(uniqueKeysWithValues: friends.map { ($0, "invited") })
        }
        var update = PartyUpdate(by: tree.uid)
        update.set("parties/\(key)", values)
        update.setOwn("ownedParties/\(key)", true)
        for friend in friends {
            update.send(.party(key), .invite, to: friend, key: try tree.newKey())
        }
        try await tree.write(update, to: "make a party") { try await tree.sees(key) }
        return HostedParty(
            key: key,
            owner: tree.uid,
            description: description,
            date: Date(timeIntervalSince1970: Double(milliseconds) / 1000),
            guests: Dictionary(uniqueKeysWithValues: friends.map { ($0, .invited) }),
            photos: [],
        )
    }

    /// Changes the description or time of a party of the user; nil keeps it.
    public func change(_ key: String, description: String? = nil, date: Date? = nil) async throws {
        var update = PartyUpdate(by: tree.uid)
        if let description {
            try ServiceError.checkLength(
                of: description,
                "description",
                PartyLimits.descriptionLength,
            )
            update.set("parties/\(key)/description", description)
        }
        if let date { update.set("parties/\(key)/date", try PartyDate.milliseconds(date)) }
        _ = try await tree.ownParty(key)
        guard !update.values.isEmpty else { return }
        try await tree.write(update, to: "change the party \(key)")
    }

    /// Invites a person to a party of the user: a new guest, or again one who refused or has not answered.
    ///
    /// - Throws: `ServiceError.invalid` when they are coming already, or own it.
    public func invite(_ guest: String, to key: String) async throws {
        try PartyLimits.check(user: guest)
        let party = try await tree.ownParty(key)
        guard guest != tree.uid, party.guests[guest] != .coming else {
            throw ServiceError.invalid(
                field: "guest",
                why: guest == tree.uid ? "it is your own party" : "they are coming already",
            )
        }
        var update = PartyUpdate(by: tree.uid)
        try update.invite(guest, to: key, messageKey: tree.newKey())
        update.removeAnswers(of: guest, to: key, from: try await tree.inbox())
        try await tree.write(update, to: "invite a guest to the party \(key)")
    }

    /// Cancels a party of the user: removes it and its key in the user's list, and notifies confirmed guests.
    ///
    /// A guest whose acceptance waits in the inbox counts as confirmed. Other messages about the party are removed too.
    public func cancel(_ key: String) async throws {
        let party = try await tree.ownParty(key)
        var update = PartyUpdate(by: tree.uid)
        update.remove("parties/\(key)")
        update.setOwn("ownedParties/\(key)", NSNull())
        var guests = Set(party.confirmedGuests)
        for message in try await tree.inbox().records where message.subject.party == key {
            update.removeMessage(message)
            guard message.subject == .party(key), party.guests[message.from] != nil else {
                continue
            }
            switch message.content {
            case .accept: guests.insert(message.from)
            case .refuse: guests.remove(message.from)
            case .invite: break
            }
        }
        for guest in guests.sorted() {
            update.send(.party(key), .refuse, to: guest, key: try tree.newKey())
        }
        try await tree.write(update, to: "cancel the party \(key)") { try await !tree.sees(key) }
    }

    // MARK: Answering

    /// Answers an invitation: the own list, the answer in the owner's inbox, the invitation deleted.
    ///
    /// - Throws: `ServiceError.refused` when the party has ended, or the user is no longer invited.
    public func answer(_ invitation: PartyMessage, isComing: Bool) async throws {
        guard case .party(let key) = invitation.subject, invitation.isQuestion,
            invitation.to == tree.uid
        else { throw ServiceError.invalid(field: "message", why: "it invites you to no party") }
        try await answer(key, of: invitation.from, isComing, under: invitation.key)
    }

    /// Answers without an invitation at hand: who is coming thinks again, say.
    public func answer(_ party: HostedParty, isComing: Bool) async throws {
        guard party.owner != tree.uid else {
            throw ServiceError.invalid(field: "party", why: "it is your own")
        }
        try await answer(party.key, of: party.owner, isComing, under: try tree.newKey())
    }

    private func answer(
        _ key: String,
        of owner: String,
        _ isComing: Bool,
        under messageKey: String,
    ) async throws(ServiceError) {
        let invitations = try await invitations(to: key, of: owner)
        // Without an invitation the own list alone shows that it was answered, if it says something else before.
        let before = invitations.isEmpty ? try await tree.user().attendingParties[key] : nil
        var update = PartyUpdate(by: tree.uid)
        for invitation in invitations { update.removeMessage(invitation) }
        update.setOwn("attendingParties/\(key)", isComing)
        update.send(.party(key), isComing ? .accept : .refuse, to: owner, key: messageKey)
        let purpose = "answer: the party may be cancelled, or you off its list"
        try await tree.write(update, to: purpose) {
            guard before != isComing else { return false }
            let left = try await self.invitations(to: key, of: owner)
            let now = try await tree.user().attendingParties[key]
            return now == isComing && !left.contains(where: invitations.contains)
        }
    }

    private func invitations(
        to key: String,
        of owner: String,
    ) async throws(ServiceError) -> [PartyMessage] {
        try await tree.inbox().records.filter {
            $0.from == owner && $0.subject == .party(key) && $0.isQuestion
        }
    }
}

extension PartyUpdate {
    /// Adds a person to the guests of a party, and an invitation to their inbox.
    mutating func invite(_ guest: String, to party: String, messageKey: String) {
        set("parties/\(party)/guests/\(guest)", "invited")
        send(.party(party), .invite, to: guest, key: messageKey)
    }

    /// An answer to an earlier invitation does not answer a new one.
    mutating func removeAnswers(
        of guest: String,
        to party: String,
        from inbox: Listing<PartyMessage>,
    ) {
        for message in inbox.records where message.from == guest && message.subject == .party(party)
        {
            removeMessage(message)
        }
    }
}
