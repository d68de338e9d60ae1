import type {
  Conversations as Controls,
  ConversationAddress,
  InputPart,
  InteractionEvent,
  Json,
  OutgoingFile,
  SessionEntry,
  SessionService,
} from '../../contracts/index.ts'
import { toBase64 } from '../../util/encode-bytes.ts'
import type { Redactor } from '../../util/redact.ts'
import { runTree, turnLines } from '../../view/index.ts'
import type { KernelServer } from '../shared/kernel-types.ts'
import { type Conversation, idOf, keyOf, principalIdOf, recipientOf } from './conversation.ts'
import { requestData } from './questions.ts'
import { redactRequest } from './redacted-channel.ts'
import { isUnknownSession, type RouterCore } from './router-core.ts'

// What people do with a conversation besides writing, such as with buttons. A channel sees its own conversations only.

interface ControlOptions {
  /** Its id. */
  readonly channel: string
  server(): KernelServer | undefined
  /** Once conversations were read, and sessions can be used. */
  core(): Promise<RouterCore>
  /** Journals are redacted already: this is for secrets that were not known then. */
  redactor(): Redactor
  /** Counts a message of a person. Whether it is one too many. */
  exceeds(personId: string, messageId: string): Promise<boolean>
  /** Those that were read. */
  find(key: string): Conversation | undefined
}

export function conversationControls({ channel, server, core, redactor, exceeds, find }: ControlOptions): Controls {
  const placeOf = ({ userId, conversation }: ConversationAddress) =>
    recipientOf({ channel, userId, ...(conversation !== undefined && { conversation }) })
  const byOf = ({ userId, by = userId }: ConversationAddress): string => principalIdOf({ channel }, { id: by })
  const sessionOf = async (at: ConversationAddress): Promise<{ readonly core: RouterCore; readonly entry: SessionEntry } | undefined> => {
    const current = await core()
    const sessionId = find(keyOf(placeOf(at)))?.sessionId
    const entry = sessionId === undefined ? undefined : await current.sessions.get(sessionId)
    return entry && { core: current, entry }
  }

  return {
    async stop(at) {
      const found = await sessionOf(at)
      return found !== undefined && stopTask(found.core.sessions, found.entry, byOf(at))
    },
    async retry(at) {
      const found = await sessionOf(at)
      const { sent, waiting = [] } = find(keyOf(placeOf(at))) ?? {}
      if (!found || sent === undefined || isBusy(found.entry) || waiting.length > 0) return false
      const { sessions } = found.core
      const { sessionId, seq } = found.entry
      const events = await eventsOf(sessions, found.entry)
      const last = events.findLast((event) => event.type === 'interaction.input.accepted' && event.clientId === sent)
      if (last?.type !== 'interaction.input.accepted') return false
      if (!isRead(sent, events)) await sessions.sendHeld(sessionId, byOf(at))
      else {
        // The same press twice is one message.
        const clientId = idOf(placeOf(at), `retry:${sent}:${seq}`)
        if (await exceeds(at.by ?? at.userId, clientId)) return false
        await sessions.send(sessionId, await withBytes(last.parts, sessionId, sessions), { clientId, mode: 'queue' })
        await found.core.conversations.update(placeOf(at), (before) => (before.sessionId === sessionId ? { sent: clientId } : {}))
      }
      return true
    },
    async details(at) {
      const found = await sessionOf(at)
      if (!found) return nothingYet
      const tree = runTree(await eventsOf(found.core.sessions, found.entry))
      const root = tree.roots[0]
      const lines = root ? turnLines(root, found.core.clock.now()) : []
      return lines.length === 0 ? nothingYet : redactor().text(lines.join('\n'))
    },
    async export(at): Promise<OutgoingFile | undefined> {
      const found = await sessionOf(at)
      const { id: owner } = find(keyOf(placeOf(at)))?.owner ?? { id: at.userId }
      // It has what tools returned, which others in the thread have not seen.
      if (!found || (at.by !== undefined && at.by !== owner)) return undefined
      const { sessionId } = found.entry
      // As people without `admin` see it.
      const document = await (server()?.shown(found.core.sessions) ?? found.core.sessions).export(sessionId)
      const bytes = new TextEncoder().encode(JSON.stringify(redactor().json(document as unknown as Json)))
      const name = `session-${sessionId.replaceAll(/[^\w-]/g, '_')}.json`
      return { name, mediaType: 'application/json', bytes: bytes.byteLength, read: async () => bytes }
    },
    link(at) {
      const sessionId = find(keyOf(placeOf(at)))?.sessionId
      const url = server()?.url
      return url === undefined || sessionId === undefined ? undefined : `${url}/#/sessions/${encodeURIComponent(sessionId)}`
    },
    async open(personId) {
      const { sessions, conversations, isTrusted } = await core()
      const entries = await sessions.list({ owner: principalIdOf({ channel }, { id: personId }), status: ['running', 'suspended'] })
      const all = entries.map(async (entry) => {
        const own = conversations.ofSession(entry.sessionId)
        if (own?.channel !== channel) return []
        const open = await requestsOf(sessions, entry.sessionId)
        const { userId, conversation } = own
        const asking = conversations.asking.get(keyOf(own))
        const request = open.find(({ id }) => id === own.asked || id === asking)
        const data = request && redactRequest(requestData(request, { mayApprove: isTrusted(channel) }), redactor())
        return [
          {
            ...{ userId, title: redactor().text(entry.title), agent: entry.agent },
            ...(conversation !== undefined && { conversation }),
            state: open.length > 0 || entry.status === 'suspended' ? ('waiting' as const) : ('working' as const),
            ...(data && { request: data }),
          },
        ]
      })
      return (await Promise.all(all)).flat()
    },
  }
}

const nothingYet = 'Nothing has been done yet.'

const isBusy = ({ status }: Pick<SessionEntry, 'status'>): boolean => status === 'running' || status === 'suspended'

/** Whether there was a task. */
export async function stopTask(
  sessions: Pick<SessionService, 'cancel'>,
  { sessionId, status }: Pick<SessionEntry, 'sessionId' | 'status'>,
  by: string,
): Promise<boolean> {
  if (!isBusy({ status })) return false
  await sessions.cancel(sessionId, 'interrupt', by)
  return true
}

/** Those that there are now. */
async function eventsOf(sessions: SessionService, { sessionId, seq }: SessionEntry): Promise<readonly InteractionEvent[]> {
  const events: InteractionEvent[] = []
  if (seq === 0) return events
  for await (const event of sessions.events(sessionId, { until: 'closed', live: false })) {
    if (!('seq' in event)) continue
    events.push(event)
    if (event.seq >= seq) break
  }
  return events
}

/** If not, an interrupt holds the message. */
const isRead = (id: string, events: readonly InteractionEvent[]): boolean =>
  events.some(
    (event) =>
      (event.type === 'interaction.turn.started' && event.inputs.some((each) => each === id)) ||
      (event.type === 'interaction.step.started' && event.absorbs?.some((each) => each === id)),
  )

/** The journal has handles of stored files; a message has their bytes. */
const withBytes = (parts: readonly InputPart[], sessionId: string, sessions: SessionService): Promise<readonly InputPart[]> =>
  Promise.all(
    parts.map(async (part) => {
      if (part.type === 'text' || !part.data.startsWith(blobPrefix)) return part
      const stored = await sessions.output(sessionId, part.data.slice(blobPrefix.length))
      const { bytes: _, ...rest } = part
      const bytes = stored && ('text' in stored ? new TextEncoder().encode(stored.text) : stored.bytes)
      return bytes ? { ...rest, data: toBase64(bytes) } : { type: 'text' as const, text: 'A file of this message is no longer stored.' }
    }),
  )

const blobPrefix = 'blob:'

/** None if the session was deleted. */
const requestsOf = (sessions: SessionService, sessionId: string) =>
  sessions.requests(sessionId).catch((error: unknown) => {
    if (isUnknownSession(error)) return []
    throw error
  })
