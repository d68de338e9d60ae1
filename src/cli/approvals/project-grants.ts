import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { type ConfigFileSystem, nodeConfigFileSystem } from '../../agents/index.ts'
import { type ApprovalKey, type ProjectGrants, TroupeError } from '../../contracts/index.ts'
import { isPlainObject } from '../../util/json-schema/schema-values.ts'
import { dataFolder } from '../host/data-folder.ts'
import type { Host } from '../host/process-host.ts'

export interface GrantFile {
  readonly files: ConfigFileSystem
  readonly path: string
}

/** In the data folder of the user, like trust: a project cannot ship its own approvals. */
export function grantFileOf({ env }: Pick<Host, 'env'>): GrantFile {
  return { files: nodeConfigFileSystem, path: join(dataFolder({ flag: undefined, env, home: homedir() }), 'grants.json') }
}

export type GrantScope = Pick<GrantRecord, 'project' | 'folder'>

/** Reads the file each time, so that a revocation in another process takes effect. */
export function projectGrants(place: GrantFile, { project, folder }: GrantScope, now: () => number): ProjectGrants {
  return {
    list: () => readGrants(place).filter((record) => record.project === project && record.folder === folder),
    async add(keys: readonly ApprovalKey[], by: string) {
      const added = keys.map(
        ({ key, label, isPrefix }): GrantRecord => ({ project, folder, key, label, ...(isPrefix === true && { isPrefix }), by, at: now() }),
      )
      await changeGrants(place, (records) => withGrants(records, added))
    },
  }
}

/** @throws TroupeError `config_invalid` where the list is damaged. */
export function readGrants({ path }: GrantFile): readonly GrantRecord[] {
  const text = textOf(path)
  return text === undefined ? [] : parseGrants(text, path)
}

const maxAttempts = 200

/** Retries when another process has changed the file in between. */
export async function changeGrants(
  { files, path }: GrantFile,
  next: (records: readonly GrantRecord[]) => readonly GrantRecord[],
): Promise<void> {
  for (let tries = 0; tries < maxAttempts; tries++) {
    const text = textOf(path)
    const written = printGrants(next(text === undefined ? [] : parseGrants(text, path)))
    if (written === text || (await files.replace(path, text, written))) return
  }
  throw new TroupeError('config_invalid', `The list of approvals ${path} cannot be written: other processes keep changing it.`, {
    remedy: 'Try again.',
  })
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw new TroupeError('config_invalid', `The list of approvals ${path} cannot be read.`, { cause: error })
  }
}

/** An approval that outlives a session. */
export interface GrantRecord extends ApprovalKey {
  /** The project that it is listed and revoked with. */
  readonly project: string
  /** The folder in which it applies. The same key, such as a command, means something else in another folder. */
  readonly folder: string
  readonly by: string
  /** Milliseconds since 1970. */
  readonly at: number
}

const version = 1

export function printGrants(records: readonly GrantRecord[]): string {
  const sorted = records.toSorted((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1))
  return `${JSON.stringify({ version, grants: sorted }, null, 2)}\n`
}

/** Anything but the expected format throws `config_invalid`: a damaged list grants nothing. */
export function parseGrants(text: string, place: string): readonly GrantRecord[] {
  let content: unknown
  try {
    content = JSON.parse(text)
  } catch {
    content = undefined
  }
  if (isPlainObject(content) && content.version === version && Array.isArray(content.grants) && content.grants.every(isGrant))
    return content.grants.filter(hasFolder)
  throw new TroupeError('config_invalid', `The list of approvals ${place} is damaged.`, {
    problems: [{ place, message: `expected { "version": ${version}, "grants": [ … ] }` }],
    remedy: 'Fix or remove the file. Without it, no approval outlives a session.',
  })
}

/** A new grant replaces one with the same key and folder. */
export function withGrants(records: readonly GrantRecord[], added: readonly GrantRecord[]): readonly GrantRecord[] {
  return [...records.filter((record) => !added.some((each) => orderOf(each) === orderOf(record))), ...added]
}

const orderOf = ({ project, folder, key }: GrantRecord): string => `${project}\0${folder}\0${key}`

/** Grants of older versions have no folder: they are ignored, so the user is asked again. */
const hasFolder = (grant: Grant): grant is GrantRecord => grant.folder !== undefined
type Grant = Omit<GrantRecord, 'folder'> & Partial<Pick<GrantRecord, 'folder'>>

function isGrant(value: unknown): value is Grant {
  if (!isPlainObject(value)) return false
  const { key, label, isPrefix, project, folder = project, by, at } = value
  const texts = [key, label, project, folder, by]
  return (
    texts.every((text) => typeof text === 'string' && text !== '') &&
    typeof at === 'number' &&
    [undefined, true, false].includes(isPrefix as boolean)
  )
}
