import { type Store, TroupeError } from '../contracts/index.ts'
import { type AgentRuntime, createAgentRuntime, type RunHandle, systemClock } from '../runtime/index.ts'
import { dryRun } from './dry-run.ts'
import { followRun } from './follow-run.ts'
import type { Host } from './host.ts'
import { progressFor } from './live/progress.ts'
import { safeJson } from './live/safe-json.ts'
import type { RunInvocation } from './parse-arguments.ts'
import { type PreparedRun, prepareRun } from './prepare-run.ts'
import { reportRun } from './report-run.ts'
import { tellNotice, withColour } from './tell.ts'

/** `troupe run`: everything is checked before anything is started. */
export async function runCommand(invocation: RunInvocation, given: Host): Promise<number> {
  const { wishes, output } = invocation
  const host = withColour(given, wishes)
  const prepared = await prepareRun(invocation, host)
  for (const notice of prepared.notices) await tellNotice(notice, { host, wishes })
  if (invocation.dryRun) return dryRun(prepared, invocation, host)

  // Colours that are asked for do not make a terminal of a pipe.
  const progress = progressFor(wishes.color === 'never' ? host : given, wishes)
  const store = await openStore(prepared.folder)
  const runtime = createAgentRuntime({ config: { agents: [prepared.agent] }, adapter: prepared.adapter, store, clock: systemClock })
  const handle = runtime.stream(prepared.prompt)
  if (wishes.verbose) await introduce(handle, prepared, { host, wishes })
  const isStreaming = output === 'stream-json'
  // Who reads events and leaves has seen enough.
  if (isStreaming) host.stdout.onEnd(() => void handle.interrupt().catch(() => {}))
  const followed = await followRun(handle, {
    host,
    progress,
    ...(isStreaming && { onEvent: (event) => host.stdout.line(safeJson(event)) }),
  })
  const code = await reportRun(followed, { host, wishes, output, progress })
  // A run that did not heed its interrupt would keep these from closing, too; whoever comes next finds its owner gone.
  if (followed.outcome) await close(runtime, store)
  return code
}

async function introduce({ treeId }: RunHandle, { agent, folder }: PreparedRun, told: Parameters<typeof tellNotice>[1]): Promise<void> {
  await tellNotice(`run ${treeId}`, told)
  await tellNotice(`models ${agent.models.join(', ')}`, told)
  await tellNotice(`journal in ${folder}`, told)
}

async function close(runtime: AgentRuntime, store: Store): Promise<void> {
  await runtime.close()
  await store.close()
}

/** A data folder that cannot be used is a matter of how the command was called. */
async function openStore(path: string): Promise<Store> {
  const { sqliteStore } = await import('../stores/sqlite/index.ts')
  try {
    return sqliteStore({ path })
  } catch (error) {
    if (!(error instanceof TroupeError)) throw error
    throw new TroupeError('config_invalid', error.message, { remedy: error.remedy ?? 'Name another folder with --data-dir.', cause: error })
  }
}
