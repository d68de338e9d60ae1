import { resolve } from 'node:path'
import type { RunFlag, Store, TreeId } from '../../contracts/index.ts'
import { sessionFolder, withSessions } from '../approvals/session-store.ts'
import type { Host } from '../host/process-host.ts'
import type { RunInvocation } from '../options/parse-arguments.ts'
import { findSession, type SessionPlace } from '../sessions/find-session.ts'
import { type StoredSettings, storedSettings } from './stored-settings.ts'

/** A command line with what holds of the one that its run was started with. */
export interface ResumedRun {
  readonly invocation: RunInvocation
  /** What a person should know about it, and what a person must know. */
  readonly notices: readonly string[]
  readonly warnings: readonly string[]
  /** What the journal says about the agent of the run, where one is taken up. */
  readonly kept?: StoredSettings
}

/** What a command line says, and where it takes a run up, what was said when that run was started. */
export async function resumedRun(invocation: RunInvocation, host: Host): Promise<ResumedRun> {
  const { resume, dataDir } = invocation
  if (resume === undefined) return { invocation, notices: [], warnings: [] }
  const folder = await sessionFolder(invocation, host)
  // What keeps it from being found or read is reported where the session is opened.
  const found = await withSessions(folder, undefined, (store) => keptUnder(resume, store, { folder, dataDir })).catch(() => undefined)
  const named = found ? { ...invocation, resume: found.treeId } : invocation
  return { ...underTermsOf(found?.kept?.flags ?? [], named), ...(found?.kept && { kept: found.kept }) }
}

async function keptUnder(id: string, store: Store, place: SessionPlace): Promise<{ treeId: TreeId; kept: StoredSettings | undefined }> {
  const { treeId } = await findSession(store, id, place)
  return { treeId, kept: await storedSettings(store, treeId) }
}

/**
 * A run is not taken up under weaker rules than it was started with, unless that is told: what was denied stays denied,
 * and its configuration is read where no other is named. What was allowed has to be allowed again. Pure.
 */
function underTermsOf(flags: readonly RunFlag[], invocation: RunInvocation): ResumedRun {
  const kept = missingDenials(flags, invocation)
  const before = valuesOf(flags, 'config').at(-1)
  const now = invocation.configFile
  return {
    invocation: {
      ...invocation,
      deny: [...kept, ...invocation.deny],
      ...(before !== undefined && now === undefined && { configFile: before }),
    },
    notices: [
      ...(kept.length > 0 ? [`Still denied, as at the start of the session: ${kept.join(', ')}`] : []),
      ...(before !== undefined && now === undefined ? [`Read again, as at the start of the session: --config ${before}`] : []),
    ],
    warnings:
      before !== undefined && now !== undefined && resolve(now) !== before
        ? [`The session was started with --config ${before}; from now on ${now} applies.`]
        : [],
  }
}

/** What a run was started without being allowed to, and a command line does not deny it. */
export const missingDenials = (flags: readonly RunFlag[], { deny }: Pick<RunInvocation, 'deny'>): readonly string[] =>
  valuesOf(flags, 'deny').filter((pattern) => !deny.includes(pattern))

const valuesOf = (flags: readonly RunFlag[], wanted: string): readonly string[] =>
  flags.flatMap(({ name, value }) => (name === wanted ? [value] : []))
