// An app that imports the database has the app's own type with it, as it has with Firebase.
@_exported public import HearthCore
