import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll } from 'vitest'
import { type FoundSkills, findSkills, type SkillSearch } from '../../src/tools/skills/find-skills.ts'
import { userSkillDirectories } from '../../src/tools/skills/skill-roots.ts'

/** A project beside a home directory, gone after the tests. */
export interface Place {
  readonly path: string
  readonly project: string
  readonly home: string
  write(files: { readonly [name: string]: string | Uint8Array }): void
  /** `from` is relative to the place; `to` is written as it is. */
  link(from: string, to: string): void
  find(more?: Partial<SkillSearch>): FoundSkills
}

const made: string[] = []
// Here, where the file is loaded: what a test registers while it runs is not called any more.
afterAll(() => {
  for (const path of made) rmSync(path, { recursive: true, force: true })
})

export function place(files: { readonly [name: string]: string | Uint8Array } = {}): Place {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-skills-')))
  made.push(path)
  const [project, home] = [join(path, 'project'), join(path, 'home')]
  for (const folder of [project, home]) mkdirSync(folder)
  const write: Place['write'] = (more) => {
    for (const [name, content] of Object.entries(more)) {
      mkdirSync(dirname(join(path, name)), { recursive: true })
      writeFileSync(join(path, name), content)
    }
  }
  write(files)
  return {
    path,
    project,
    home,
    write,
    link(from, to) {
      mkdirSync(dirname(join(path, from)), { recursive: true })
      symlinkSync(to, join(path, from))
    },
    find: (more = {}) =>
      findSkills({ workingDirectory: project, projectRoot: project, userDirectories: userSkillDirectories(home), ...more }),
  }
}

export const skill = (name: string, description = `About ${name}.`, more = ''): string =>
  `---\nname: ${name}\ndescription: ${description}\n${more}---\nDo ${name}.\n`

/** `error /x/SKILL.md:1:1 words` for each problem, without the place's own path. */
export const told = ({ problems }: FoundSkills, { path }: Place): readonly string[] =>
  problems.map(
    ({ severity, place: where, message }) => `${severity} ${where.replace(`${path}/`, '')} ${message.replaceAll(`${path}/`, '')}`,
  )

export const names = ({ skills }: FoundSkills): readonly string[] => skills.map(({ name }) => name)
