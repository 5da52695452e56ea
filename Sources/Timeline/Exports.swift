// People and what is between them come with a service that is about them.
@_exported public import SocialGraph
