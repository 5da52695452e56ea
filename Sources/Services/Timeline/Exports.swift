// The timeline service uses people, their relations and files, so it exports them.
@_exported public import Attachments
@_exported public import Social
