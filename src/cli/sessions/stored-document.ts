import type { RunOrigin, TreeEntry } from '../../contracts/index.ts'
import { type Place, resumeHint } from '../approvals/resume-hint.ts'
import type { SessionStanding, StoredSession } from './stored-sessions.ts'

/** A run as documents tell it. */
export interface StoredDocument extends Partial<RunOrigin> {
  readonly sessionId: string
  readonly agent: string
  readonly title: string
  readonly status: TreeEntry['status']
  readonly standing: SessionStanding
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
