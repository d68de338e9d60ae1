import { TroupeError } from '../../../contracts/index.ts'
import { dataDirFlag } from '../../../project/index.ts'

/** What sessions of an older version are missing from. */
type Missing = 'searched' | 'counted' | 'cost'

/** `3 sessions of an older version are not counted. To include them: …`; nothing without any. */
export function unindexedNotice(count: number, dataDir: string | undefined, missing: Missing): readonly string[] {
  if (count === 0) return []
  const [sessions, are, them] = count === 1 ? ['1 session', 'is', 'it'] : [`${count} sessions`, 'are', 'them']
  const older = `${sessions} of an older version`
  const what = missing === 'cost' ? `The cost of ${older} is unknown` : `${older} ${are} not ${missing}`
  return [`${what}. To include ${them}: ${reindexCommand(dataDir)}`]
}

/** The remedy of a damaged index names the data folder of the command line. */
export function withReindexCommand(error: unknown, dataDir: string | undefined): unknown {
  if (!(error instanceof TroupeError) || error.code !== 'index_damaged') return error
  return new TroupeError('index_damaged', error.message, { remedy: `Run: ${reindexCommand(dataDir)}`, cause: error })
}

const reindexCommand = (dataDir: string | undefined): string => `troupe store reindex${dataDirFlag(dataDir)}`
