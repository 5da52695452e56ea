// swift-format-ignore-file
import Foundation
import HearthDatabase

final class Post {
    var key: String?
    let imageURL: String
    let imageHeight: Double
    let creationDate: Date
    var likeCount: Int
    let posterUID: String
    var isLiked = false

    var dictValue: [String: Any] {
        return [
            "image_url": imageURL,
            "image_height": imageHeight,
            "created_at": creationDate.timeIntervalSince1970,
            "like_count": likeCount,
            "poster": ["uid": posterUID, "username": "user \(posterUID)"],
        ]
    }

    init(imageURL: String, imageHeight: Double, posterUID: String) {
        self.imageURL = imageURL
        self.imageHeight = imageHeight
        self.creationDate = Date()
        self.likeCount = 0
        self.posterUID = posterUID
    }

    init?(snapshot: DataSnapshot) {
        guard let dict = snapshot.value as? [String: Any],
            let imageURL = dict["image_url"] as? String,
            let imageHeight = dict["image_height"] as? Double,
            let createdAgo = dict["created_at"] as? TimeInterval,
            let likeCount = dict["like_count"] as? Int,
            let userDict = dict["poster"] as? [String: Any],
            let uid = userDict["uid"] as? String
        else { return nil }

        self.key = snapshot.key
        self.imageURL = imageURL
        self.imageHeight = imageHeight
        self.creationDate = Date(timeIntervalSince1970: createdAgo)
        self.likeCount = likeCount
        self.posterUID = uid
    }
}

struct FollowService {
    static func setIsFollowing(
        _ isFollowing: Bool, fromUser uid: String, to other: String,
        success: @escaping (Bool) -> Void
    ) {
        let followData: [String: Any] =
            isFollowing
            ? ["followers/\(other)/\(uid)": true, "following/\(uid)/\(other)": true]
            : ["followers/\(other)/\(uid)": NSNull(), "following/\(uid)/\(other)": NSNull()]
        Database.database().reference().updateChildValues(followData) { (error, _) in
            success(error == nil)
        }
    }

    static func isUser(
        _ uid: String, following other: String,
        byCurrentUserWithCompletion completion: @escaping (Bool) -> Void
    ) {
        let ref = Database.database().reference().child("followers").child(other)
        ref.queryEqual(toValue: nil, childKey: uid).observeSingleEvent(
            of: .value,
            with: { (snapshot) in
                if let _ = snapshot.value as? [String: Bool] {
                    completion(true)
                } else {
                    completion(false)
                }
            })
    }
}

struct PostService {
    static func create(_ post: Post, success: @escaping (Bool) -> Void) {
        let rootRef = Database.database().reference()
        let newPostRef = rootRef.child("posts").child(post.posterUID).childByAutoId()
        guard let newPostKey = newPostRef.key else { return success(false) }
        post.key = newPostKey

        let followersRef = rootRef.child("followers").child(post.posterUID)
        followersRef.observeSingleEvent(of: .value, with: { (snapshot) in
            let followerKeys = snapshot.children.compactMap { ($0 as? DataSnapshot)?.key }
            let timelinePostDict = ["poster_uid": post.posterUID]
            var updatedData: [String: Any] = [
                "timeline/\(post.posterUID)/\(newPostKey)": timelinePostDict
            ]
            for key in followerKeys {
                updatedData["timeline/\(key)/\(newPostKey)"] = timelinePostDict
            }
            updatedData["posts/\(post.posterUID)/\(newPostKey)"] = post.dictValue
            rootRef.updateChildValues(updatedData) { error, _ in
                success(error == nil)
            }
        })
    }

    static func show(
        forKey postKey: String, posterUID: String, currentUID: String,
        completion: @escaping (Post?) -> Void
    ) {
        let ref = Database.database().reference().child("posts").child(posterUID).child(postKey)
        ref.observeSingleEvent(of: .value, with: { (snapshot) in
            guard let post = Post(snapshot: snapshot) else { return completion(nil) }
            LikeService.isPostLiked(post, by: currentUID) { (isLiked) in
                post.isLiked = isLiked
                completion(post)
            }
        })
    }

    /// All posts of a timeline: the keys first, then each post, all at once.
    static func timeline(for uid: String, completion: @escaping ([Post]) -> Void) {
        let timelineRef = Database.database().reference().child("timeline").child(uid)
        timelineRef.observeSingleEvent(of: .value, with: { (snapshot) in
            guard let snapshot = snapshot.children.allObjects as? [DataSnapshot]
            else { return completion([]) }

            let dispatchGroup = DispatchGroup()
            var posts = [Post]()
            for postSnap in snapshot {
                guard let postDict = postSnap.value as? [String: Any],
                    let posterUID = postDict["poster_uid"] as? String
                else { continue }

                dispatchGroup.enter()
                PostService.show(forKey: postSnap.key, posterUID: posterUID, currentUID: uid) {
                    (post) in
                    if let post = post {
                        posts.append(post)
                    }
                    dispatchGroup.leave()
                }
            }
            dispatchGroup.notify(
                queue: .main,
                execute: {
                    completion(posts.sorted { ($0.key ?? "") > ($1.key ?? "") })
                })
        })
    }
}

struct LikeService {
    static func create(
        for post: Post, by uid: String, success: @escaping (Bool, Int) -> Void
    ) {
        setLiked(true, post, by: uid, success: success)
    }

    static func delete(
        for post: Post, by uid: String, success: @escaping (Bool, Int) -> Void
    ) {
        setLiked(false, post, by: uid, success: success)
    }

    static func isPostLiked(_ post: Post, by uid: String, completion: @escaping (Bool) -> Void) {
        guard let postKey = post.key else { return completion(false) }
        let likesRef = Database.database().reference().child("postLikes").child(postKey)
        likesRef.queryEqual(toValue: nil, childKey: uid).observeSingleEvent(
            of: .value,
            with: { (snapshot) in
                completion(snapshot.hasChild(uid))
            })
    }

    private static func setLiked(
        _ isLiked: Bool, _ post: Post, by uid: String, success: @escaping (Bool, Int) -> Void
    ) {
        guard let key = post.key else { return success(false, 0) }
        let likesRef = Database.database().reference().child("postLikes").child(key).child(uid)
        likesRef.setValue(isLiked ? true : nil) { (error, _) in
            if let error = error {
                print("could not like: \(error.localizedDescription)")
                return success(false, 0)
            }

            let likeCountRef = Database.database().reference().child("posts")
                .child(post.posterUID).child(key).child("like_count")
            likeCountRef.runTransactionBlock({ (mutableData) -> TransactionResult in
                let currentCount = mutableData.value as? Int ?? 0
                mutableData.value = isLiked ? currentCount + 1 : currentCount - 1
                return TransactionResult.success(withValue: mutableData)
            }, andCompletionBlock: { (error, committed, snapshot) in
                success(error == nil && committed, snapshot?.value as? Int ?? 0)
            })
        }
    }
}
