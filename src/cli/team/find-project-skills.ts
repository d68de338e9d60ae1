import { homedir } from 'node:os'
import {
  adminSkillDirectories,
  type Config,
  type FoundSkills,
  findProjectRoot,
  findSkills,
  sandboxOf,
  skillsOf,
  userSkillDirectories,
} from '../../agents/index.ts'
import { homeFolder } from '../host/data-folder.ts'

interface MachineSkills {
  /** Of installed packages. */
  readonly systemDirectories: readonly string[]
  readonly adminDirectories: readonly string[]
}

export const machineSkills: MachineSkills = {
  systemDirectories: ['/usr/local/share/ai-agent/skills', '/usr/share/ai-agent/skills'],
  adminDirectories: adminSkillDirectories,
}

export interface SkillOptions {
  readonly directories?: readonly string[]
  readonly disabled?: readonly string[]
  /** Folders that commands may write to. */
  readonly writable?: readonly string[]
}

export const skillOptionsOf = (config: Config): SkillOptions => ({ ...skillsOf(config), writable: sandboxOf(config).writable })

/** The skills that agents in this folder can load, nearest location first. */
export function findProjectSkills(
  workingDirectory: string,
  { directories = [], disabled = [], writable = [] }: SkillOptions = {},
  machine = machineSkills,
): FoundSkills {
  return findSkills({
    workingDirectory,
    projectRoot: findProjectRoot(workingDirectory),
    userDirectories: [...directories, ...userSkillDirectories(homeFolder(homedir()))],
    ...machine,
    disabled,
    writable,
  })
}
