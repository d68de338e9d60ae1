import { TroupeError } from '../../contracts/index.ts'
import { sessionFolder, whyUnwritable, withSessions } from '../../project/index.ts'
import { type Reindexed, reindexStore } from '../../runtime/index.ts'
import { plural } from '../../util/plural.ts'
import type { StoreInvocation } from '../arguments/project-invocations.ts'
import { exitCodes } from '../terminal/exit-codes.ts'
import { printDocument, printWarning } from '../terminal/print-messages.ts'
import type { Host } from '../terminal/process-host.ts'
import { safeJson } from '../terminal/safe-json.ts'
import { errorDocument } from './output/error-documents.ts'
import { reindexProgress } from './reindex-progress.ts'

const none: Reindexed = { sessions: 0, turns: 0, skipped: [] }

/** `troupe store reindex`: builds the records for search and usage again, also beside a running server. */
export async function storeCommand(invocation: StoreInvocation, host: Host): Promise<number> {
  const { output, display } = invocation
  const folder = await sessionFolder(invocation, host)
  const progress = reindexProgress(invocation, host)
  const found = await withSessions(folder, none, (store) => {
    refuseUnwritable(folder)
    return reindexStore(store, progress)
  })
  await progress.clear()
  const { sessions, turns, skipped } = found
  const exit = skipped.length > 0 ? exitCodes.failed : exitCodes.done
  if (output === 'json') {
    if (skipped.length === 0) await printDocument(found, host)
    else await host.stdout.line(safeJson(errorDocument(skippedError(skipped), found)))
    return exit.code
  }
  await host.stdout.line(`Indexed ${plural(turns, 'turn')} of ${plural(sessions, 'session')} in ${folder}.`)
  for (const { sessionId, problem } of skipped) await printWarning(`Not indexed: session ${sessionId}: ${problem}`, { host, display })
  return exit.code
}

function skippedError(skipped: Reindexed['skipped']): TroupeError {
  const problems = skipped.map(({ sessionId, problem }) => ({ place: sessionId, message: problem }))
  return new TroupeError('store_invalid', `${plural(skipped.length, 'session')} could not be indexed.`, { problems })
}

function refuseUnwritable(folder: string): void {
  const why = whyUnwritable(folder)
  if (why === undefined) return
  throw new TroupeError('config_invalid', 'The data folder cannot be written.', {
    problems: [{ place: folder, message: why, remedy: 'Run the command as the owner of the folder.' }],
  })
}
