// An app that imports files has the app's own type with it, as it has with Firebase.
@_exported public import HearthCore
