import { homedir, userInfo } from 'node:os'
import { dirname } from 'node:path'
import { foldersUpTo, hasConfiguration, isRepository } from '../../tools/project-context/index.ts'
import { isInside } from '../../util/is-inside.ts'
import { shellWord } from '../../util/shell-word.ts'
import type { Config } from '../config/config.ts'
import { findEscapingLink } from '../config/trust/escaping-link.ts'
import { contentHash, type TrustRecords, trustOf } from '../config/trust/trust-records.ts'
import { realPath } from './agent-paths.ts'

/** Confines untrusted files to the folder that they came with. */
export class Confinement {
  readonly #config: Config
  readonly #trusted: TrustRecords | 'everything'

  constructor(config: Config, trusted: TrustRecords | 'everything') {
    this.#config = config
    this.#trusted = trusted
  }

  /** The folder for agents of a configuration; `undefined` if it is trusted. */
  ofConfig(path: string): string | undefined {
    const isTrusted = this.#config.files.some((file) => file.path === path && file.isTrusted)
    return isTrusted ? undefined : realPath(dirname(path))
  }

  /** The folder for files that an agent refers to: its project, else its own folder. `undefined` for the user's own agents. */
  ofAgent({ path, bytes }: { readonly path: string; readonly bytes: Uint8Array }): Confined | undefined {
    const isOwn = this.#config.ownFolders.some((folder) => isInside(realPath(folder), path))
    if (isOwn || this.#trusted === 'everything') return undefined
    const isTrusted = trustOf({ path, sha256: contentHash(bytes) }, this.#trusted) === 'trusted'
    return { folder: enclosingProject(path), agent: path, isTrusted }
  }
}

export interface Confined {
  readonly folder: string
  /** The path of the agent. */
  readonly agent: string
  /** A trusted agent can name files outside the folder, but a path inside must not leave it over a link. */
  readonly isTrusted: boolean
}

interface OutsideProblem {
  readonly message: string
  readonly remedy: string
}

/** Checks a path, with links resolved, without reading the file. */
export function outsideProblem(target: string, { folder, agent, isTrusted }: Confined): OutsideProblem | undefined {
  const link = findEscapingLink(folder, target)
  if (link !== undefined) {
    return {
      message: `it is outside ${folder}, over the link ${link}`,
      remedy: `Name the target of the link in the agent file and trust it: troupe trust ${shellWord(agent)}`,
    }
  }
  if (isTrusted || isInside(folder, realPath(target))) return undefined
  return {
    message: `it is outside ${folder}, and nobody has trusted this agent in its current form`,
    remedy: `Review the agent, then: troupe trust ${shellWord(agent)}`,
  }
}

/** The nearest repository around a file, else the nearest folder with a configuration, else its folder. Without links. */
function enclosingProject(file: string): string {
  const own = dirname(file)
  const around = foldersUpTo(own)
  const homes = homeFolders()
  // A configuration in the home folder does not make it a project.
  const isAboveHome = (folder: string): boolean => homes.some((home) => isInside(folder, home))
  return around.find(isRepository) ?? around.find((folder) => hasConfiguration(folder) && !isAboveHome(folder)) ?? own
}

/** From `HOME` and from the system. */
function homeFolders(): readonly string[] {
  return [homedir, () => userInfo().homedir].flatMap((ask) => {
    try {
      return [realPath(ask())]
    } catch {
      // The system does not know the user.
      return []
    }
  })
}
