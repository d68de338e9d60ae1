import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as after } from 'node:timers/promises'
import { TroupeError } from '../../contracts/index.ts'
import type { McpTokenRecord, McpTokenStore } from '../../tools/mcp/index.ts'
import { isPlainObject } from '../../util/json-schema/schema-values.ts'
import { nodeConfigFileSystem } from '../config/files/config-file-system.ts'
import { withLock } from '../config/files/file-lock.ts'
import { makeFolders } from '../config/files/make-folders.ts'
import { dataFolder } from '../setup/data-folder.ts'
import type { ProjectPlace } from '../setup/project-place.ts'

const version = 1

/** Longer than a refresh takes. */
const lockWait = { tries: 2_000, pause: () => after(25 + Math.random() * 50) }

/** In the state folder of the user: a file for each key, which only the user can read. */
export const tokenFilesOf = ({ env }: Pick<ProjectPlace, 'env'>): McpTokenStore =>
  tokenFiles(join(dataFolder({ flag: undefined, env }), 'mcp-tokens'))

export function tokenFiles(folder: string): McpTokenStore {
  const pathOf = (key: string): string => join(folder, `${key}.json`)
  return {
    read: async (key) => parse(await readText(pathOf(key))),
    async change(key, change) {
      const path = pathOf(key)
      await makeFolders(folder, { mode: 0o700 })
      // Another lock than that of `replace`.
      return withLock(
        `${path}.change`,
        async () => {
          const before = await readText(path)
          const next = await change(parse(before))
          const text = next && `${JSON.stringify({ version, ...next }, null, 2)}\n`
          if (text === undefined) await rm(path, { force: true })
          else if (text !== before && !(await nodeConfigFileSystem.replace(path, before, text)))
            throw new TroupeError('config_invalid', `${path} was changed by another program.`, { remedy: 'Try again.' })
          return next
        },
        lockWait,
      )
    },
  }
}

async function readText(path: string): Promise<string | undefined> {
  const content = await nodeConfigFileSystem.read(path)
  return typeof content === 'object' ? new TextDecoder('utf-8', { ignoreBOM: true }).decode(content) : content
}

/** A damaged file is none: the next login replaces it. */
function parse(text: string | undefined): McpTokenRecord | undefined {
  try {
    const { version: written, ...record } = JSON.parse(text ?? '') as { readonly [key: string]: unknown }
    const { server, url, grant } = record
    const isGrant =
      isPlainObject(grant) && ['issuer', 'accessToken'].every((key) => typeof grant[key] === 'string') && isPlainObject(grant.client)
    const isWhole = written === version && typeof server === 'string' && typeof url === 'string' && (grant === undefined || isGrant)
    return isWhole ? (record as unknown as McpTokenRecord) : undefined
  } catch {
    return undefined
  }
}
