import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { contentHash } from '../../agents/index.ts'
import { TroupeError } from '../../contracts/index.ts'
import { messageOf } from '../../util/message-of.ts'
import { dataFolder } from '../host/data-folder.ts'
import type { Host } from '../host/process-host.ts'
import { packageFile } from '../package-file.ts'
import type { DemoFacts } from '../serve/serve-banner.ts'
import type { LoadOptions } from '../serve/served-project.ts'
import { DemoModels } from './demo-models.ts'

/** What `troupe demo --web` serves: agents of this package, which work in a folder of their own. */
export interface WebDemo {
  readonly models: DemoModels
  /** The folder of the agent files. */
  readonly agents: string
  /** Where agents read and write files. */
  readonly workspace: string
  /** The data folder: sessions and the token. */
  readonly sessions: string
  readonly facts: DemoFacts
  /** The tools belong to this program. Any model that is found may be chosen. */
  loading(): Pick<LoadOptions, 'alsoTrusted' | 'otherModels'>
}

/** Creates its folders at the first start. `dataDir`: of the flag. */
export function openWebDemo(dataDir: string | undefined, { env }: Pick<Host, 'env'>): WebDemo {
  const folder = dataDir === undefined ? `${dataFolder({ flag: undefined, env, home: homedir() })}-demo` : resolve(dataDir)
  const [workspace, sessions] = [join(folder, 'workspace'), join(folder, 'sessions')]
  const agents = realpathSync(fileURLToPath(packageFile('demo/web')))
  try {
    mkdirSync(sessions, { recursive: true, mode: 0o700 })
    if (!existsSync(workspace)) cpSync(join(agents, 'workspace'), workspace, { recursive: true })
  } catch (error) {
    throw new TroupeError('config_invalid', `The folder of the demonstration cannot be created: ${messageOf(error)}`, {
      remedy: 'Use another folder with --data-dir.',
      cause: error,
    })
  }
  const models = new DemoModels()
  return {
    ...{ models, agents, workspace, sessions },
    get facts() {
      return { model: models.model, offers: models.offers, workspace }
    },
    loading() {
      const modules = readdirSync(agents).filter((name) => name.endsWith('.mjs'))
      const alsoTrusted = modules.map((name) => join(agents, name)).map((path) => ({ path, sha256: contentHash(readFileSync(path)) }))
      return { alsoTrusted, otherModels: ['auto'] }
    },
  }
}
