import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { somePlace } from '../../../test/fixtures/session-place.ts'
import type { TroupeError } from '../../contracts/index.ts'
import { nodeConfigFileSystem } from '../config/files/config-file-system.ts'
import { loadConfig } from '../config/load-config.ts'
import { readFileStates, trustFiles } from '../config/trust/trust-files.ts'
import type { RegisteredAgent } from '../registry/registered-agent.ts'
import { trustPlaceOf } from '../setup/read-setup.ts'
import { createWorkspaceTools } from './workspace-tools.ts'

const base = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-acting-')))
afterAll(() => rmSync(base, { recursive: true, force: true }))

async function project(name: string, files: { readonly [path: string]: string }, given?: string) {
  const root = join(base, name)
  const put = (path: string, text: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text, { mode: 0o755 })
  }
  for (const [path, text] of Object.entries({ '.git/HEAD': '', ...files })) put(path, text)
  const host = { env: { PATH: `${root}/node_modules/.bin:${root}/..bin:tools:/usr/bin:/bin`, XDG_STATE_HOME: join(base, `${name}-state`) } }
  const place = trustPlaceOf(host)
  const trust = async (path: string) => {
    await trustFiles(place, await readFileStates(place.files, [join(root, path)]), { by: 'command', at: 1 })
  }
  const acting = async (agents: readonly RegisteredAgent[] = [], flags: { readonly allow?: readonly string[] } = {}) => {
    const places = { workingDirectory: root, userFolder: join(base, 'user'), systemFolder: join(base, 'system') }
    const config = await loadConfig({
      places: { ...places, ...(given !== undefined && { given: join(root, given) }) },
      files: nodeConfigFileSystem,
      trusted: await place.store.list(),
    })
    return createWorkspaceTools(agents, {
      place: host,
      config,
      workingDirectory: root,
      allow: [],
      deny: [],
      dryRun: false,
      hidden: [],
      ...flags,
    })
  }
  return { root, put, trust, acting }
}

const hook = (command: readonly string[]): string =>
  JSON.stringify({ hooks: [{ name: 'guard', on: ['before_call'], command, onFailure: 'closed' }] })
const ask = async ({ hooks }: Awaited<ReturnType<typeof createWorkspaceTools>>) =>
  hooks[0]?.beforeCall?.({ tool: 'shell', input: {} }, { ...somePlace, signal: new AbortController().signal })

test('a hook of a project runs the program that was trusted along with the configuration, and no other', async () => {
  const { put, trust, acting } = await project('hooked', { '.ai-agent.json': hook(['./guard.sh']), 'guard.sh': '#!/bin/sh\n' })
  await trust('.ai-agent.json')
  const started = await acting()
  expect(await ask(started)).toEqual({ kind: 'continue' })
  put('guard.sh', '#!/bin/sh\nexit 2\n')
  await expect(ask(started)).rejects.toThrow(/guard\.sh is not run because it has changed since it was trusted.* troupe trust /)
  await expect(ask(await acting())).rejects.toThrow('has changed since it was trusted')
  await trust('guard.sh')
  expect(await ask(await acting())).toEqual({ kind: 'block', reason: 'no reason was given' })
})

test('a hook of one’s own in the workspace runs what it was when the run began', async () => {
  const { put, acting } = await project('own', { 'mine.json': hook(['./guard.sh']), 'guard.sh': '#!/bin/sh\n' }, 'mine.json')
  const started = await acting()
  expect(await ask(started)).toEqual({ kind: 'continue' })
  put('guard.sh', '#!/bin/sh\nexit 2\n')
  await expect(ask(started)).rejects.toThrow('has changed since')
})

test.each(['node_modules/.bin', '..bin'])('a program of a hook is not looked for in %s, where agents may put one', async (folder) => {
  const files = { 'mine.json': hook(['true']), [`${folder}/true`]: '#!/bin/sh\nexit 2\n' }
  const { acting } = await project(`path-${folder.replaceAll('/', '-')}`, files, 'mine.json')
  expect(await ask(await acting())).toEqual({ kind: 'continue' })
})

const agentWith = (skills: readonly string[]) =>
  ({
    servers: [],
    definition: { name: 'a', tools: [], skills },
    disabledSkills: [],
    values: new Map(),
    dialect: 'troupe',
    place: 'a.ai',
  }) as unknown as RegisteredAgent

test('all problems are reported together: flags, skills, the hooks of every file', async () => {
  const hooks = ['one', 'two'].map((name) => ({ name, on: ['before_call'], command: [`./${name}.sh`], onFailure: 'closed' }))
  const { root, acting } = await project('wrong', { 'mine.json': JSON.stringify({ hooks }) }, 'mine.json')
  const refused: unknown = await acting([agentWith(['nowhere'])], { allow: ['a b'] }).catch((error: unknown) => error)
  expect((refused as TroupeError).problems.map(({ place, message }) => `${place} ${message}`)).toEqual([
    expect.stringMatching(/^--allow /),
    expect.stringMatching(/no skill `nowhere`/),
    `${root}/mine.json:1:11 the hook "one" cannot be used: program "./one.sh" not found`,
    `${root}/mine.json:1:91 the hook "two" cannot be used: program "./two.sh" not found`,
  ])
})

test('a hook program that is not executable is reported as such', async () => {
  const files = { 'mine.json': hook(['./guard.mjs']), 'guard.mjs': 'process.exit(0)\n' }
  const { root, acting } = await project('not-executable', files, 'mine.json')
  chmodSync(join(root, 'guard.mjs'), 0o644)
  const refused: unknown = await acting().catch((error: unknown) => error)
  const [problem] = (refused as TroupeError).problems
  expect(problem?.message).toContain('the file "./guard.mjs" is not executable')
  expect(problem?.remedy).toBe(`Run chmod +x ${root}/guard.mjs, or name its interpreter: ["node", "./guard.mjs"]`)
})

test('a project skill that hides a user skill is reported for agents that use it', async () => {
  const skill = '---\nname: deploy\ndescription: How we deploy\n---\nDo it.\n'
  const config = JSON.stringify({ skills: { directories: ['../persons-own'] } })
  const files = { 'mine.json': config, '../persons-own/deploy/SKILL.md': skill, '.agents/skills/deploy/SKILL.md': skill }
  const { root, acting } = await project('skills', files, 'mine.json')
  const [near, far] = ['.agents/skills', '../persons-own'].map((folder) => join(root, folder, 'deploy/SKILL.md'))
  const told = expect.objectContaining({ place: near, message: expect.stringContaining(`shadows the one at ${far}`) })
  expect((await acting([agentWith(['deploy'])])).warnings).toContainEqual(told)
  expect((await acting([agentWith([])])).warnings).not.toContainEqual(told)
})
