/** `postgres://host:port/database`: an address without user, password and parameters, whatever it contains. */
export const withoutCredentials = (url: string): string => url.replace(/^([a-z+]+:\/\/)(?:.*@)?/is, '$1').replace(/[?#].*/s, '')
