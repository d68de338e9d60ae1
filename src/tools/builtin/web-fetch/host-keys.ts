/*
 * Keys are compared from their beginning, and domains nest from their end. So a key names a host backwards, as packages are
 * named, with a dot behind every part: `host:com.example.www.` begins with `host:com.example.`, and `host:com.example-x.`
 * does not. Rules name hosts as people do: `web_fetch(*.example.com)`. One that denies or asks about a host is about all its
 * ports; one that allows a host is about the usual ports alone.
 */
import { isIP } from 'node:net'
import type { ApprovalKey, ApprovalWish } from '../../../contracts/index.ts'
import { hostOf, portOf } from './parse-url.ts'

/** What has to be allowed before a page is fetched. */
export function fetchApproval(url: URL): ApprovalWish {
  const host = hostOf(url).replace(/\.$/, '')
  const isDefault = portOf(url) === 80 || portOf(url) === 443
  const port = isDefault ? '' : `:${portOf(url)}`
  const summary = `Fetch ${url.href}`
  const named = { label: `${host}${port}`, use: `${host}${port}`, aliases: [...sameSite(host), `${host}:${portOf(url)}`] }
  if (isIP(host)) return { summary, keys: [{ key: `host:[${host}]${port}`, ...named }] }
  const labels = host.split('.')
  const wider = [labels, labels.slice(1)].filter(isOwned).map(domainKey)
  const keys = [{ key: `host:${backwards(labels)}${port}`, ...named }]
  return { summary, keys, ...(wider.length > 0 && { wider }) }
}

/** Redirects between the two are followed. */
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

/** Under these, what stands before the last dot belongs to many: `co.uk`, `github.io`. */
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

/** Whether a domain is likely to be one owner's. Where that is not sure, only the host itself is offered. */
function isOwned(labels: readonly string[]): boolean {
  if (labels.length < 2 || labels.includes('')) return false
  if (labels.length > 2) return true
  const [second = '', top = ''] = labels
  if (shared.has(`${second}.${top}`)) return false
  return top.length > 2 || !(general.has(second) || second.length <= 2)
}
