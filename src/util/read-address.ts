interface HttpAddress {
  /** As parsed: where requests go. */
  readonly url: URL
  /** Whether the text shows the host that requests go to. */
  readonly isAsWritten: boolean
}

/** Parses an `http:` or `https:` address with the parser that sends requests; `undefined` if it is not one. */
export function parseHttpAddress(written: string): HttpAddress | undefined {
  const url = URL.parse(written)
  if (!url || !/^https?:$/.test(url.protocol) || url.hostname === '') return undefined
  return { url, isAsWritten: !deceptive.test(written) && isSameHost(written, url) }
}

/** The parser reads a backslash as a slash, and drops the other characters. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
const deceptive = /[\\\u0000-\u0020\u007f]/

function isSameHost(written: string, { protocol, host, hostname }: URL): boolean {
  const authority = /^https?:\/\/(?:[^/?#]*@)?([^/?#]*)/i.exec(written)?.[1]?.toLowerCase()
  if (authority === undefined) return false
  const usualPort = protocol === 'https:' ? ':443' : ':80'
  const spelt = authority.endsWith(usualPort) ? authority.slice(0, -usualPort.length) : authority
  // International names and IPv6 addresses are displayed as parsed.
  return spelt === host || /[\u0080-\uffff]/.test(spelt) || hostname.startsWith('[')
}

/** An address for display, as parsed, without user name and password. */
export function displayAddress({ url: { protocol, username, password, host, pathname, search, hash } }: HttpAddress): string {
  const user = username === '' && password === '' ? '' : '[redacted]@'
  return `${protocol}//${user}${host}${pathname}${search}${hash}`
}
