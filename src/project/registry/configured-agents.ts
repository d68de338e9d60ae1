import { type Problem, TroupeError } from '../../contracts/index.ts'
import { isInside } from '../../util/is-inside.ts'
import { messageOf } from '../../util/message-of.ts'
import { shellWord } from '../../util/shell-word.ts'
import { settingsOf } from '../config/config.ts'
import { agentPathsOf } from '../config/section-values.ts'
import type { AgentDiagnostic } from './agent-diagnostic.ts'
import { realPath } from './agent-paths.ts'
import type { Confinement } from './confinement.ts'
import { type FoundPaths, findAgentPaths, SearchBudget } from './find-agent-paths.ts'
import type { RegistryOptions } from './registry-options.ts'

interface ConfiguredPaths {
  /** The `agents` entry. */
  readonly place: string
  readonly files: readonly ConfiguredPath[]
  readonly problems: readonly Problem[]
  /** Files that are left out. */
  readonly diagnostics: readonly AgentDiagnostic[]
}

interface ConfiguredPath {
  readonly path: string
  /** Whether the configuration names the file itself, so that it must be an agent. */
  readonly isNamed: boolean
}

/** Finds the agent files of the configuration without reading them. An untrusted configuration is confined to its folder. */
export function configuredPaths(
  { config, environment, isConfigFaulty = false }: Pick<RegistryOptions, 'config' | 'environment' | 'isConfigFaulty'>,
  confinement: Confinement,
): ConfiguredPaths | undefined {
  // An invalid file may be of a stronger layer.
  const origin = isConfigFaulty ? undefined : settingsOf(config, 'agents')?.origin
  if (!origin) return undefined
  const place = `${origin.file}:${origin.line}:${origin.column}`
  const { found, problems } = search(agentPathsOf({ config, environment }), place)
  const within = confinement.ofConfig(origin.file)
  const all = found.flatMap(({ paths, isNamed }) => paths.map((path) => ({ path: realPath(path), isNamed })))
  const isLeaving = ({ path }: ConfiguredPath): boolean => within !== undefined && !isInside(within, path)
  return {
    place,
    files: all.filter((file) => !isLeaving(file)),
    problems,
    diagnostics: all.filter(isLeaving).map(({ path }) => leaving(path, origin.file, place)),
  }
}

/** All entries share one search budget. */
function search(
  entries: readonly string[],
  place: string,
): { readonly found: readonly FoundPaths[]; readonly problems: readonly Problem[] } {
  const budget = new SearchBudget()
  const found: FoundPaths[] = []
  const problems: Problem[] = []
  for (const written of entries) {
    try {
      found.push(findAgentPaths(written, budget))
    } catch (error) {
      if (error instanceof TroupeError) {
        const { message, remedy } = error
        return { found: [], problems: [...problems, { place, message, ...(remedy !== undefined && { remedy }) }] }
      }
      problems.push({
        place,
        message: `${written} cannot be searched: ${messageOf(error)}`,
        remedy: 'Make it readable, or remove it from `agents`.',
      })
    }
  }
  return { found, problems }
}

function leaving(path: string, file: string, place: string): AgentDiagnostic {
  return {
    code: 'agent_untrusted',
    severity: 'warning',
    place,
    message: `${path} is left out: it is outside the folder of an untrusted configuration`,
    remedy: `Review both, then: troupe trust ${shellWord(file)}`,
  }
}
