import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Problem } from '../../contracts/index.ts'
import { matchesGlob, parseGlob } from '../../util/glob.ts'
import { isInside } from '../../util/is-inside.ts'
import { sandboxOf, skillsOf } from '../config/section-values.ts'
import type { Registry } from '../registry/load-registry.ts'
import type { RegisteredAgent } from '../registry/registered-agent.ts'
import type { ProjectPlace } from '../setup/project-place.ts'
import type { Setup } from '../setup/read-setup.ts'
import { missingHookParts } from './configured-hooks.ts'
import { httpToolProblems } from './http-tools.ts'
import { openWorkspaceKit, unavailableTools } from './open-workspace-kit.ts'
import { skillProblems } from './project-skills.ts'

/** Skills, hooks, folders and tools that are missing. */
export interface WorkspaceToolProblems {
  /** With these, a run does not start, or its commands fail. */
  readonly problems: readonly Problem[]
  readonly warnings: readonly Problem[]
}

/** A valid agent, or the readable part of an invalid one. */
interface CheckedAgent extends Pick<RegisteredAgent, 'path' | 'place' | 'values' | 'dialect' | 'disabledSkills'> {
  readonly definition: Pick<RegisteredAgent['definition'], 'skills' | 'tools' | 'sandbox'>
}

interface ReadProject {
  readonly registry: Registry
  readonly setup: Setup
}

/** Runs no hook, module or command of the project. Tests the sandbox if an agent needs it. */
export async function workspaceToolProblems(
  { registry, setup }: ReadProject,
  place: Pick<ProjectPlace, 'env'>,
): Promise<WorkspaceToolProblems> {
  const { config, workingDirectory } = setup
  const agents = registry.ok ? registry.agents : registry.readable.map((file) => ({ ...file, definition: file.agent }))
  const skills = skillsFor(agents, setup)
  const hooks = await missingHookParts(config, { place, workingDirectory })
  const folders = missingWritable(agents, sandboxOf(config))
  const http = await httpToolProblems(setup, async () => setup.trusted)
  const isNeeded = agents.some(hasShell)
  return {
    problems: [...skills.problems, ...hooks, ...(isNeeded ? folders : [])],
    warnings: [
      ...skills.fileProblems,
      ...skills.warnings,
      ...(isNeeded ? [] : folders),
      ...skillsOf(config).directories.flatMap(missingSkills),
      ...http,
      ...(await missingTools(agents, setup, place)),
    ],
  }
}

/** Agents may run in this folder or in the folder of their file: skills must exist for one of them. */
function skillsFor(agents: readonly CheckedAgent[], { config, workingDirectory, environment }: Setup): SkillProblems {
  const here = skillProblems(agents, { config, workingDirectory, environment })
  if (here.problems.length === 0) return here
  const folders = Map.groupBy(agents, ({ path }) => dirname(path))
  const there = [...folders].map(([folder, own]) => {
    const near = skillProblems(own, { config, workingDirectory: folder, environment })
    return near.problems.length === 0 ? near : skillProblems(own, { config, workingDirectory, environment })
  })
  const problems = there.flatMap((each) => each.problems)
  const unique = (list: readonly Problem[]): readonly Problem[] => [...new Map(list.map((each) => [each.place, each])).values()]
  return {
    problems,
    fileProblems: unique(there.flatMap(({ fileProblems }) => fileProblems)),
    warnings: unique(there.flatMap(({ warnings }) => warnings)),
  }
}

type SkillProblems = ReturnType<typeof skillProblems>

const hasShell = ({ definition }: CheckedAgent): boolean => definition.tools.some((name) => matchesGlob(parseGlob(name), 'shell'))

function missingWritable(agents: readonly CheckedAgent[], { mode, writable }: ReturnType<typeof sandboxOf>): readonly Problem[] {
  if (mode === 'off') return []
  // Folders that the configuration does not allow are dropped anyway.
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
            message: `this folder of \`sandbox.writable\` in ${place} does not exist: no command can run`,
            remedy: 'Create the folder, or remove it from the list.',
          },
        ],
  )
}

async function missingTools(
  agents: readonly CheckedAgent[],
  { config, workingDirectory }: Setup,
  place: Pick<ProjectPlace, 'env'>,
): Promise<readonly Problem[]> {
  const withTools = agents.map(({ definition }) => definition).filter(({ tools }) => tools.length > 0)
  if (withTools.length === 0) return []
  const kit = { workspace: workingDirectory, policy: sandboxOf(config), hidden: [], guarded: [] }
  return unavailableTools(withTools, await openWorkspaceKit(place, kit))
}

function missingSkills(folder: string): readonly Problem[] {
  if (isFolder(folder)) return []
  const message = 'this folder of `skills.directories` in the configuration does not exist'
  return [{ place: folder, message, remedy: 'Create the folder, or remove it from the list.' }]
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
