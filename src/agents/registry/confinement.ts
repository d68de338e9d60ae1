import { homedir, userInfo } from 'node:os'
import { dirname } from 'node:path'
import { isInside } from '../../util/is-inside.ts'
import { shellWord } from '../../util/shell-word.ts'
import type { Config } from '../config/config.ts'
import { findEscapingLink } from '../config/trust/escaping-link.ts'
import { contentHash, type TrustRecords, trustOf } from '../config/trust/trust-records.ts'
import { foldersUpTo, hasConfiguration, isRepository } from '../project-context/project-files.ts'
import { realPath } from './agent-paths.ts'

/** Where files that came with a folder may lead: no further than that, unless a person has trusted them. */
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
   * Where what an agent file refers to may lie: in its project, where there is one, otherwise in its own folder. Nothing
   * binds a person's own. Trust is in the file as it is: a word for its project is none for all that will ever lie there.
   */
  ofAgent({ path, bytes }: { readonly path: string; readonly bytes: Uint8Array }): Confined | undefined {
    const isOwn = this.#config.ownFolders.some((folder) => isInside(realPath(folder), path))
    if (isOwn || this.#trusted === 'everything') return undefined
    const isTrusted = trustOf({ path, sha256: contentHash(bytes) }, this.#trusted) === 'trusted'
    return { folder: enclosingProject(path), agent: path, isTrusted }
  }
}

export interface Confined {
  /** The folder in which a file must lie. */
  readonly folder: string
  /** The agent that names it. */
  readonly agent: string
  /** Whether a person has trusted the agent: then it may name files elsewhere, and what it names inside lies inside. */
  readonly isTrusted: boolean
}

interface OutsideProblem {
  readonly message: string
  readonly remedy: string
}

/** What is wrong with a file that leaves the folder, links followed; nothing of the file is read. */
export function outsideProblem(target: string, { folder, agent, isTrusted }: Confined): OutsideProblem | undefined {
  const link = findEscapingLink(folder, target)
  if (link !== undefined) {
    return {
      message: `it lies outside of ${folder}, behind the link ${link}`,
      remedy: `If it is meant, let the agent name the file that the link leads to, and trust that: troupe trust ${shellWord(agent)}`,
    }
  }
  if (isTrusted || isInside(folder, realPath(target))) return undefined
  return {
    message: `it lies outside of ${folder}, and nobody has trusted this agent as it is`,
    remedy: `Look at the agent; if it is what you want: troupe trust ${shellWord(agent)}`,
  }
}

/**
 * The folder of the project that a file lies in, wherever one stands: the nearest repository around it, else the nearest
 * folder with a configuration, else its own. A path without links.
 */
export function enclosingProject(file: string): string {
  const own = dirname(file)
  const around = foldersUpTo(own)
  const homes = homeFolders()
  // What a person keeps in their home folder makes no project of all that lies there.
  const isAboveHome = (folder: string): boolean => homes.some((home) => isInside(folder, home))
  return around.find(isRepository) ?? around.find((folder) => hasConfiguration(folder) && !isAboveHome(folder)) ?? own
}

/** What `HOME` says, and what the system does. */
function homeFolders(): readonly string[] {
  return [homedir, () => userInfo().homedir].flatMap((ask) => {
    try {
      return [realPath(ask())]
    } catch {
      // A user whom the system does not know.
      return []
    }
  })
}
