import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createKernel } from '../../src/kernel/index.ts'
import { supervisorFolder } from '../../src/kernel/supervisor/index.ts'
import { loadProject } from '../../src/project/index.ts'
import { makeProject, troupeIn, variablesIn } from '../cli/in-process.ts'
import { before, extensions, folder, manifest, shown, write } from './extensions-scene.ts'

it('lists the extensions of Troupe, disables and enables one', async () => {
  const listed = JSON.parse((await extensions('list', '--json')).stdout).extensions
  expect(listed).toContainEqual(expect.objectContaining({ id: 'kv', state: 'ready', source: 'bundled', runs: 'kernel', trusted: true }))
  expect(await extensions('disable', 'kv')).toMatchObject({ code: 0, stderr: expect.stringContaining('kv is disabled') })
  expect(await shown('kv')).toMatchObject({ state: 'disabled', runs: 'nowhere' })
  expect((await extensions('list')).stdout).toMatch(/kv +disabled · code/)
  await extensions('enable', 'kv')
  expect(await shown('kv')).toMatchObject({ state: 'ready' })
})

it('creates an extension that is trusted until it changes', async () => {
  expect(await extensions('new', 'weather', '--kind', 'agent')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('Created: extensions/weather/manifest.yaml'),
  })
  expect(await shown('weather')).toMatchObject({ trusted: true, agent: { integrationMode: 'tool' } })
  await writeFile(join(folder, 'extensions', 'weather', 'notes.txt'), 'changed')
  expect(await shown('weather')).toMatchObject({ trusted: false })
  expect((await extensions('trust', 'weather')).code).toBe(0)
  expect(await shown('weather')).toMatchObject({ trusted: true })
  expect(await extensions('new', 'weather')).toMatchObject({ code: 2, stderr: expect.stringContaining('exists') })
})

it('a file with the name of the folder is no reason to fail', async () => {
  const other = await mkdtemp(join(tmpdir(), 'troupe-extensions-'))
  await makeProject(other)
  await writeFile(join(other, 'extensions'), '')
  expect(await troupeIn(other, ['validate'], variablesIn(other))).toMatchObject({ code: 0 })
  process.chdir(before)
  await rm(other, { recursive: true })
})

it('prints no control sequences of folder names', async () => {
  await write('e\u001b[31mvil', { 'main.js': '' })
  expect((await extensions('list')).stdout).not.toContain('\u001b[31mvil')
  expect((await extensions('validate')).stdout).not.toContain('\u001b[31mvil')
  await rm(join(folder, 'extensions', 'e\u001b[31mvil'), { recursive: true })
})

it('one of the project does not replace one of Troupe before it is trusted', async () => {
  await write('kv', { 'manifest.yaml': manifest('kv'), 'main.js': 'export class Main {}' })
  const keptOut = { message: 'not loaded: it is not trusted, and an extension of Troupe has the same id' }
  expect(await shown('kv')).toMatchObject({ source: 'bundled', problems: [keptOut] })
  expect(await extensions('trust', 'kv')).toMatchObject({ code: 0, stderr: expect.stringContaining('Trusted: kv in its current form') })
  expect(await shown('kv')).toMatchObject({ source: 'project', trusted: true })
  await rm(join(folder, 'extensions', 'kv'), { recursive: true })
})

it('reports problems of manifests, of the order and of the entry file', async () => {
  await write('bad', { 'manifest.yaml': `${manifest('bad')}modle: x\n` })
  await write('lost', { 'manifest.yaml': manifest('lost', 'depends_on: [kw]\n'), 'main.js': 'export class Main {}' })
  await write('empty', { 'manifest.yaml': manifest('empty') })
  expect((await extensions('show', 'bad')).stdout).toContain('extensions/bad/manifest.yaml:6:1: Unknown key `modle`')
  expect(await shown('lost')).toMatchObject({ state: 'invalid', problems: [{ remedy: expect.stringContaining('Did you mean "kv"?') }] })
  const validated = await extensions('validate', 'bad', 'lost', 'empty', 'kv')
  expect(validated).toMatchObject({ code: 2 })
  expect(validated.stdout).toMatch(/FAIL {2}bad[\s\S]*FAIL {2}lost[\s\S]*FAIL {2}empty[\s\S]*main\.js[\s\S]*ok {4}kv/)
  expect((await extensions('trust', 'bad')).code).not.toBe(0)
  const doctor = JSON.parse((await troupeIn(folder, ['doctor', '--json'], variablesIn(folder))).stdout)
  expect(doctor.checks).toContainEqual(expect.objectContaining({ status: 'fail', what: 'extension', fix: expect.stringContaining('"kv"') }))
})

it.each(['rehersal', 'opnai', 'script/missing.yaml'])('reports the model %s of an agent before the start', async (model) => {
  await write('agent_x', { 'manifest.yaml': manifest('agent_x', `agent: { model: ${model} }\n`).replace('entrypoint: main:Main\n', '') })
  await extensions('trust', 'agent_x')
  const name = model.replace('script/', '')
  const problem = { message: expect.stringContaining(name) }
  expect(await shown('agent_x')).toMatchObject({ state: 'invalid', problems: [problem] })
  expect((await extensions('list')).stdout).toMatch(/agent_x +invalid · agent/)
  const validated = await extensions('validate', 'agent_x')
  expect(validated).toMatchObject({ code: 2, stdout: expect.stringContaining(name) })
  const all = await troupeIn(folder, ['validate'], variablesIn(folder))
  expect(all).toMatchObject({ code: 2, stderr: expect.stringContaining(name) })
  await rm(join(folder, 'extensions', 'agent_x'), { recursive: true })
})

it('reports code of Troupe that an extension imports at run time, with the fix', async () => {
  const code = `import type { Tool } from 'troupe/extension'
// import { defineTool } from 'troupe'
import {
  defineTool,
} from 'troupe'
export class Main {}`
  await write('importer', {
    'manifest.yaml': manifest('importer'),
    'main.ts': code,
    'more.js': `const tools = await import('troupe/tools')`,
  })
  await extensions('trust', 'importer')
  const { code: exitCode, stdout } = await extensions('validate', 'importer')
  expect(exitCode).toBe(2)
  expect(stdout.match(/importer.*: It imports.*/g)).toEqual([
    expect.stringMatching(/^importer\/main\.ts:5: It imports code of `troupe` at run time/),
    expect.stringMatching(/^importer\/more\.js:1: It imports code of `troupe\/tools`/),
  ])
  expect(stdout).toContain('→ Write `import type { … }` for types of `troupe/extension`.')
})

it('an agent without code runs in the kernel', async () => {
  await write('planless', { 'manifest.yaml': manifest('planless', 'agent: { model: auto }\n').replace('entrypoint: main:Main\n', '') })
  await extensions('trust', 'planless')
  expect(await shown('planless')).toMatchObject({ state: 'ready', runs: 'kernel' })
  expect((await extensions('show', 'planless')).stdout).toMatch(/runs +inside the kernel, without code/)
})

it('without a sandbox there is one remedy for all that are not trusted', async () => {
  const other = await mkdtemp(join(tmpdir(), 'troupe-extensions-'))
  await makeProject(other)
  for (const id of ['one', 'two']) {
    await mkdir(join(other, 'extensions', id), { recursive: true })
    await writeFile(join(other, 'extensions', id, 'manifest.yaml'), manifest(id))
    await writeFile(join(other, 'extensions', id, 'main.js'), 'export class Main {}')
  }
  const without = { ...variablesIn(other), PATH: join(other, 'bin') }
  const { stdout, stderr } = await troupeIn(other, ['extensions', 'list'], without)
  expect(stdout).toMatch(/one +untrusted[\s\S]*two +untrusted/)
  expect(stderr.match(/troupe extensions trust.*/g)).toEqual(['troupe extensions trust one two'])
  const validated = (await troupeIn(other, ['extensions', 'validate'], without)).stdout
  expect(validated.match(/were not checked/g)).toHaveLength(1)
  process.chdir(folder)
  await rm(other, { recursive: true })
})

it('the path of a script is relative to the manifest that names it', async () => {
  await mkdir(join(folder, 'agents'))
  await writeFile(join(folder, 'agents', 'orchestrator.ai'), '---\ndescription: x\nusage: x\nmodels: rehearsal\n---\nHelp.\n')
  const text = manifest('actor', 'agent: { model: script/replies.yaml }\n').replace('entrypoint: main:Main\n', '')
  await write('actor', { 'manifest.yaml': text, 'replies.yaml': 'steps: [{ text: From the script. }]' })
  await extensions('trust', 'actor')
  expect(await shown('actor')).toMatchObject({ state: 'ready', problems: [] })
  const kernel = await createKernel({ project: await loadProject({ cwd: process.cwd(), env: variablesIn(folder) }) })
  try {
    await kernel.start()
    expect(kernel.status().find(({ id }) => id === 'actor')).toMatchObject({ state: 'running', problems: [] })
    expect(await kernel.runtime.run('Go', { agent: 'actor' })).toMatchObject({ report: { text: 'From the script.' } })
  } finally {
    await kernel.close()
  }
  for (const name of ['agents', 'extensions/actor']) await rm(join(folder, name), { recursive: true })
})

it('no channel gets a secret of an extension, whatever its name is', async () => {
  const code = `export class Main {
    initialize(context) { this.context = context }
    start() { return this.context.notifyUser('It is ' + this.context.secret('PAGER_ID'), { channel: 'leaky', userId: 'ann' }) }
    sendToUser(_, { text }) { globalThis.leaked.resolve(text) }
  }`
  await write('leaky', { 'manifest.yaml': `${manifest('leaky')}secrets: [PAGER_ID]\n`, 'main.js': code })
  await extensions('trust', 'leaky')
  const leaked = Promise.withResolvers<string>()
  Object.assign(globalThis, { leaked })
  const env = { ...variablesIn(folder), PAGER_ID: 'pager-77-4711' }
  const kernel = await createKernel({ project: await loadProject({ cwd: process.cwd(), env }), allowsMissingModels: true })
  try {
    await kernel.start()
    expect(await leaked.promise).toBe('It is [redacted:secret PAGER_ID]')
  } finally {
    await kernel.close()
  }
  await rm(join(folder, 'extensions', 'leaky'), { recursive: true })
})

it('shows the state of the kernel that runs, and then the last failures with their time', async () => {
  const eager = `export class Main {
    initialize(context) { this.context = context }
    start() { return this.context.requestRestart('again').catch(() => {}) }
  }`
  await write('sick', {
    'manifest.yaml': manifest('sick'),
    'main.js': `export class Main { initialize() { throw new Error('no pulse') } }`,
  })
  await write('eager', { 'manifest.yaml': manifest('eager'), 'main.js': eager })
  await extensions('trust', 'sick', 'eager')
  const project = await loadProject({ cwd: process.cwd(), env: variablesIn(folder) })
  const kernel = await createKernel({ project, allowsMissingModels: true })
  await kernel.start()
  const pulse = { message: expect.stringContaining('no pulse') }
  const refused = { message: expect.stringContaining('its request of a restart failed') }
  try {
    expect(await shown('sick')).toMatchObject({ state: 'failed', runs: 'nowhere', problems: [pulse] })
    expect(await shown('eager')).toMatchObject({ state: 'running', runs: 'kernel', problems: [refused] })
    expect((await extensions('list')).stdout).toMatch(/sick +failed[\s\S]*1 problem/)
    // What is new is for the next start.
    await write('eager', { 'notes.txt': 'changed' })
    expect((await shown('eager')).problems).not.toContainEqual(refused)
  } finally {
    await kernel.close()
  }
  const last = { message: expect.stringMatching(/no pulse.* \(in the last run, at 20\d\d-.*Z\)/) }
  expect(await shown('sick')).toMatchObject({ state: 'ready', problems: [last] })
  expect((await extensions('validate', 'sick')).stdout).not.toContain('in the last run')
  for (const id of ['sick', 'eager']) await rm(join(folder, 'extensions', id), { recursive: true })
})

it('releases an extension from quarantine', async () => {
  await write('wild', { 'manifest.yaml': manifest('wild'), 'main.js': 'export class Main {}' })
  const state = supervisorFolder(join(folder, 'state', 'troupe'), process.cwd())
  await extensions('trust', 'wild')
  expect(await shown('wild')).toMatchObject({ runs: 'kernel' })
  const hash = JSON.parse((await extensions('show', 'wild', '--json')).stdout).hash
  const quarantined = [{ id: 'wild', hash, reason: 'it blocked the event loop.', stage: 'start', at: 1 }]
  await mkdir(state, { recursive: true })
  await writeFile(join(state, 'supervisor.json'), JSON.stringify({ quarantined, lastGood: {} }))
  expect((await extensions('show', 'wild')).stdout).toContain(
    'Quarantined: it blocked the event loop. Fix it, then run: troupe extensions enable wild',
  )
  expect((await extensions('list')).stdout).toMatch(/wild .*quarantined, because it blocked the event loop/)
  expect((await extensions('enable', 'wild')).stderr).toContain('no longer quarantined')
  expect(await shown('wild')).toMatchObject({ state: 'ready' })
})

it.each([
  [['show'], 'The id of the extension is missing.'],
  [['show', 'kw'], 'Did you mean "kv"?'],
  [['list', 'kv'], 'takes no id'],
  [['new', 'Bad Name'], 'is not a valid id'],
  [['trust', 'kv', '--kind', 'tool'], 'belongs to extensions new'],
  [['setup', 'kv'], 'no terminal'],
])('refuses %j', async (words, message) => {
  expect(await extensions(...words)).toMatchObject({ code: 2, stderr: expect.stringContaining(message) })
})
