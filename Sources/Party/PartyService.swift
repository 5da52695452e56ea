public import Foundation
public import HearthDatabase

/// Parties, and answers to invitations.
public struct PartyService: Sendable {
    let tree: PartyTree

    /// The service as this signed-in user has it.
    public init(database: Database, uid: String) {
        tree = PartyTree(database: database, uid: uid)
    }

    // MARK: Seeing

    /// A party of one's own, or that one is invited to.
    ///
    /// - Throws: `ServiceError.notFound` when this user does not see it.
    public func show(_ key: String) async throws -> HostedParty { try await tree.party(key) }

    /// The own parties, the next first; what is none is in the faults.
    public func owned() async throws -> Listing<HostedParty> {
        try await listing(tree.user().ownedParties)
    }

    /// The parties of others that one goes to, the next first; what cannot be seen is left out.
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
        for result in found {
            switch result {
            case .success(let party?): listing.records.append(party)
            case .success(nil): break
            case .failure(let fault): listing.faults.append(fault)
            }
        }
        listing.records.sort { $0.date == $1.date ? $0.key < $1.key : $0.date < $1.date }
        listing.faults.sort { $0.path < $1.path }
        return listing
    }

    /// Tells of a party, or what is wrong with it, now and whenever it changes, on `callbackQueue`.
    ///
    /// The cancel block is called when this user does not see it any more.
    public func observe(
        _ key: String,
        with block: @escaping @Sendable (Result<HostedParty, RecordFault>) -> Void,
        withCancel cancelBlock: (@Sendable (any Error) -> Void)? = nil,
    ) -> Observation {
        let place = tree.database.reference(withPath: "parties/\(key)")
        let handle = place.observe(
            .value,
            with: { snapshot in
                block(
                    Result { () throws(RecordFault) in try snapshot.record(as: HostedParty.self) }
                )
            },
            withCancel: cancelBlock,
        )
        return Observation(place, handle)
    }

    // MARK: Giving one

    /// Makes a party and invites all friends, in one update.
    ///
    /// A description has 1 to 2,000 characters; a date is of a year from 1970 to 9999.
    public func create(description: String, date: Date) async throws -> HostedParty {
        try ServiceError.checkLength(
            of: description,
            "description",
            PartyLimits.descriptionLength,
        )
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
        try await tree.write(update, to: "make a party") {
            try await tree.sees(key)
        }
        return HostedParty(
            key: key,
            owner: tree.uid,
            description: description,
            date: Date(timeIntervalSince1970: Double(milliseconds) / 1000),
            guests: Dictionary(uniqueKeysWithValues: friends.map { ($0, .invited) }),
        )
    }

    /// Changes what an own party is, or when; nil leaves it as it is.
    public func change(
        _ key: String,
        description: String? = nil,
        date: Date? = nil,
    ) async throws {
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

    /// Invites somebody to an own party: one more, or one who refused, or has not answered, again.
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
        try await tree.write(update, to: "invite somebody to the party \(key)")
    }

    /// Cancels an own party: it goes, with its key in the own list, and confirmed guests are told.
    ///
    /// A guest whose yes waits in the inbox is confirmed. What else waits there about the party goes too.
    public func cancel(_ key: String) async throws {
        let party = try await tree.ownParty(key)
        var update = PartyUpdate(by: tree.uid)
        update.remove("parties/\(key)")
        update.setOwn("ownedParties/\(key)", NSNull())
        var guests = Set(party.confirmedGuests)
        for message in try await tree.inbox().records where message.subject.party == key {
            update.remove(message)
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
        try await tree.write(update, to: "cancel the party \(key)") {
            try await !tree.sees(key)
        }
    }

    // MARK: Answering

    /// Answers an invitation: the own list, the answer in the owner's inbox, the invitation deleted.
    ///
    /// - Throws: `ServiceError.refused` when the party is no more, or one is invited no more.
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
        for invitation in invitations { update.remove(invitation) }
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

    /// The invitations to a party that wait in the own inbox.
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
    /// Puts somebody on the list of an own party, and an invitation into their inbox.
    mutating func invite(_ guest: String, to party: String, messageKey: String) {
        set("parties/\(party)/guests/\(guest)", "invited")
        send(.party(party), .invite, to: guest, key: messageKey)
    }

    /// What somebody said to an invitation before a new one is no answer to that.
    mutating func removeAnswers(
        of guest: String,
        to party: String,
        from inbox: Listing<PartyMessage>,
    ) {
        for message in inbox.records where message.from == guest && message.subject == .party(party)
        {
            remove(message)
        }
    }
}

extension HostedParty {
    init(
        key: String,
        owner: String,
        description: String,
        date: Date,
        guests: [String: Answer],
    ) {
        self.key = key
        self.owner = owner
        self.description = description
        self.date = date
        self.guests = guests
        photos = []
    }
}
