export interface HttpAddress {
  /** What the parser makes of it: requests go there, whatever the text looks like. */
  readonly url: URL
  /** Whether who reads the text sees where requests go. Of its path that need not hold, nor of letters that a host is read without. */
  readonly isAsWritten: boolean
}

/** An `http:` or `https:` address, read once, by the parser that sends requests; nothing where it is none. */
export function parseHttpAddress(written: string): HttpAddress | undefined {
  const url = URL.parse(written)
  if (!url || !/^https?:$/.test(url.protocol) || url.hostname === '') return undefined
  return { url, isAsWritten: !deceptive.test(written) && isSameHost(written, url) }
}

/** The parser takes the first for a slash, and leaves the others out. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
const deceptive = /[\\\u0000-\u0020\u007f]/

function isSameHost(written: string, { protocol, host, hostname }: URL): boolean {
  const authority = /^https?:\/\/(?:[^/?#]*@)?([^/?#]*)/i.exec(written)?.[1]?.toLowerCase()
  if (authority === undefined) return false
  const usualPort = protocol === 'https:' ? ':443' : ':80'
  const spelt = authority.endsWith(usualPort) ? authority.slice(0, -usualPort.length) : authority
  // Those who write their host in their own letters, or an address in full, see it as it is read wherever it is shown.
  return spelt === host || /[\u0080-\uffff]/.test(spelt) || hostname.startsWith('[')
}

/** An address for people's eyes, as it is read and not as it is written. Whoever is named in it as a user is hidden. */
export function displayAddress({ url: { protocol, username, password, host, pathname, search, hash } }: HttpAddress): string {
  const user = username === '' && password === '' ? '' : '[redacted]@'
  return `${protocol}//${user}${host}${pathname}${search}${hash}`
}
