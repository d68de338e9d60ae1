import type { ToolFailure } from '../../../contracts/index.ts'

type ParsedUrl = { readonly ok: true; readonly url: URL } | { readonly ok: false; readonly failure: ToolFailure }

export const longestUrl = 4_096
/** Services below it are rarely web servers, and some would take a request for commands. */
const firstFreePort = 1_024

/** Parses the URL of a model or a redirect. Failures never repeat it, because it may contain a password. */
export function parseUrl(written: string, base?: URL): ParsedUrl {
  const refused = (message: string, remedy: string, kind: ToolFailure['class'] = 'invalid_input'): ParsedUrl => ({
    ok: false,
    failure: { class: kind, message, remedy },
  })
  if (written.length > longestUrl) return refused(`The URL has more than ${longestUrl} characters.`, 'Use a shorter one.')
  const url = URL.parse(written.trim(), base?.href)
  if (!url) return refused('This is not a URL.', 'Write it in full, like https://example.com/page.')
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    return refused(`URLs that begin with ${url.protocol} cannot be fetched.`, 'Use https:// or http://.')
  if (url.username !== '' || url.password !== '')
    return refused('The URL contains a user name or password.', 'Remove them: pages are fetched without authentication.')
  const port = portOf(url)
  if (!isDefaultPort(url) && port < firstFreePort)
    return refused(`Port ${port} is not allowed.`, `Use 80, 443, or ${firstFreePort} and above.`, 'blocked')
  url.hash = ''
  return { ok: true, url }
}

export const portOf = ({ port, protocol }: URL): number => (port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port))

/** Host name or IP address, without brackets. */
export const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '')

/** The same host, with or without `www.`, and the same port: one approval covers both. */
export function isSameSite(one: URL, other: URL): boolean {
  const isSamePort = portOf(one) === portOf(other) || (isDefaultPort(one) && isDefaultPort(other))
  const bareHost = (url: URL): string => url.hostname.replace(/\.$/, '').replace(/^www\./, '')
  return isSamePort && bareHost(one) === bareHost(other)
}

export const isDefaultPort = (url: URL): boolean => portOf(url) === 80 || portOf(url) === 443
