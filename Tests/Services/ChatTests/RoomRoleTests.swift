import Chat
import Foundation
import HearthDatabase
import Social
import ServiceSupport
import Testing

/// The person who does something in a room: a person with a role in it, or an outsider.
enum RoomActor: String, CaseIterable, Sendable {
    case owner, admin, member, watcher, banned, outsider

    var role: RoomRole? { RoomRole(rawValue: rawValue) }
}

/// Something that is done in a room, mostly to another person.
enum RoomDeed: String, CaseIterable, Sendable {
    case see, read, send, rename, invite, inviteAsAdmin, inviteBanned, join, leave
    case removeMember, removeAdmin, removeOwner, banMember, banAdmin, banOutsider, unban
    case makeAdmin, makeWatcher, demoteAdmin, demoteOwner, raiseSelf
    case markRead, seeReadStatus, type, seeTyping, flag, seeFlags, mute

    /// Whether the room has other members or roles afterwards.
    var changesMembers: Bool {
        switch self {
        case .see, .read, .send, .rename, .markRead, .seeReadStatus, .type, .seeTyping, .flag,
            .seeFlags, .mute, .raiseSelf:
            false
        case .invite, .inviteAsAdmin, .inviteBanned, .join, .leave, .removeMember, .removeAdmin,
            .removeOwner, .banMember, .banAdmin, .banOutsider, .unban, .makeAdmin, .makeWatcher,
            .demoteAdmin, .demoteOwner:
            true
        }
    }
}

@Suite("who may do what in a room")
struct RoomRoleTests {
    /// Who may, in a private room; in a public one more people see it, and outsiders join.
    private static func mayDo(_ deed: RoomDeed, in type: RoomType) -> Set<RoomActor> {
        let inside: Set<RoomActor> = [.owner, .admin, .member, .watcher]
        let isPublic = type == .public
        return switch deed {
        case .see, .read, .flag: isPublic ? inside.union([.outsider]) : inside
        case .leave, .markRead, .seeReadStatus, .seeTyping: inside
        case .send, .invite, .type: [.owner, .admin, .member]
        case .join: isPublic ? [.outsider] : []
        case .rename, .removeMember, .banMember, .banOutsider, .unban, .inviteBanned, .makeWatcher,
            .seeFlags:
            [.owner, .admin]
        case .inviteAsAdmin, .removeAdmin, .removeOwner, .banAdmin, .makeAdmin, .demoteAdmin,
            .demoteOwner:
            [.owner]
        // No one makes more of themselves, and an owner is one.
        case .raiseSelf: [.owner]
        case .mute: Set(RoomActor.allCases)
        }
    }

    @Test("each role may do what it may, and nothing else", arguments: RoomType.allCases)
    func table(type: RoomType) async throws {
        let people = try await RoomCompany.guests(RoomActor.allCases.count + 5)
        let cast = Dictionary(uniqueKeysWithValues: zip(RoomActor.allCases, people))
        let others = Array(people.dropFirst(RoomActor.allCases.count))
        guard let owner = cast[.owner] else { return }
        for actor in RoomActor.allCases {
            guard let who = cast[actor] else { continue }
            var room = try await Self.room(type, owner, cast, others)
            for deed in RoomDeed.allCases {
                let isAllowed = Self.mayDo(deed, in: type).contains(actor)
                let failure = await RoomCompany.failure {
                    try await Self.perform(deed, by: who, in: room, others)
                }
                if isAllowed {
                    #expect(failure == nil, "\(actor) \(deed) \(type)")
                    // Who comes, goes or becomes something else does so for one case alone.
                    if deed.changesMembers {
                        room = try await Self.room(type, owner, cast, others)
                    }
                } else {
                    let isRight = failure.map { $0.isRefusal || Self.isMoot(deed, $0) } ?? false
                    #expect(isRight, "\(actor) \(deed) \(type): \(String(describing: failure))")
                }
            }
        }
    }

    @Test("what a role says that it may is what the rules let it do")
    func words() {
        for actor in RoomActor.allCases {
            guard let role = actor.role else { continue }
            func may(_ deed: RoomDeed) -> Bool { Self.mayDo(deed, in: .private).contains(actor) }
            #expect(role.isIn == may(.see))
            #expect(role.maySpeak == may(.send))
            #expect(role.mayRename == may(.rename))
            #expect(role.mayInvite(as: .member) == may(.invite))
            #expect(role.mayInvite(as: .admin) == may(.inviteAsAdmin))
            #expect(role.mayInvite(as: .member, whoIs: .banned) == may(.inviteBanned))
            #expect(role.mayPutOut(.member) == may(.removeMember))
            #expect(role.mayPutOut(.admin) == may(.removeAdmin))
            #expect(role.mayPutOut(.banned) == may(.unban))
            #expect(role.mayChange(from: .member, to: .admin) == may(.makeAdmin))
            #expect(role.mayChange(from: .member, to: .watcher) == may(.makeWatcher))
            #expect(role.mayChange(from: .owner, to: .member) == may(.demoteOwner))
            #expect(!role.mayInvite(as: .banned))
        }
    }

    /// Joining and leaving are distinguished before anything is sent: who is in cannot come in.
    private static func isMoot(_ deed: RoomDeed, _ failure: ServiceError) -> Bool {
        switch (deed, failure) {
        case (.join, .taken), (.leave, .notFound): true
        default: false
        }
    }

    /// A room with a person of each role, and of `others` a member, an admin, an owner and a person who is banned.
    private static func room(
        _ type: RoomType,
        _ owner: RoomGuest,
        _ cast: [RoomActor: RoomGuest],
        _ others: [RoomGuest],
    ) async throws -> String {
        var roles = zip(others, [RoomRole.member, .admin, .owner, .banned]).map { ($0.uid, $1) }
        for (actor, guest) in cast {
            if let role = actor.role { roles.append((guest.uid, role)) }
        }
        let room = owner.person.place("rooms").childByAutoId().key ?? ""
        // As the service makes one, but with everybody in the role they are to have: one update and not ten.
        var update = RoomUpdate.making(
            room,
            name: "Tea",
            type: type,
            inviting: Set(roles.map(\.0)),
            key: "-made",
            by: owner.uid,
            summary: "",
        )
        var facts = try #require(update["rooms/\(room)"] as? [String: Any])
        facts["members"] = Dictionary(uniqueKeysWithValues: roles.map { ($0, $1.rawValue) })
        update["rooms/\(room)"] = facts
        for (uid, role) in roles where role == .banned {
            update["userRooms/\(uid)/\(room)"] = NSNull()
        }
        try #require(try await owner.rooms.write(update, to: "make a room of all roles"))
        return room
    }

    private static func perform(
        _ deed: RoomDeed,
        by who: RoomGuest,
        in room: String,
        _ others: [RoomGuest],
    ) async throws {
        let rooms = who.rooms
        let (member, admin, owner) = (others[0].uid, others[1].uid, others[2].uid)
        let (banned, outsider) = (others[3].uid, others[4].uid)
        switch deed {
        case .see: _ = try await rooms.room(room)
        case .read: _ = try await rooms.olderEvents(in: room, before: nil)
        case .send: try await rooms.send(text: "hello", to: room)
        case .rename: try await rooms.rename(room, to: "Coffee")
        case .invite: try await rooms.invite(outsider, to: room)
        case .inviteAsAdmin: try await rooms.invite(outsider, to: room, as: .admin)
        case .inviteBanned: try await rooms.invite(banned, to: room)
        case .join: try await rooms.join(room)
        case .leave: try await rooms.leave(room)
        case .removeMember: try await rooms.remove(member, from: room)
        case .removeAdmin: try await rooms.remove(admin, from: room)
        case .removeOwner: try await rooms.remove(owner, from: room)
        case .banMember: try await rooms.ban(member, from: room)
        case .banAdmin: try await rooms.ban(admin, from: room)
        case .banOutsider: try await rooms.ban(outsider, from: room)
        case .unban: try await rooms.unban(banned, in: room)
        case .makeAdmin: try await rooms.setRole(.admin, of: member, in: room)
        case .makeWatcher: try await rooms.setRole(.watcher, of: member, in: room)
        case .demoteAdmin: try await rooms.setRole(.member, of: admin, in: room)
        case .demoteOwner: try await rooms.setRole(.member, of: owner, in: room)
        case .raiseSelf: try await who.raise(in: room)
        case .markRead: try await rooms.markRead(room, upTo: try await others[2].newest(in: room))
        case .seeReadStatus: try await who.look("readStatus/\(room)")
        case .type: try await rooms.startTyping(in: room)
        case .seeTyping: try await who.look("typing/\(room)")
        case .flag: try await rooms.flag(try await others[2].newest(in: room), in: room)
        case .seeFlags: _ = try await rooms.flags(in: room)
        case .mute: try await rooms.mute(room)
        }
    }
}

extension RoomGuest {
    /// Reads without making anything of it.
    fileprivate func look(_ path: String) async throws {
        _ = try await person.place(path).getData()
    }

    /// Makes an owner of oneself, in the one write that this is.
    fileprivate func raise(in room: String) async throws {
        try await person.place("rooms/\(room)/members/\(uid)").setValue("owner")
    }

    /// The key of the newest event.
    fileprivate func newest(in room: String) async throws -> String {
        try await rooms.room(room).lastEvent.key
    }
}
