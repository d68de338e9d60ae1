// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are written like that
import type { JsonObject } from '../../contracts/index.ts'
import { choice, type FieldConflict, integer, literal, text } from '../../policy/shape.ts'
import { parseHttpAddress } from '../../util/read-address.ts'
import type { Shape } from './shape.ts'

/** What happens to a session and can be sent to a webhook. */
export const sessionEvents = ['completed', 'failed', 'waiting', 'interrupted'] as const
export type SessionEvent = (typeof sessionEvents)[number]

export const signatures = ['standard', 'github'] as const

/** The paths of services such as Slack are secrets: they may be variables. */
export function checkWebhookUrl(written: string): string | undefined {
  const read = parseHttpAddress(written)
  if (!read) return 'must be an http: or https: address'
  if (read.url.username !== '' || read.url.password !== '') return 'cannot have a user: requests are signed instead'
  return read.isAsWritten ? undefined : `cannot have spaces or characters that change the address: requests would go to ${read.url.origin}`
}

const checkHeader = (written: string): string | undefined =>
  /^[\w!#$%&'*+.^`|~-]+$/.test(written) ? undefined : 'must be the name of a header'

const outgoing: Shape = {
  kind: 'fields',
  // The secret of one layer signs nothing for the address of another.
  isWhole: true,
  required: ['url', 'secret'],
  of: {
    url: text('https://ci.example.com/troupe', checkWebhookUrl),
    secret: text('${WEBHOOK_SECRET}'),
    events: { kind: 'list', of: choice(sessionEvents), example: '["failed", "waiting"]', isRequired: true },
    agents: { kind: 'list', of: literal('review'), example: '["review", "mail-*"]', isRequired: true },
  },
}

const incoming: Shape = {
  kind: 'fields',
  isWhole: true,
  required: ['agent', 'input'],
  findConflicts: findCredentialConflicts,
  of: {
    agent: literal('triage'),
    input: literal('Triage this issue: {{ body.issue.title }}'),
    secret: text('${GITHUB_SECRET}'),
    signature: choice(signatures),
    token: text('${GITLAB_TOKEN}'),
    header: literal('X-Gitlab-Token', checkHeader),
    id: literal('{{ body.event_id }}'),
    key: literal('{{ body.issue.number }}'),
    budget: {
      kind: 'fields',
      of: { costUsdPerDay: { kind: 'value', type: { kind: 'number', min: 0 }, example: '5' }, tokensPerDay: integer(0, '100000') },
    },
    requestsPerMinute: integer(1, '60'),
  },
}

/** A request is signed, or has a token. */
function findCredentialConflicts({ secret, token, signature, header }: JsonObject): readonly FieldConflict[] {
  const keep = '`secret` for senders that sign their requests, or `token` for others.'
  if (secret !== undefined && token !== undefined)
    return [{ key: 'token', message: 'has both `secret` and `token`', remedy: `Keep ${keep}` }]
  if (secret === undefined && token === undefined)
    return [{ key: 'agent', message: 'has neither `secret` nor `token`: anybody could start sessions', remedy: `Add ${keep}` }]
  const unused = token === undefined ? { key: 'header', value: header } : { key: 'signature', value: signature }
  if (unused.value === undefined) return []
  const owner = token === undefined ? 'secret' : 'token'
  return [{ key: unused.key, message: `has \`${unused.key}\`, which has no effect with \`${owner}\``, remedy: `Remove \`${unused.key}\`.` }]
}

const name = /^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$/
const naming = 'Use up to 63 letters, digits, `-` and `_`'

export const webhooksShape: Shape = {
  kind: 'fields',
  of: {
    outgoing: { kind: 'names', of: outgoing, example: '{ "ci": { "url": "https://…", "secret": "${WEBHOOK_SECRET}" } }', name, naming },
    incoming: { kind: 'names', of: incoming, example: '{ "issues": { "agent": "triage", "input": "{{ body.title }}" } }', name, naming },
  },
}
