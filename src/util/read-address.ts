export interface ReadAddress {
  /** What the parser makes of it: requests go there, whatever the text looks like. */
  readonly url: URL
  /** Whether the text says just that, but for a slash at its end and the case of letters before its path. */
  readonly isAsWritten: boolean
}

/** An `http:` or `https:` address, read once, by the parser that sends requests; nothing where it is none. */
export function readAddress(written: string): ReadAddress | undefined {
  const url = URL.parse(written)
  if (!url || !/^https?:$/.test(url.protocol) || url.hostname === '') return undefined
  const spelt = written.replace(/^[a-z]+:\/\/[^/\\?#]*/i, (start) => start.toLowerCase())
  return { url, isAsWritten: withoutEnd(spelt) === withoutEnd(url.href) }
}

const withoutEnd = (address: string): string => address.replace(/\/+$/, '')

/** An address for people's eyes, as it is read and not as it is written. Whoever is named in it as a user is hidden. */
export function shownAddress({ url: { protocol, username, password, host, pathname, search, hash } }: ReadAddress): string {
  const user = username === '' && password === '' ? '' : '[redacted]@'
  return `${protocol}//${user}${host}${pathname}${search}${hash}`
}
