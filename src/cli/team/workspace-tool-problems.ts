import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import { type RegisteredAgent, sandboxOf, skillsOf } from '../../agents/index.ts'
import type { Problem } from '../../contracts/index.ts'
import { matchesGlob, parseGlob } from '../../util/glob.ts'
import { isInside } from '../../util/is-inside.ts'
import type { Host } from '../host/process-host.ts'
import { skillProblems } from './agents-with-skills.ts'
import { builtinTools } from './builtin-tools.ts'
import { missingHookParts } from './configured-hooks.ts'
import type { Project } from './load-project.ts'
import { unavailableTools } from './unavailable-tools.ts'

/** What is missing of what agents are to act with. */
export interface WorkspaceToolProblems {
  /** A run would be refused for these, or each of its commands would fail. */
  readonly problems: readonly Problem[]
  readonly warnings: readonly Problem[]
}

/** An agent that can be used, or as much as could be read of one that cannot. */
interface WorkspaceTools extends Pick<RegisteredAgent, 'path' | 'place' | 'values' | 'dialect' | 'disabledSkills'> {
  readonly definition: Pick<RegisteredAgent['definition'], 'skills' | 'tools' | 'sandbox'>
}

/** Looks for it without running anything of theirs: no hook, no module, no command. The sandbox is tried where an agent needs it. */
export async function workspaceToolProblems(
  { registry, setup }: Pick<Project, 'registry' | 'setup'>,
  host: Pick<Host, 'env'>,
): Promise<WorkspaceToolProblems> {
  const { config, workingDirectory } = setup
  const agents = registry.ok ? registry.agents : registry.readable.map((file) => ({ ...file, definition: file.agent }))
  const skilled = skillsFor(agents, setup)
  const hooks = await missingHookParts(config, { host, workingDirectory })
  const folders = missingWritable(agents, sandboxOf(config))
  const isNeeded = agents.some(hasShell)
  return {
    problems: [...skilled.problems, ...hooks, ...(isNeeded ? folders : [])],
    warnings: [
      ...skilled.faults,
      ...skilled.warnings,
      ...(isNeeded ? [] : folders),
      ...skillsOf(config).directories.flatMap(missingSkills),
      ...(await missingTools(agents, setup, host)),
    ],
  }
}

/** They may be run from here, or from the folder of their file. */
function skillsFor(agents: readonly WorkspaceTools[], { config, workingDirectory }: Project['setup']): Skilled {
  const here = skillProblems(agents, { config, workingDirectory })
  if (here.problems.length === 0) return here
  const folders = Map.groupBy(agents, ({ path }) => dirname(path))
  const there = [...folders].map(([folder, own]) => {
    const near = skillProblems(own, { config, workingDirectory: folder })
    return near.problems.length === 0 ? near : skillProblems(own, { config, workingDirectory })
  })
  const problems = there.flatMap((each) => each.problems)
  const unique = (list: readonly Problem[]): readonly Problem[] => [...new Map(list.map((each) => [each.place, each])).values()]
  return { problems, faults: unique(there.flatMap(({ faults }) => faults)), warnings: unique(there.flatMap(({ warnings }) => warnings)) }
}

type Skilled = ReturnType<typeof skillProblems>

const hasShell = ({ definition }: WorkspaceTools): boolean => definition.tools.some((name) => matchesGlob(parseGlob(name), 'shell'))

function missingWritable(agents: readonly WorkspaceTools[], { mode, writable }: ReturnType<typeof sandboxOf>): readonly Problem[] {
  if (mode === 'off') return []
  // What the session does not allow falls away, there or not.
  const isAllowed = (folder: string): boolean => writable.some((allowed) => isInside(allowed, folder))
  const own = agents.flatMap(({ definition, place }) =>
    (definition.sandbox?.writable ?? []).filter(isAllowed).map((folder) => ({ folder, place })),
  )
  const named = [...writable.map((folder) => ({ folder, place: 'the configuration' })), ...own]
  return [...new Map(named.map((each) => [each.folder, each])).values()].flatMap(({ folder, place }) =>
    isFolder(folder)
      ? []
      : [
          {
            place: folder,
            message: `\`sandbox.writable\` of ${place} names this folder, and it is not there: no command can run`,
            remedy: 'Make the folder, or take it out of the list.',
          },
        ],
  )
}

/** They are loaded where an agent has any. */
async function missingTools(
  agents: readonly WorkspaceTools[],
  { config, workingDirectory }: Project['setup'],
  host: Pick<Host, 'env'>,
): Promise<readonly Problem[]> {
  const acting = agents.map(({ definition }) => definition).filter(({ tools }) => tools.length > 0)
  if (acting.length === 0) return []
  const surroundings = { workspace: workingDirectory, policy: sandboxOf(config), hidden: [], guarded: [] }
  return unavailableTools(acting, await builtinTools(host, surroundings))
}

function missingSkills(folder: string): readonly Problem[] {
  if (isFolder(folder)) return []
  const message = '`skills.directories` of the configuration names this folder, and it is not there'
  return [{ place: folder, message, remedy: 'Make the folder, or take it out of the list.' }]
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
