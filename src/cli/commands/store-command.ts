import { resolve } from 'node:path'
import { TroupeError } from '../../contracts/index.ts'
import { isDatabaseUrl, sessionPlace, storeName, whyUnwritable, withSessions } from '../../project/index.ts'
import { type Reindexed, reindexStore } from '../../runtime/index.ts'
import { plural } from '../../util/plural.ts'
import { withoutCredentials } from '../../util/without-credentials.ts'
import type { StoreInvocation } from '../arguments/project-invocations.ts'
import { exitCodes } from '../terminal/exit-codes.ts'
import { printDocument, printWarning } from '../terminal/print-messages.ts'
import type { Host } from '../terminal/process-host.ts'
import { safeJson } from '../terminal/safe-json.ts'
import { errorDocument } from './output/error-documents.ts'
import { reindexProgress } from './reindex-progress.ts'

const none: Reindexed = { sessions: 0, turns: 0, skipped: [] }

/** `troupe store`. */
export function storeCommand(invocation: StoreInvocation, host: Host): Promise<number> {
  const { action, urls } = invocation
  if (action === 'copy') return copy(invocation, host)
  const [url] = urls
  if (url !== undefined) throw usageError(`${action} takes no URL`, `Name the store with --store: troupe store ${action} --store URL`)
  return action === 'migrate' ? migrate(invocation, host) : reindex(invocation, host)
}

const usageError = (message: string, remedy: string): TroupeError =>
  new TroupeError('usage', 'The command line is invalid.', { problems: [{ place: 'URL', message, remedy }] })

/** `troupe store migrate`: creates or upgrades the tables of a database. */
async function migrate(invocation: StoreInvocation, host: Host): Promise<number> {
  const place = await sessionPlace(invocation, host)
  if (!place.database)
    throw new TroupeError('config_invalid', `The store is the data folder ${place.folder}, which is upgraded when it is opened.`, {
      remedy: 'Name a database: --store postgres://HOST/NAME, TROUPE_STORE, or `store.url` of the configuration.',
    })
  const { migrateStore } = await import('../../stores/index.ts')
  const migrated = await migrateStore(place.database.url)
  const { from, to } = migrated
  const done = from === to ? `The schema is current: version ${to}.` : `Upgraded the schema from version ${from} to ${to}.`
  await printResult(invocation, host, { document: migrated, line: `${done} ${storeName(place)}` })
  return exitCodes.done.code
}

/** `troupe store copy`: copies a data folder to a database. */
async function copy(invocation: StoreInvocation, host: Host): Promise<number> {
  const [from = '', to = '', ...others] = invocation.urls
  const [, folder] = /^sqlite:(.+)$/s.exec(from) ?? []
  if (folder === undefined || !isDatabaseUrl(to) || others.length > 0)
    throw usageError('two addresses are needed', 'Usage: troupe store copy sqlite:DIR postgres://HOST/NAME')
  const { copyStore } = await import('../../stores/index.ts')
  const progress = reindexProgress(invocation, host, 'Copied')
  const copied = await copyStore(resolve(host.cwd, folder), to, progress.progress).finally(progress.clear)
  const { sessions, events, blobs } = copied
  const line = `Copied ${plural(sessions, 'session')} with ${plural(events, 'event')} and ${plural(blobs, 'blob')} to ${withoutCredentials(to)}.`
  await printResult(invocation, host, { document: copied, line })
  return exitCodes.done.code
}

interface Result {
  readonly document: object
  readonly line: string
}

const printResult = ({ output }: StoreInvocation, host: Host, { document, line }: Result): Promise<void> =>
  output === 'json' ? printDocument(document, host) : host.stdout.line(line)

/** `troupe store reindex`: builds the records for search and usage again, also beside a running server. */
async function reindex(invocation: StoreInvocation, host: Host): Promise<number> {
  const { output, display } = invocation
  const place = await sessionPlace(invocation, host)
  const progress = reindexProgress(invocation, host)
  const found = await withSessions(place, none, (store) => {
    if (!place.database) refuseUnwritable(place.folder)
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
  await host.stdout.line(`Indexed ${plural(turns, 'turn')} of ${plural(sessions, 'session')} in ${storeName(place)}.`)
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
