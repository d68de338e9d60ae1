import { homedir } from 'node:os'
import { adminSkillDirectories, type FoundSkills, findProjectRoot, findSkills, userSkillDirectories } from '../agents/index.ts'
import { homeFolder } from './data-folder.ts'

/** What agents of this folder may load, from the nearest place to the farthest. */
export function findProjectSkills(
  workingDirectory: string,
  { directories = [], disabled = [] }: { readonly directories?: readonly string[]; readonly disabled?: readonly string[] } = {},
): FoundSkills {
  return findSkills({
    workingDirectory,
    projectRoot: findProjectRoot(workingDirectory),
    userDirectories: [...directories, ...userSkillDirectories(homeFolder(homedir()))],
    adminDirectories: adminSkillDirectories,
    disabled,
  })
}
