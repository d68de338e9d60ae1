import { dirname } from 'node:path'
import { isInside } from '../../util/is-inside.ts'
import { shellWord } from '../../util/shell-word.ts'
import { type Config, contentHash, type TrustRecords, trustOf } from '../config/index.ts'
import { realPath } from './agent-paths.ts'
import { projectAround } from './project-around.ts'

/** Where files that nobody has trusted may lead: no further than the folder that they came with. */
export class Confinement {
  readonly #config: Config
  readonly #trusted: TrustRecords | 'everything'

  constructor(config: Config, trusted: TrustRecords | 'everything') {
    this.#config = config
    this.#trusted = trusted
  }

  /** The folder in which what a configuration lists must lie; nothing where a person has trusted it. */
  ofConfig(path: string): string | undefined {
    const isTrusted = this.#config.files.some((file) => file.path === path && file.isTrusted)
    return isTrusted ? undefined : realPath(dirname(path))
  }

  /**
   * The folder in which what an agent file refers to must lie: its project's, where there is one, otherwise its own.
   * Nothing where it is a person's own, or where a person has trusted the file as it is: a word for its project is none
   * for all that will ever lie there.
   */
  ofAgent({ path, bytes }: { readonly path: string; readonly bytes: Uint8Array }): string | undefined {
    if (trustOf({ path, sha256: contentHash(bytes) }, this.#trusted) === 'trusted') return undefined
    const isOwn = this.#config.ownFolders.some((folder) => isInside(realPath(folder), path))
    return isOwn ? undefined : projectAround(path)
  }
}

export interface Confined {
  /** The folder in which a file must lie. */
  readonly folder: string
  /** The agent that names it. */
  readonly agent: string
}

interface OutsideFault {
  readonly message: string
  readonly remedy: string
}

/** What is wrong with a file that leaves the folder, links followed; nothing of the file is read. */
export function outsideFault(target: string, { folder, agent }: Confined): OutsideFault | undefined {
  if (isInside(folder, realPath(target))) return undefined
  return {
    message: `it lies outside of ${folder}, and nobody has trusted this agent as it is`,
    remedy: `Look at the agent; if it is what you want: troupe trust ${shellWord(agent)}`,
  }
}
