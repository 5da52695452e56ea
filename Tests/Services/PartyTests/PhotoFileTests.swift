import Attachments
import Foundation
import HearthDatabase
import HearthStorage
import Photos
import ServiceSupport
import Testing

@testable import Party

@Suite("photos of parties as files")
struct PhotoFileTests {
    /// A server with the rules of parties, in the tree and for files, that these tests share.
    private static let server = Result { try ServiceServer(rules: "party", files: "party") }

    /// A party of Ann's that Bob comes to and Cyd is invited to; Eve knows none of them.
    private struct Party {
        let ann, bob, cyd, eve: Person
        let key: String

        init() async throws {
            let server = try PhotoFileTests.server.get()
            (ann, bob, cyd) = try await server.circle()
            eve = try await server.partygoer("Eve")
            key = try await ann.parties.create(description: "Tea", date: midsummer).key
            try await bob.parties.answer(bob.question(), isComing: true)
            try await ann.start()
        }

        func file(_ photo: String, _ person: Person) -> StorageReference {
            Storage.storage(app: person.app).reference(withPath: "parties/\(key)/photos/\(photo)")
        }

        /// Bytes that a person is given; nil when the rules refuse it, -1 when there are none.
        func seen(_ photo: String, by person: Person) async throws -> Int64? {
            do {
                return try await file(photo, person).sizeIfThere() ?? -1
            } catch StorageError.unauthorized {
                return nil
            }
        }
    }

    @Test("guests see what has joined the party, and no other user does")
    func guests() async throws {
        let party = try await Party()
        let (ann, bob, cyd, eve) = (party.ann, party.bob, party.cyd, party.eve)
        let photo = try Picture.wide.get()
        let count = Int64(photo.png.count)
        let name = try await bob.photos.add(photo, to: party.key)
        for (person, size) in [(ann, count), (bob, count), (cyd, nil), (eve, nil)] {
            #expect(try await party.seen(name, by: person) == size)
        }
        try await ann.photos.accept(ann.question())
        #expect(try await party.seen(name, by: cyd) == count)
        #expect(try await cyd.photos.load(name) == photo)
        #expect(try await party.seen(name, by: eve) == nil)
        #expect(try await ann.mayWrite(["parties/\(party.key)/guests/\(cyd.uid)": false]))
        #expect(try await party.seen(name, by: cyd) == nil)
        // No user writes over it, and it stays as long as there is the photo.
        for person in [ann, bob] {
            await #expect(throws: StorageError.self) {
                try await party.file(name, person).putDataAsync(Data([1]))
            }
            await #expect(throws: StorageError.self) { try await party.file(name, person).delete() }
        }
        try await bob.photos.delete(name)
        #expect(try await party.seen(name, by: bob) == nil)
        #expect(try await bob.accounts.me().uploads.isEmpty)
        // It is put back by no user: it is no photo any more.
        await #expect(throws: StorageError.self) {
            try await party.file(name, bob).putDataAsync(Data(photo.png))
        }
    }

    @Test("a cut between record, bytes and link leaves nothing behind the next start")
    func cuts() async throws {
        let party = try await Party()
        let bob = party.bob
        let fields: [String: Any] = [
            "owner": bob.uid, "host": party.ann.uid, "party": party.key, "file": 60,
        ]
        // The bytes never came.
        let first = try #require(bob.place("photos").childByAutoId().key)
        let note: [String: Any] = [
            "photos/\(first)": fields, "users/\(bob.uid)/uploads/\(first)": party.key,
        ]
        #expect(try await bob.mayWrite(note))
        #expect(try await bob.photos.mend() == [.removed(first)])
        #expect(try await bob.node("photos/\(first)") == "denied")
        // The record was deleted, and the bytes were not.
        let second = try await bob.photos.add(Picture.small.get(), to: party.key)
        var update = PartyUpdate(by: bob.uid)
        update.removeOwnPhoto(second, of: party.key)
        #expect(try await bob.mayWrite(update.values))
        #expect(try await bob.photos.mend() == [.removed(second)])
        #expect(try await bob.accounts.me().uploads.isEmpty)
        // There is room for another one only when the bytes are gone.
        let store = PartyPhotoStore(
            database: bob.database,
            uid: bob.uid,
            party: try await bob.parties.show(party.key),
        )
        try await store.store(Picture.wide.get(), forKey: second)
        #expect(try await store.load(forKey: second) == Picture.wide.get())
    }

    @Test("photos in the database move to files, and are seen as before")
    func move() async throws {
        let party = try await Party()
        let (ann, bob, cyd) = (party.ann, party.bob, party.cyd)
        let photo = try Picture.wide.get()
        let name = try #require(bob.place("photos").childByAutoId().key)
        let old: [String: Any] = [
            "owner": bob.uid, "host": ann.uid, "party": party.key,
            "png": Data(photo.png).base64EncodedString(),
        ]
        #expect(try await bob.mayWrite(["photos/\(name)": old]))
        #expect(try await bob.mayWrite(["users/\(bob.uid)/photos/\(name)": true]))
        #expect(try await ann.mayWrite(["parties/\(party.key)/photos/\(name)": true]))
        #expect(try await cyd.photos.load(name) == photo)
        #expect(try await bob.photos.move() == [name])
        #expect(try await bob.photos.move().isEmpty)
        try await expect(
            bob,
            at: "photos/\(name)",
            ["owner": bob.uid, "host": ann.uid, "party": party.key, "file": photo.png.count]
        )
        #expect(try await cyd.photos.load(name) == photo)
        #expect(try await party.seen(name, by: cyd) == Int64(photo.png.count))
    }

    @Test("a person's picture is seen by all, replaced with its bytes, and mended after a cut")
    func picture() async throws {
        let server = try Self.server.get()
        let (ann, eve) = (try await server.partygoer("Ann"), try await server.partygoer("Eve"))
        func size(_ key: String) async throws -> Int64? {
            let storage = Storage.storage(app: eve.app)
            return try await storage.reference(withPath: "people/\(ann.uid)/\(key)").sizeIfThere()
        }
        var keys: [String] = []
        for photo in [try Picture.wide.get(), try Picture.small.get()] {
            let url = try #require(try await ann.accounts.setPicture(photo))
            let shown = try await eve.accounts.profile(of: ann.uid)?.picture
            #expect(shown == url.absoluteString)
            let key = shown?.split(separator: "%2F").last?.split(separator: "?").first
            keys.append(String(try #require(key)))
            #expect(try await size(keys.last ?? "") == Int64(photo.png.count))
            #expect(try await ann.accounts.me().pictures.isEmpty)
        }
        #expect(try await size(keys[0]) == nil)
        // Without a note no user removes one, and none is added.
        let place = Storage.storage(app: ann.app).reference(
            withPath: "people/\(ann.uid)/\(keys[1])"
        )
        await #expect(throws: StorageError.self) { try await place.delete() }
        // The update that names another picture was done, and the bytes are there still.
        let update: [String: Any] = [
            "profiles/\(ann.uid)/picture": "https://example.com/a.png",
            "users/\(ann.uid)/pictures/\(keys[1])": true,
        ]
        #expect(try await ann.mayWrite(update))
        #expect(try await ann.accounts.mendPictures() == [keys[1]])
        #expect(try await size(keys[1]) == nil)
        #expect(try await ann.accounts.me().pictures.isEmpty)
        // A picture that is elsewhere is replaced, and one is taken away.
        try await ann.accounts.setPicture(Picture.small.get())
        try await ann.accounts.setPicture(nil)
        #expect(try await eve.accounts.profile(of: ann.uid)?.picture == nil)
        #expect(try await ann.accounts.me().pictures.isEmpty)
    }
}
