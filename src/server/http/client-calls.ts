import type { ApprovalId, ClientCall, InputPart } from '../../contracts/index.ts'

// Calls that the client runs, as the protocols name them: the id tells the session, so a client that keeps its own history needs no
// other address. Some clients allow only letters, digits, `_` and `-`, and 64 of them.

/** A call for the client. */
export interface WireCall {
  readonly id: string
  readonly name: string
  readonly input: object
}

/** A result from the client, by the id of the call. */
export interface WireResult {
  readonly id: string
  readonly ok: boolean
  readonly content: string
  /** Images and files. */
  readonly parts: readonly InputPart[]
}

/** The results that a conversation ends with, and what follows them. */
export interface Returned {
  readonly results: readonly WireResult[]
  readonly parts: readonly InputPart[]
  /** Instructions for the turn. If they have changed, the next step has them: an agent of the client has handed off to another one. */
  readonly instructions?: string
}

/** A turn of a new session begins with a message, after results that continue no turn, too. */
export const continueWithResults: InputPart = { type: 'text', text: 'Continue with these results.' }

interface CallPlace {
  readonly sessionId: string
  readonly requestId: ApprovalId
}

/** `call_SESSION_t1-s2-1` for the request `SESSION:t1.s2.1/client-1`. */
export function wireCall({ id, tool, input }: ClientCall): WireCall {
  const [, session = '', item = ''] = /^(.*):([^:/]+)\/client-1$/.exec(id) ?? []
  return { id: `call_${session}_${item.replaceAll('.', '-')}`, name: tool, input }
}

/** `undefined`: the id is from another provider. */
export function parseCallId(id: string): CallPlace | undefined {
  const [, sessionId, item] = /^call_([^_/:]+)_(t\d+-s\d+(?:r\d+)?-\d+)$/.exec(id) ?? []
  if (sessionId === undefined || item === undefined) return undefined
  return { sessionId, requestId: `${sessionId}:${item.replaceAll('-', '.')}/client-1` as ApprovalId }
}
