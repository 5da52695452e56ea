import Foundation
import HearthDatabase
import HearthStorage
import Party
import Photos

/// Friends, an invitation that waits while the host is away, a photo, and the end of the party.
enum PartyAct {
    static func play(_ ann: Player, _ bea: Player, _ cem: Player) async throws {
        Stage.act("Party")
        for player in [ann, bea, cem] {
            let accounts = PartyAccountService(database: player.database, uid: player.uid)
            _ = try await accounts.signUp(email: player.email, name: player.name)
        }
        try await befriend(ann, bea)
        try await befriend(ann, cem)
        let party = try await invite(ann, [bea, cem])
        try await addPhoto(bea, ann, party, hiddenFrom: cem)
        try await suggest(bea, ann)
        try await PartyService(database: ann.database, uid: ann.uid).cancel(party)
        Stage.does("Ann", "cancels it")
        let inbox = Inbox(database: bea.database, uid: bea.uid)
        try await inbox.apply()
        let left = try await PartyService(database: bea.database, uid: bea.uid).attending()
        try Stage.sees("Bea", left.records.map(\.description), expected: [])
    }

    private static func befriend(_ one: Player, _ other: Player) async throws {
        let accounts = PartyAccountService(database: one.database, uid: one.uid)
        guard let found = try await accounts.find(email: other.email) else {
            throw Surprise(text: "no account has the address \(other.email)")
        }
        let friends = FriendService(database: one.database, uid: one.uid)
        _ = try await friends.request(found.uid)
        let request = try await question(to: other)
        try await FriendService(database: other.database, uid: other.uid).accept(request)
        try await Inbox(database: one.database, uid: one.uid).apply()
        Stage.does(one.name, "finds \(other.email) and asks for friendship")
        let names = try await friends.friends().map(\.name).sorted()
        try Stage.sees(one.name, names.suffix(1), expected: [other.name])
    }

    private static func invite(_ host: Player, _ guests: [Player]) async throws -> String {
        let service = PartyService(database: host.database, uid: host.uid)
        let date = Date(timeIntervalSince1970: 4_102_444_800)
        let party = try await service.create(description: "New Year", date: date)
        Stage.does(host.name, "invites all her friends to a party, and goes offline")
        host.database.goOffline()
        for (guest, isComing) in zip(guests, [true, false]) {
            let parties = PartyService(database: guest.database, uid: guest.uid)
            let invitation = try await question(to: guest)
            try await parties.answer(invitation, isComing: isComing)
            Stage.does(guest.name, isComing ? "comes" : "does not come")
        }
        try await Stage.refuses(guests[1].name, "writes into the list of guests") {
            let own = guests[1].database.reference(
                withPath: "parties/\(party.key)/guests/\(guests[1].uid)"
            )
            try await own.setValue(true)
        }
        host.database.goOnline()
        Stage.does(host.name, "is back; the answers that waited are applied")
        let inbox = Inbox(database: host.database, uid: host.uid)
        let events = try await inbox.apply() + inbox.apply()
        guard events.count == guests.count else {
            throw Surprise(text: "answers were applied \(events.count) times")
        }
        let names = Dictionary(uniqueKeysWithValues: guests.map { ($0.uid, $0.name) })
        let seen = try await service.show(party.key).guests.map { uid, answer in
            "\(names[uid] ?? uid): \(answer == .coming ? "coming" : answer == .notComing ? "not coming" : "asked")"
        }
        try Stage.sees(host.name, seen.sorted(), expected: ["Bea: coming", "Cem: not coming"])
        return party.key
    }

    private static func addPhoto(
        _ guest: Player,
        _ host: Player,
        _ party: String,
        hiddenFrom stranger: Player,
    ) async throws {
        let photos = PartyPhotoService(database: guest.database, uid: guest.uid)
        let photo = try Photo(png: picture)
        let key = try await photos.add(photo, to: party)
        Stage.does(guest.name, "brings a photo, which its host has to accept")
        let asked = try await question(to: host)
        try await PartyPhotoService(database: host.database, uid: host.uid).accept(asked)
        try await Inbox(database: guest.database, uid: guest.uid).apply()
        let shown = try await photos.load(key)
        try Stage.sees(
            guest.name,
            ["a photo, \(shown.width) x \(shown.height)"],
            expected: ["a photo, 2 x 2"]
        )
        try await Stage.refuses(stranger.name, "who does not come, looks for it") {
            let file = stranger.storage.reference(withPath: "parties/\(party)/photos/\(key)")
            _ = try await file.getMetadata()
        }
    }

    /// A guest may suggest friends alone.
    private static func suggest(_ guest: Player, _ host: Player) async throws {
        let parties = PartyService(database: guest.database, uid: guest.uid)
        guard let party = try await parties.attending().records.first else {
            throw Surprise(text: "\(guest.name) is at no party")
        }
        try await Stage.refuses(guest.name, "suggests a person who is not a friend") {
            let suggestions = SuggestionService(database: guest.database, uid: guest.uid)
            try await suggestions.suggest("stranger", for: party.key)
        }
    }

    /// The question that waits in a player's inbox.
    private static func question(to player: Player) async throws -> PartyMessage {
        let inbox = Inbox(database: player.database, uid: player.uid)
        guard let question = try await inbox.messages().records.last(where: \.isQuestion) else {
            throw Surprise(text: "\(player.name) gets no question")
        }
        return question
    }

    /// Two by two points of red.
    static let picture: [UInt8] = [
        0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0x00, 0x00, 0x00, 0x0D, 0x49, 0x48, 0x44,
        0x52, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x02, 0x08, 0x02, 0x00, 0x00, 0x00, 0xFD,
        0xD4, 0x9A, 0x73, 0x00, 0x00, 0x00, 0x10, 0x49, 0x44, 0x41, 0x54, 0x78, 0x9C, 0x63, 0xB8,
        0x60, 0xA0, 0x00, 0x44, 0x0C, 0x10, 0x0A, 0x00, 0x22, 0x4E, 0x04, 0x81, 0xA1, 0xAF, 0xEE,
        0xE2, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4E, 0x44, 0xAE, 0x42, 0x60, 0x82,
    ]
}
