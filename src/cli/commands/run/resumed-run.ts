import { resolve } from 'node:path'
import type { RunFlag, Store, TreeId } from '../../../contracts/index.ts'
import { type StoredSettings, sessionPlace, storedSettings, storeName, withSessions } from '../../../project/index.ts'
import type { RunInvocation } from '../../arguments/parse-arguments.ts'
import type { Host } from '../../terminal/process-host.ts'
import { findSession, type SessionPlace } from '../sessions/find-session.ts'

/** A command line, with the flags of its session that still apply. */
export interface ResumedRun {
  readonly invocation: RunInvocation
  readonly notices: readonly string[]
  readonly warnings: readonly string[]
  /** The settings in the journal of a resumed session. */
  readonly stored?: StoredSettings
}

/** Reads the flags and settings of the session that `--resume` names. */
export async function resumedRun(invocation: RunInvocation, host: Host): Promise<ResumedRun> {
  const { resume, dataDir } = invocation
  if (resume === undefined) return { invocation, notices: [], warnings: [] }
  const place = await sessionPlace(invocation, host)
  // `startRun` reports a session that cannot be found or read.
  const found = await withSessions(place, undefined, (store) => readSession(resume, store, { folder: storeName(place), dataDir })).catch(
    () => undefined,
  )
  const named = found ? { ...invocation, resume: found.treeId } : invocation
  return { ...withSessionFlags(found?.stored?.flags ?? [], named), ...(found?.stored && { stored: found.stored }) }
}

async function readSession(id: string, store: Store, place: SessionPlace): Promise<{ treeId: TreeId; stored: StoredSettings | undefined }> {
  const { treeId } = await findSession(store, id, place)
  return { treeId, stored: await storedSettings(store, treeId) }
}

/**
 * A resumed session keeps its restrictions: `--deny` patterns stay, and its `--config` is read unless the command line
 * names another one, which is reported. `--allow` must be given again.
 */
function withSessionFlags(flags: readonly RunFlag[], invocation: RunInvocation): ResumedRun {
  const denied = missingDenials(flags, invocation)
  const before = valuesOf(flags, 'config').at(-1)
  const now = invocation.configFile
  return {
    invocation: {
      ...invocation,
      deny: [...denied, ...invocation.deny],
      ...(before !== undefined && now === undefined && { configFile: before }),
    },
    notices: [
      ...(denied.length > 0 ? [`Still denied, as at the start of the session: ${denied.join(', ')}`] : []),
      ...(before !== undefined && now === undefined ? [`Read again, as at the start of the session: --config ${before}`] : []),
    ],
    warnings:
      before !== undefined && now !== undefined && resolve(now) !== before
        ? [`The session was started with --config ${before}; from now on ${now} applies.`]
        : [],
  }
}

/** `--deny` patterns of the session that the command line does not repeat. */
export const missingDenials = (flags: readonly RunFlag[], { deny }: Pick<RunInvocation, 'deny'>): readonly string[] =>
  valuesOf(flags, 'deny').filter((pattern) => !deny.includes(pattern))

const valuesOf = (flags: readonly RunFlag[], wanted: string): readonly string[] =>
  flags.flatMap(({ name, value }) => (name === wanted ? [value] : []))
