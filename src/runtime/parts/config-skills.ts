import { statSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import type { Diagnostic, Problem, SkillCard } from '../../contracts/index.ts'
import { asSentence } from '../../util/as-sentence.ts'
import { knownNames } from '../../util/nearest-names.ts'
import { configError } from '../../util/option-problems.ts'
import type { AgentLoopConfig, SkillFolders } from '../options/agent-config.ts'
import { checkPolicies } from '../validation/check-policies.ts'

export const isSkillFolders = (skills: AgentLoopConfig['skills']): skills is SkillFolders => skills !== undefined && !Array.isArray(skills)

interface FoundConfig {
  readonly config: AgentLoopConfig
  /** Skills that cannot be used. */
  readonly notices: readonly Diagnostic[]
}

/**
 * The configuration with a list of skills in place of folders.
 *
 * @throws TroupeError `config_invalid` for folders and names that do not exist.
 */
export async function withFoundSkills(config: AgentLoopConfig): Promise<FoundConfig> {
  const { skills: search } = config
  if (!isSkillFolders(search)) return { config, notices: [] }
  const { directories, disabled = [] } = search
  // Loaded here: it reads YAML.
  const { findSkills } = await import('../../tools/skills/index.ts')
  const found = findSkills({ userDirectories: directories, disabled })
  const skills: readonly SkillCard[] = found.skills
  const problems = [
    ...directories.flatMap(folderProblem),
    ...disabledProblems(
      disabled,
      [...found.skills, ...found.disabled].map(({ name }) => name),
    ),
  ]
  const listed = { ...config, skills }
  problems.push(...checkPolicies(listed))
  if (problems.length > 0) throw configError(problems)
  const notices = found.problems.map(
    ({ place, message, remedy }): Diagnostic => ({
      code: 'skill_missing',
      severity: 'warning',
      message: `${place}: ${asSentence(message)}`,
      ...(remedy !== undefined && { remedy }),
    }),
  )
  return { config: listed, notices }
}

function folderProblem(folder: string, index: number): readonly Problem[] {
  const place = `config.skills.directories[${index}]`
  if (!isAbsolute(folder)) return [{ place, message: `expected an absolute path, found "${folder}"`, remedy: 'Use path.resolve().' }]
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return []
  return [{ place, message: `there is no folder ${folder}`, remedy: 'Create the folder, or remove it from the list.' }]
}

function disabledProblems(disabled: readonly string[], names: readonly string[]): readonly Problem[] {
  return disabled.flatMap((name, index) =>
    names.includes(name)
      ? []
      : [{ place: `config.skills.disabled[${index}]`, message: `unknown skill "${name}"`, remedy: knownNames(name, names, 'skill') }],
  )
}
