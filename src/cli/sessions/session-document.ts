// What `troupe sessions show --json` prints. Published as schemas/session.schema.json.

import type { RunOrigin, TreeEntry } from '../../contracts/index.ts'
import { type Place, resumeHint } from '../approvals/next-steps.ts'
import { exitCodes } from '../host/exit-codes.ts'
import { type OutcomeDocument, outcomeDocument } from '../run/run-documents.ts'
import type { LoadedSession } from './load-session.ts'
import type { SessionTotals } from './session-totals.ts'
import type { StoredSession, StoredSessionState } from './stored-sessions.ts'

/** What a run has come to that does not rest. In `operations` a turn that has not ended has the status suspended. */
export type SoFar = Omit<OutcomeDocument, 'ok' | 'exitCode' | 'status' | 'reason' | 'message' | 'remedy' | 'failure' | 'code'>

interface Shown extends StoredDocument {
  /** `false` where its journal is damaged. */
  readonly ok: boolean
  /** What its last turn was asked. */
  readonly asked: string
  /** Over all its turns. */
  readonly totals: SessionTotals
  /** From which event on its journal cannot be read; the document is about what was stored before. */
  readonly damage?: { readonly seq: number; readonly message: string; readonly remedy?: string }
  readonly exitCode: 0 | 1
}
/** One that has ended or waits, with the document that `run --json` gave; what was told before it began is in no journal. */
export interface RestingDocument extends Shown {
  readonly outcome: OutcomeDocument
}
/** One that goes on in some process, was left in the middle, or is damaged. */
export interface OpenDocument extends Shown {
  readonly soFar: SoFar
}

export function sessionDocument(shown: LoadedSession, place: Place): RestingDocument | OpenDocument {
  const { damage, asked, totals } = shown
  const { seq, message, remedy } = damage ?? {}
  const told = seq === undefined || message === undefined ? {} : { damage: { seq, message, ...(remedy !== undefined && { remedy }) } }
  const base = { ok: damage === undefined, ...storedDocument(shown, place), asked, totals, ...told }
  const exitCode = damage ? exitCodes.failed.code : exitCodes.done.code
  const document = outcomeDocument(shown.outcome)
  if (isResting(shown)) return { ...base, outcome: document, exitCode }
  const { ok: _ok, exitCode: _code, status: _status, reason: _reason, message: _message, remedy: _remedy, ...rest } = document
  const { failure: _failure, code: _error, ...soFar } = rest
  return { ...base, soFar, exitCode }
}

export const isResting = ({ standing }: Pick<LoadedSession, 'standing'>): boolean =>
  standing.kind === 'ended' || standing.kind === 'waiting'

/** A run as documents tell it. */
export interface StoredDocument extends Partial<RunOrigin> {
  readonly sessionId: string
  readonly agent: string
  readonly title: string
  readonly status: TreeEntry['status']
  readonly standing: StoredSessionState
  /** Milliseconds since 1970. */
  readonly startedAt: number
  readonly updatedAt: number
  /** The command that goes on with it, or gives it a next turn; absent while it is running, and where it is damaged. */
  readonly goOn?: string
}

export function storedDocument(kept: StoredSession, place: Place): StoredDocument {
  const { run, origin, standing } = kept
  return {
    sessionId: run.treeId,
    agent: run.agent,
    title: run.title,
    ...(run.workspace !== undefined && { workspace: run.workspace }),
    ...origin,
    status: run.status,
    standing,
    startedAt: run.createdAt,
    updatedAt: run.updatedAt,
    ...(standing.kind !== 'running' && standing.kind !== 'damaged' && { goOn: resumeHint(kept, place) }),
  }
}
