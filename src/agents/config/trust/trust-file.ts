import { TroupeError } from '../../../contracts/index.ts'
import { messageOf } from '../../../util/message-of.ts'
import type { ConfigFiles } from '../files/config-file-system.ts'
import { withHookFiles } from './hook-files.ts'
import {
  contentHash,
  type FileState,
  parseTrust,
  printTrust,
  type TrustRecord,
  type TrustRecords,
  withoutTrust,
  withTrust,
} from './trust-records.ts'

/** Where the list of trusted files is kept. */
export interface TrustPlace {
  readonly files: ConfigFiles
  /** In the data folder: `trust.json`. */
  readonly path: string
}

/** What is trusted so far. Throws `config_invalid` where the list is damaged or cannot be read. */
export async function readTrust(place: TrustPlace): Promise<TrustRecords> {
  return (await current(place)).records
}

/**
 * Trusts files in the state in which they were shown; if they have changed since, that is not what was trusted. A
 * configuration takes the files along that its hooks name, as they are now.
 */
export async function trustFiles(
  place: TrustPlace,
  states: readonly FileState[],
  given: Pick<TrustRecord, 'by' | 'at'>,
): Promise<TrustRecords> {
  const named = await withHookFiles(place.files, states)
  const added = named.map(({ path, sha256 }) => ({ path, sha256, ...given }))
  return change(place, (records) => withTrust(records, added))
}

/** Takes trust back from files, and from everything below folders. Answers what is no longer trusted. */
export async function revokeTrust(place: TrustPlace, paths: readonly string[]): Promise<readonly TrustRecord[]> {
  let gone: readonly TrustRecord[] = []
  await change(place, (records) => {
    const left = withoutTrust(records, paths)
    gone = [...records.values()].filter(({ path }) => !left.has(path))
    return left
  })
  return gone
}

/** Files as they are now, for those who trust by name. Throws `config_invalid` for those that are not there. */
export async function readFileStates(files: ConfigFiles, paths: readonly string[]): Promise<readonly FileState[]> {
  const contents = await Promise.all(paths.map(async (path) => ({ path, content: await files.read(path) })))
  const missing = contents.filter(({ content }) => content === undefined)
  if (missing.length > 0)
    throw new TroupeError('config_invalid', 'not everything that is to be trusted is there', {
      problems: missing.map(({ path }) => ({ place: path, message: 'there is no such file', remedy: `Check the path. ${whatWaits}` })),
    })
  return contents.map(({ path, content }) => ({ path, sha256: contentHash(content ?? '') }))
}

const whatWaits = 'What waits for trust here is shown by: troupe trust'
const maxTries = 200

/** Another process may write in between; then what it wrote is taken as the beginning. */
async function change(place: TrustPlace, next: (records: TrustRecords) => TrustRecords): Promise<TrustRecords> {
  for (let tries = 0; tries < maxTries; tries++) {
    const { text, records } = await current(place)
    const changed = next(records)
    const written = printTrust(changed)
    if (written === text || (text === undefined && changed.size === 0)) return changed
    if (await place.files.replace(place.path, text, written).catch((error) => refuse('written', place.path, error))) return changed
  }
  throw new TroupeError('config_invalid', `the list of trusted files ${place.path} cannot be written: others keep writing it`, {
    remedy: 'Try again.',
  })
}

async function current({ files, path }: TrustPlace): Promise<{ readonly text: string | undefined; readonly records: TrustRecords }> {
  const content = await files.read(path).catch((error) => refuse('read', path, error))
  if (content === undefined) return { text: undefined, records: new Map() }
  const text = typeof content === 'string' ? content : new TextDecoder('utf-8', { ignoreBOM: true }).decode(content)
  return { text, records: parseTrust(text, path) }
}

/** Where a disk does not let us is a matter of how the machine is set up. */
function refuse(what: 'read' | 'written', path: string, cause: unknown): never {
  if (cause instanceof TroupeError) throw cause
  const remedy = 'See that its folder can be written, or name another with XDG_STATE_HOME.'
  throw new TroupeError('config_invalid', `The list of trusted files cannot be ${what}.`, {
    problems: [{ place: path, message: messageOf(cause), remedy }],
    cause,
  })
}
