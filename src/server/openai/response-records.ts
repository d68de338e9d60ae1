import type { Json, OutputContract, Records } from '../../contracts/index.ts'
import { type Continued, HttpError, type WireCall } from '../http/index.ts'

// What a response is beside the turn of its session: the settings of its request. The answer itself is in the journal.

const namespace = 'response'

/** Where a response is: the id names the session and the input that began the turn, or results that continued it. */
interface ResponseAddress {
  readonly id: string
  readonly sessionId: string
  /** The id of the input. Absent for the first turn of a session. */
  readonly clientId?: string
}

export interface ResponseRecord {
  /** Seconds since 1970. */
  readonly createdAt: number
  readonly agent: string
  /** The last `seq` before the turn. */
  readonly after: number
  /** The instructions of the session, for the response that continues it. */
  readonly instructions: string
  /** Their part that is the parameter: of this request, or of an earlier one of the same turn. The rest was in the input. */
  readonly ownInstructions?: string
  readonly output: OutputContract | null
  /** The answer is checked before it is sent. */
  readonly isJson: boolean
  readonly background: boolean
  /** The client got texts as they arrived. */
  readonly isStreamed?: boolean
  /** The output has items of the calls of the agent. */
  readonly showsCalls?: boolean
  /** Names of tools of the client that take a text. */
  readonly custom?: readonly string[]
  /** Present if the client has sent results: the response continues their turn. */
  readonly continues?: ContinuedTurn
  /** Fields of the request that the response repeats. */
  readonly request: { readonly [name: string]: Json }
  /** The response that continued the session. A further one continues a copy. */
  readonly continuedBy?: string
}

export interface ContinuedTurn extends Pick<Continued, 'begins' | 'inputs'> {
  /** Calls that wait still. The client gets them again, and nothing else. */
  readonly open: readonly WireCall[]
}

export interface StoredResponse extends ResponseAddress {
  readonly record: ResponseRecord
}

export function responseAddress(sessionId: string, clientId?: string): ResponseAddress {
  return clientId === undefined ? { id: `resp_${sessionId}`, sessionId } : { id: `resp_${sessionId}_${clientId}`, sessionId, clientId }
}

export function parseResponseId(id: string): ResponseAddress | undefined {
  const [, sessionId, clientId] = /^resp_([^_/]{1,80})(?:_([^_/]{1,80}))?$/.exec(id) ?? []
  return sessionId === undefined ? undefined : responseAddress(sessionId, clientId)
}

const firstTurn = 'first'
const keyOf = ({ sessionId, clientId = firstTurn }: ResponseAddress): string => `${sessionId}/${clientId}`

export async function saveResponse(records: Records, { record, ...address }: StoredResponse): Promise<void> {
  await records.update(namespace, keyOf(address), () => ({ value: record as unknown as Json }))
}

export async function loadResponse(records: Records, address: ResponseAddress): Promise<StoredResponse | undefined> {
  const stored = await records.get(namespace, keyOf(address))
  return stored && { ...address, record: stored.value as unknown as ResponseRecord }
}

/** All responses of a session. */
export async function responsesOf(records: Pick<Records, 'list'>, sessionId: string): Promise<readonly StoredResponse[]> {
  const prefix = `${sessionId}/`
  const stored = await records.list(namespace, { prefix })
  return stored.map(({ key, value }) => {
    const clientId = key.slice(prefix.length)
    return { ...responseAddress(sessionId, clientId === firstTurn ? undefined : clientId), record: value as unknown as ResponseRecord }
  })
}

/** Whether this is the first continuation of a response. Decided once, also if two come together. */
export async function claimContinuation(records: Records, address: ResponseAddress, by: string): Promise<boolean> {
  const stored = await records.update(namespace, keyOf(address), (before) => {
    const record = before?.value as unknown as ResponseRecord | undefined
    if (!record || record.continuedBy !== undefined) return before
    return { value: { ...record, continuedBy: by } as unknown as Json }
  })
  return (stored?.value as unknown as ResponseRecord | undefined)?.continuedBy === by
}

/** It did not begin: the next one is the first. */
export async function releaseContinuation(records: Records, address: ResponseAddress, by: string): Promise<void> {
  await records.update(namespace, keyOf(address), (before) => {
    const { continuedBy, ...record } = (before?.value ?? {}) as { readonly [key: string]: Json }
    return continuedBy === by ? { value: record } : before
  })
}

/** `isLast`: no other response of the session is left. */
export async function forgetResponse(records: Records, address: ResponseAddress): Promise<{ readonly isLast: boolean }> {
  await records.update(namespace, keyOf(address), () => undefined)
  const rest = await records.list(namespace, { prefix: `${address.sessionId}/`, limit: 1 })
  return { isLast: rest.length === 0 }
}

export const unknownResponse = (id: string): HttpError =>
  new HttpError('not_found', `There is no response "${id}".`, {
    code: 'response_not_found',
    remedy: 'It was deleted, was made with store: false, or belongs to another token.',
  })
