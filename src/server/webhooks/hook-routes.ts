import { z } from 'zod'
import type { Clock, Ids, JsonObject, OwnerBudget, SessionService } from '../../contracts/index.ts'
import { type IncomingWebhook, renderText } from '../../project/index.ts'
import {
  type AuditEntry,
  type Caller,
  decodeBody,
  type Entered,
  HttpError,
  json,
  openLimit,
  parseJson,
  plainErrors,
  type Route,
  readBytes,
  route,
} from '../http/index.ts'
import { requireSignature, requireToken } from './authenticate-delivery.ts'

// Requests of other programs that start sessions.
//
// 1. A request is answered when its session, or its message to a session, is stored. Before that a sender repeats it.
// 2. The id of the delivery is the client id of what it starts or sends: a repeated delivery is taken once, also after a crash.
// 3. The body is untrusted: nothing is done with it before the request is authenticated, and templates take its values as text.

export interface HookDependencies {
  readonly incoming?: readonly IncomingWebhook[]
  readonly clock: Clock
  readonly ids: Ids
  /** Default: 1 MB. */
  readonly maxBodyBytes?: number
  audit(entry: AuditEntry): Promise<void>
}

const defaultMaxBodyBytes = 1024 ** 2
const maxIdChars = 200
const maxKeyChars = 400

const ownerOf = (name: string): string => `hook:${name}`

/** What the sessions of each webhook may use in a day. */
export function hookBudgets(incoming: readonly IncomingWebhook[] = []): (owner: string) => OwnerBudget | undefined {
  const budgets = new Map(incoming.map(({ name, budget }) => [ownerOf(name), budget]))
  return (owner) => budgets.get(owner)
}

/** Webhooks whose agent cannot be asked. */
export const unservedHooks = (incoming: readonly IncomingWebhook[] = [], sessions: Pick<SessionService, 'agents'>): readonly string[] =>
  incoming
    .filter(({ agent }) => !sessions.agents().some(({ name }) => name === agent))
    .map(({ name, agent }) => `Webhook ${name} refuses its requests: the agent ${agent} is not served.`)

export function hookRoutes({ incoming = [], clock, ids, audit, maxBodyBytes = defaultMaxBodyBytes }: HookDependencies): readonly Route[] {
  const limited = openLimit()
  const accepted = z.union([z.object({ sessionId: z.string() }), z.object({ ignored: z.literal(true) })])
  return [
    route({
      headend: 'hooks',
      errors: plainErrors,
      method: 'POST',
      path: '/hooks/:name',
      isWebhook: true,
      access: 'public',
      summary: 'Start a session, or send it a message, by an incoming webhook of the configuration',
      description:
        'The request is signed (Standard Webhooks, or `X-Hub-Signature-256`) or has the token of the webhook. Its JSON body is the input of a template. The same delivery again is taken once.',
      pathParameters: { name: 'The name of the webhook in `webhooks.incoming`.' },
      responses: {
        202: { description: 'It is stored. `ignored`: the template gave no text, so nothing was started.', content: json(accepted) },
      },
      async handle(request) {
        const { raw, params } = request
        if (raw.method !== 'POST') throw new HttpError('method_not_allowed', 'Webhooks are sent with POST.')
        const hook = incoming.find(({ name }) => name === params.name)
        if (!hook) throw new HttpError('not_found', `There is no webhook "${params.name}".`, { remedy: 'Check `webhooks.incoming`.' })
        requireToken(raw.headers, hook)
        const bytes = await limited(() => readBytes(raw, maxBodyBytes))
        requireSignature(hook, { headers: raw.headers, body: bytes, now: clock.now() })
        const body = parseJson(decodeBody(bytes))
        const entered = await request.enterAs(callerOf(hook))
        const delivery = await readDelivery(hook, { body, headers: headersFor(hook, raw.headers) } as JsonObject)
        if (delivery.input === '') return Response.json({ ignored: true }, { status: 202 })
        const sessionId = await take(entered, { hook, delivery, newId: ids.next() })
        request.concerns(sessionId)
        await audit({
          by: ownerOf(hook.name),
          action: 'hook.receive',
          sessionId,
          ...(delivery.id !== undefined && { delivery: delivery.id }),
        })
        return Response.json({ sessionId }, { status: 202, headers: { location: `/v1/sessions/${sessionId}` } })
      },
    }),
  ]
}

const callerOf = ({ name, agent, budget, requestsPerMinute }: IncomingWebhook): Caller => ({
  principal: { id: ownerOf(name), kind: 'token', name: ownerOf(name) },
  scopes: ['run', 'read'],
  agents: [agent],
  ...(budget && { budget }),
  ...(requestsPerMinute !== undefined && { rates: { requestsPerMinute } }),
})

/** Without credentials: templates may show the others to a model. */
function headersFor({ credential }: IncomingWebhook, headers: Headers): JsonObject {
  const hidden = new Set(['authorization', 'cookie', 'x-api-key', 'proxy-authorization'])
  if (credential.kind === 'token' && credential.header !== undefined) hidden.add(credential.header.toLowerCase())
  return Object.fromEntries([...headers].filter(([name]) => !hidden.has(name)))
}

interface ReadDelivery {
  readonly input: string
  /** Absent if the sender gives none: then each request is a delivery of its own. */
  readonly id?: string
  readonly key?: string
}

const idHeaders = { standard: 'webhook-id', github: 'x-github-delivery', token: 'idempotency-key' } as const

async function readDelivery(hook: IncomingWebhook, variables: JsonObject): Promise<ReadDelivery> {
  const { name, credential } = hook
  const render = async (part: 'input' | 'id' | 'key', mostChars: number): Promise<string | undefined> => {
    const template = hook[part]
    if (template === undefined) return undefined
    const place = `webhooks.incoming.${name}.${part}`
    const rendered = await renderText({ text: template, place, firstLine: 1 }, variables)
    if (!rendered.ok) throw unusable(rendered.problems.map(({ line: _, ...problem }) => problem))
    const text = rendered.text.trim()
    if (text.length > mostChars) throw tooLong(place, text, mostChars)
    return text
  }
  const input = (await render('input', Number.POSITIVE_INFINITY)) ?? ''
  if (input === '') return { input }
  const header = idHeaders[credential.kind]
  const id = (await render('id', maxIdChars)) ?? ((variables.headers as JsonObject)[header] as string | undefined)
  if (id !== undefined && id.length > maxIdChars) throw tooLong(header, id, maxIdChars)
  const key = await render('key', maxKeyChars)
  return { input, ...(id !== undefined && id !== '' && { id }), ...(key !== undefined && key !== '' && { key }) }
}

const tooLong = (place: string, { length }: string, most: number): HttpError =>
  unusable([{ place, message: `the text has ${length} characters, at most ${most}` }])

const unusable = (problems: NonNullable<HttpError['options']['problems']>): HttpError =>
  new HttpError('unprocessable', problems.map(({ place, message }) => `${place}: ${message}`).join('; '), {
    problems,
    remedy: problems[0]?.remedy ?? 'Change the template, or what the sender sends.',
  })

interface Target {
  readonly hook: IncomingWebhook
  readonly delivery: ReadDelivery
  /** Of this delivery alone, if the sender gives none. */
  readonly newId: string
}

/** Starts a session, or sends a message to the one with the key. Resolves when that is stored. */
async function take({ sessions, admit }: Entered, { hook, delivery: { input, id, key }, newId }: Target): Promise<string> {
  const { name, agent } = hook
  if (!sessions.agents().some((each) => each.name === agent))
    throw new HttpError('unavailable', `The agent ${agent} of this webhook is not served.`, { retryAfterSeconds: 60 })
  const clientId = id ?? newId
  const sessionKey = key === undefined ? undefined : `${ownerOf(name)}/${key}`
  const known = sessionKey === undefined ? undefined : await sessions.find(sessionKey)
  // A running turn has its place.
  const place = known?.status === 'running' ? undefined : await admit(agent)
  const sessionId = await sessions.start(input, { agent, clientId, ...(sessionKey !== undefined && { key: sessionKey }) })
  if (sessionKey !== undefined && !(await hasBegun(sessions, sessionId, clientId))) await sessions.send(sessionId, input, { clientId })
  place?.keepUntil(sessions.outcome(sessionId))
  return sessionId
}

/** Whether the session began with this delivery. */
async function hasBegun(sessions: SessionService, sessionId: string, clientId: string): Promise<boolean> {
  for await (const event of sessions.events(sessionId, { live: false, until: 'turn' }))
    if (event.type === 'interaction.input.accepted') return event.clientId === clientId
  return false
}
