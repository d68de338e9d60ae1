import { type CommandPlace, resumeHint } from '../../../project/index.ts'
// What `troupe sessions show --json` prints. Published as schemas/session.schema.json.

import type { RunOrigin, TreeEntry } from '../../../contracts/index.ts'
import { denialsIn } from '../../../view/index.ts'
import { exitCodes } from '../../terminal/exit-codes.ts'
import { type CommandError, commandError } from '../output/error-documents.ts'
import { type OutcomeDocument, outcomeDocument } from '../output/run-documents.ts'
import type { LoadedSession } from './load-session.ts'
import type { SessionTotals } from './session-totals.ts'
import type { StoredSession, StoredSessionState } from './stored-sessions.ts'

/** Results of an open turn. In `operations` it has the status suspended. */
export type SoFar = Omit<OutcomeDocument, 'ok' | 'error' | 'exitCode' | 'status' | 'reason' | 'message' | 'remedy' | 'failure' | 'code'>

interface Shown extends StoredDocument {
  /** `false` where its journal is damaged. */
  readonly ok: boolean
  /** Present if its journal is damaged. */
  readonly error?: CommandError
  /** Input of its last turn. */
  readonly asked: string
  readonly totals: SessionTotals
  /** The first unreadable event. The document describes what was stored before it. */
  readonly damage?: { readonly seq: number; readonly message: string; readonly remedy?: string }
  readonly exitCode: 0 | 1
}
/** Ended or waiting, with the document of `run --json`. Diagnostics from before the run are in no journal. */
export interface RestingDocument extends Shown {
  readonly outcome: OutcomeDocument
}
/** Running, unfinished or damaged. */
export interface OpenDocument extends Shown {
  readonly soFar: SoFar
}

export function sessionDocument(shown: LoadedSession, place: CommandPlace): RestingDocument | OpenDocument {
  const { damage, asked, totals } = shown
  const { seq, message, remedy } = damage ?? {}
  const damaged = seq === undefined || message === undefined ? {} : { damage: { seq, message, ...(remedy !== undefined && { remedy }) } }
  const error = damage ? { error: commandError(damage) } : {}
  const base = { ok: damage === undefined, ...error, ...storedDocument(shown, place), asked, totals, ...damaged }
  const exitCode = damage ? exitCodes.failed.code : exitCodes.done.code
  const document = outcomeDocument(shown.outcome, { denials: denialsIn(shown.events) })
  if (isResting(shown)) return { ...base, outcome: document, exitCode }
  const { ok: _ok, error: _why, exitCode: _code, status: _status, reason: _reason, message: _message, remedy: _remedy, ...rest } = document
  const { failure: _failure, code: _error, ...soFar } = rest
  return { ...base, soFar, exitCode }
}

export const isResting = ({ standing }: Pick<LoadedSession, 'standing'>): boolean =>
  standing.kind === 'ended' || standing.kind === 'waiting'

interface StoredDocument extends Partial<RunOrigin> {
  readonly sessionId: string
  readonly agent: string
  readonly title: string
  /** The id of its principal: `local` for those of the command line. */
  readonly owner?: string
  /** The key of another system. */
  readonly key?: string
  readonly labels?: readonly string[]
  readonly status: TreeEntry['status']
  readonly standing: StoredSessionState
  /** Milliseconds since 1970. */
  readonly startedAt: number
  readonly updatedAt: number
  /** Command that resumes it or starts its next turn. Absent while it runs and if it is damaged. */
  readonly goOn?: string
}

export function storedDocument(session: StoredSession, place: CommandPlace): StoredDocument {
  const { run, origin, standing } = session
  return {
    sessionId: run.treeId,
    agent: run.agent,
    title: run.title,
    ...(run.workspace !== undefined && { workspace: run.workspace }),
    ...origin,
    ...(run.owner !== undefined && { owner: run.owner }),
    ...(run.key !== undefined && { key: run.key }),
    ...(run.labels && { labels: run.labels }),
    status: run.status,
    standing,
    startedAt: run.createdAt,
    updatedAt: run.updatedAt,
    ...(standing.kind !== 'running' && standing.kind !== 'damaged' && { goOn: resumeHint(session, place) }),
  }
}
