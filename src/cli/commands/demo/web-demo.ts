import { mkdirSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { TroupeError } from '../../../contracts/index.ts'
import { contentHash, dataFolder, type FileState, packageFile } from '../../../project/index.ts'
import { systemClock } from '../../../runtime/index.ts'
import { messageOf } from '../../../util/message-of.ts'
import type { Host } from '../../terminal/process-host.ts'
import type { WebDemo } from '../serve/demo-parts.ts'
import { DemoModels } from './demo-models.ts'

/** The folders of the demonstration, besides what the server needs. */
interface DemoFolders {
  /** The folder of the agent files. */
  readonly agents: string
  /** Where agents read and write files. */
  readonly workspace: string
  /** The data folder: sessions and the token. */
  readonly sessions: string
}

/** So that lists, search and usage have something to show. */
const samples = [
  { agent: 'researcher', input: 'Which discount codes are there?' },
  { agent: 'engineer', input: 'Do the cart tests pass?' },
]

export const demoAgents = (): string => realpathSync(fileURLToPath(packageFile('demo/team')))
export const demoShop = (): string => realpathSync(fileURLToPath(packageFile('demo/shop')))

/** Creates its folders at the first start. `dataDir`: of the flag. */
export function openWebDemo(
  dataDir: string | undefined,
  { env, isAgain }: Pick<Host, 'env'> & { readonly isAgain: boolean },
): WebDemo & DemoFolders {
  const folder = dataDir === undefined ? `${dataFolder({ flag: undefined, env })}-demo` : resolve(dataDir)
  const [workspace, sessions] = [join(folder, 'workspace'), join(folder, 'sessions')]
  createFolders([sessions, workspace])
  const agents = demoAgents()
  const models = new DemoModels({ agents, shop: demoShop(), workspace, clock: systemClock })
  return {
    ...{ models, agents, workspace, sessions, isAgain },
    get facts() {
      return { model: models.model, offers: models.offers, workspace, sessions }
    },
    loading: () => ({ alsoTrusted: trustedModules(agents) }),
    async listening(port, service) {
      process.send?.({ kind: 'listening', port })
      if ((await service.list({ limit: 1 })).length > 0) return
      for (const { agent, input } of samples) await service.start(input, { agent })
    },
  }
}

/** @throws TroupeError `config_invalid` if one cannot be created. */
function createFolders(folders: readonly string[]): void {
  try {
    for (const folder of folders) mkdirSync(folder, { recursive: true, mode: 0o700 })
  } catch (error) {
    throw new TroupeError('config_invalid', `The folder of the demonstration cannot be created: ${messageOf(error)}`, {
      remedy: 'Use another folder with --data-dir.',
      cause: error,
    })
  }
}

/** The tool modules in their current form. */
export function trustedModules(agents: string): readonly FileState[] {
  const modules = readdirSync(agents).filter((name) => name.endsWith('.mjs'))
  return modules.map((name) => join(agents, name)).map((path) => ({ path, sha256: contentHash(readFileSync(path)) }))
}
