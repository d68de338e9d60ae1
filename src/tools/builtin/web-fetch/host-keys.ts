// Keys are compared by prefix, and domains nest from the end. So a key reverses the host name, like package
// names, with a dot after every part: `host:com.example.www.` begins with `host:com.example.`, and `host:com.example-x.`
// does not. Rules use ordinary names: `web_fetch(*.example.com)`. A rule that denies or asks about a host covers all its
// ports; one that allows a host covers the default ports only.
import { isIP } from 'node:net'
import type { ApprovalKey, ApprovalWish } from '../../../contracts/index.ts'
import { hostOf, isDefaultPort, portOf } from './parse-url.ts'

export function fetchApproval(url: URL): ApprovalWish {
  const host = hostOf(url).replace(/\.$/, '')
  const port = isDefaultPort(url) ? '' : `:${portOf(url)}`
  const summary = `Fetch ${url.href}`
  const named = { label: `${host}${port}`, use: `${host}${port}`, aliases: [...sameSite(host), `${host}:${portOf(url)}`] }
  if (isIP(host)) return { summary, keys: [{ key: `host:[${host}]${port}`, ...named }] }
  const labels = host.split('.')
  const wider = [labels, labels.slice(1)].filter(isOwned).map(domainKey)
  const keys = [{ key: `host:${backwards(labels)}${port}`, ...named }]
  return { summary, keys, ...(wider.length > 0 && { wider }) }
}

const sameSite = (host: string): readonly string[] =>
  isIP(host) ? [host] : [host, host.startsWith('www.') ? host.slice(4) : `www.${host}`]

const domainKey = (labels: readonly string[]): ApprovalKey => ({
  key: `host:${backwards(labels)}`,
  label: `${labels.join('.')} and its subdomains`,
  isPrefix: true,
})

const backwards = (labels: readonly string[]): string =>
  labels
    .toReversed()
    .map((label) => `${label}.`)
    .join('')

/** Public suffixes, whose subdomains have different owners: `co.uk`, `github.io`. */
const general = new Set(['ac', 'co', 'com', 'edu', 'gob', 'gov', 'gouv', 'mil', 'ne', 'net', 'or', 'org'])
const shared = new Set([
  'appspot.com',
  'azurewebsites.net',
  'blogspot.com',
  'cloudfront.net',
  'fly.dev',
  'github.io',
  'gitlab.io',
  'herokuapp.com',
  'netlify.app',
  'ngrok.io',
  'onrender.com',
  'pages.dev',
  'readthedocs.io',
  'vercel.app',
  'web.app',
  'wordpress.com',
  'workers.dev',
])

/** Whether a domain probably has one owner. If not, only the host itself is offered. */
function isOwned(labels: readonly string[]): boolean {
  if (labels.length < 2 || labels.includes('')) return false
  if (labels.length > 2) return true
  const [second = '', top = ''] = labels
  if (shared.has(`${second}.${top}`)) return false
  return top.length > 2 || !(general.has(second) || second.length <= 2)
}
