"""Who may do what: authentication, roles, audit and masked secrets."""
