import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { troupe } from './command.ts'
import { child, folder } from './folder.ts'

const schema = '{ "type": "object" }'
const lead = child('agents: [../scout.ai, ../../lib/x.ai]\ninput: { schemaRef: ../../in.json }').replace('a/b', 'rehearsal')
const scout = child().replace('a/b', 'rehearsal')
const team = { 'agents/team/lead.ai': lead, 'agents/scout.ai': scout, 'lib/x.ai': scout, 'in.json': schema, 'lab.json': '{}' }
const home = folder().path
const right = [0, '']

/** What is said about the agents of a team, from where somebody stands. */
async function validated(where: string, args: readonly string[], person = home): Promise<readonly [number | null, string]> {
  const { code, stderr } = await troupe(where, ['validate', ...args], { HOME: person })
  return [code, stderr]
}

describe('an untrusted agent reaches all of its project', () => {
  const repositories: { readonly [name: string]: { readonly [file: string]: string } } = {
    'a repository': { '.git/HEAD': 'ref: refs/heads/main' },
    'a worktree': { '.git': 'gitdir: /elsewhere' },
    'a folder with a configuration': { '.ai-agent.json': '{}' },
    'a repository with a configuration further in': { '.git/HEAD': 'ref: refs/heads/main', 'agents/.ai-agent.json': '{}' },
  }
  test.each(Object.entries(repositories))('wherever one stands: %s', async (_name, more) => {
    const { path } = folder({ ...team, ...more })
    const file = join(path, 'agents/team/lead.ai')
    expect(await validated(path, ['agents/team/lead.ai'])).toEqual(right)
    expect(await validated(join(path, 'agents'), ['team/lead.ai'])).toEqual(right)
    expect(await validated(home, [file])).toEqual(right)
    expect(await validated(path, [file, '--config', 'lab.json'])).toEqual(right)
  })

  test('an empty folder called `.git` is no repository', async () => {
    const { path } = folder({ ...team, '.git/readme': '' })
    expect(await validated(path, ['agents/team/lead.ai'])).toEqual([2, expect.stringContaining(`outside ${path}/agents/team,`)])
  })
})

describe('a configuration further out', () => {
  const spy = child('input: { schemaRef: ../../auth.json }').replace('a/b', 'rehearsal')
  const outside = (path: string): readonly unknown[] => [2, expect.stringContaining(`it is outside ${path}, and nobody has trusted`)]

  test('in the home folder, or above it, makes no project of all that lies there', async () => {
    const { path } = folder({ 'auth.json': schema, '.ai-agent.json': '{}', 'src/clone/a.ai': spy })
    for (const person of [path, join(path, 'ann')]) {
      expect(await validated(path, ['src/clone/a.ai'], person)).toEqual(outside(`${path}/src/clone`))
      expect(await validated(path, ['src/clone/a.ai', '--config', '.ai-agent.json'], person)).toEqual(outside(`${path}/src/clone`))
    }
  })

  test('opens no way from one repository below it to another', async () => {
    const { path } = folder({ 'auth.json': schema, '.ai-agent.json': '{}', 'src/clone/a.ai': spy, 'src/clone/.git/HEAD': 'ref: x' })
    expect(await validated(path, ['src/clone/a.ai'])).toEqual(outside(`${path}/src/clone`))
  })
})

describe("a person's own agent", () => {
  test.each(['with a configuration', 'without'])('is bound by nothing: %s', async (kind) => {
    const own = child('agents: [../../prompts/p.ai]\ninput: { schemaRef: ../../prompts/s.json }').replace('a/b', 'rehearsal')
    const person = folder({ '.ai-agent/agents/o.ai': own, 'prompts/p.ai': scout, 'prompts/s.json': schema })
    if (kind === 'with a configuration') person.write({ '.ai-agent/.ai-agent.json': '{}' })
    expect(await validated(home, [join(person.path, '.ai-agent/agents/o.ai')], person.path)).toEqual(right)
  })
})
