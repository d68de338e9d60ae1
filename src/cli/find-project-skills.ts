import { homedir } from 'node:os'
import { adminSkillDirectories, type FoundSkills, findProjectRoot, findSkills, userSkillDirectories } from '../agents/index.ts'
import { homeFolder } from './data-folder.ts'

interface MachineSkills {
  /** What packages of the system have brought. */
  readonly systemDirectories: readonly string[]
  readonly adminDirectories: readonly string[]
}

export const machineSkills: MachineSkills = {
  systemDirectories: ['/usr/local/share/ai-agent/skills', '/usr/share/ai-agent/skills'],
  adminDirectories: adminSkillDirectories,
}

/** What agents of this folder may load, from the nearest place to the farthest. */
export function findProjectSkills(
  workingDirectory: string,
  { directories = [], disabled = [] }: { readonly directories?: readonly string[]; readonly disabled?: readonly string[] } = {},
  machine = machineSkills,
): FoundSkills {
  return findSkills({
    workingDirectory,
    projectRoot: findProjectRoot(workingDirectory),
    userDirectories: [...directories, ...userSkillDirectories(homeFolder(homedir()))],
    ...machine,
    disabled,
  })
}
