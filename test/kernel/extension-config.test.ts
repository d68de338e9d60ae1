// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are written like that
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { createKernel } from '../../src/kernel/index.ts'
import { loadProject } from '../../src/project/index.ts'
import { troupeIn, variablesIn } from '../cli/in-process.ts'
import { kernelFolder, type ServedKernelFiles, servedKernel } from './served-kernel.ts'

// `extensions` of the configuration.

const before = process.cwd()
// Commands change it.
afterEach(() => process.chdir(before))

const writesConfig = `import { writeFileSync } from 'node:fs'
export class Main {
  initialize({ dataDir, config, workspace, id }) { writeFileSync(workspace + '/' + id + '.seen.json', JSON.stringify(config)) }
  getSetupSchema() { return [{ name: 'city', label: 'City', type: 'text' }, { name: 'days', label: 'Days', type: 'number' }] }
  applyConfig() {}
  onSetupComplete() { return 'Open https://example.com\\nand paste this.' }
}`
const manifest = 'config:\n  city: Oslo\n  days: 1\n  places: { home: a, work: b }\n'

async function started(files: ServedKernelFiles, env: ReturnType<typeof variablesIn> = {}, folder = kernelFolder(files)) {
  const project = await loadProject({ cwd: folder, env: { HOME: folder, PATH: process.env.PATH, ...env } })
  if (!project.ok) return { folder, project, problems: project.problems, secrets: {}, status: () => undefined }
  const kernel = await createKernel({ project })
  const status = (id: string) => kernel.status().find((each) => each.id === id)
  const states = ['weather', 'other'].map(status)
  await kernel.close()
  return {
    folder,
    project,
    problems: [],
    secrets: kernel.project.adapter.secrets ?? {},
    status: (id: string) => states.find((each) => each?.id === id),
  }
}

const seen = (folder: string, id = 'weather'): unknown => JSON.parse(readFileSync(join(folder, `${id}.seen.json`), 'utf8'))
const put = (folder: string, path: string, text: string): void => {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), text)
}

it('gives an extension its section over the manifest, with variables, and merges layers by key', async () => {
  const config = {
    extensions: { weather: { city: '${CITY}', places: { home: 'c' }, list: [{ to: '${CITY}' }], login: { token: 'not-for-models' } } },
  }
  const { folder, secrets } = await started(
    { extensions: { weather: writesConfig }, manifests: { weather: manifest }, config },
    { CITY: 'Rome' },
  )
  expect(seen(folder)).toEqual({ city: 'Rome', days: 1, places: { home: 'c' }, list: [{ to: 'Rome' }], login: { token: 'not-for-models' } })
  // They are redacted in journals.
  expect(Object.values(secrets)).toContain('not-for-models')
})

it('wins over what setup stored; setup says so, prints what the extension tells, and enables it', async () => {
  const files = {
    extensions: { weather: writesConfig },
    manifests: { weather: `${manifest}enabled: false\n` },
    config: { extensions: { weather: { city: 'Rome' } } },
  }
  const folder = kernelFolder(files)
  const env = { ...variablesIn(folder), HOME: folder }
  const setup = (...words: readonly string[]) => troupeIn(folder, ['extensions', 'setup', 'weather', ...words], env)
  const first = await setup('--set', 'city=Bern', '--set', 'days=3')
  expect([first.code, first.stdout]).toEqual([0, 'Open https://example.com\nand paste this.\n'])
  expect(first.stderr).toContain('It was disabled, and is enabled now.')
  expect(first.stderr).toMatch(/city: .*\.ai-agent\.json:\d+:\d+ sets another value, which applies/)
  expect((await setup('--set', 'days=4')).stderr).not.toContain('disabled')
  await started(files, env, folder)
  expect(seen(folder)).toMatchObject({ city: 'Rome', days: 4 })
})

it('takes effect in a project only after a person has trusted the file', async () => {
  const files = { extensions: { weather: writesConfig }, manifests: { weather: manifest } }
  const folder = kernelFolder(files)
  put(folder, '.ai-agent.json', JSON.stringify({ extensions: { weather: { city: 'Rome' } } }))
  const env = { ...variablesIn(folder), HOME: folder }
  const { project } = await started(files, env, folder)
  expect(seen(folder)).toMatchObject({ city: 'Oslo' })
  expect(project.diagnostics.map(({ message }) => message).join()).toContain('extensions')
  expect((await troupeIn(folder, ['trust', '--all'], env)).code).toBe(0)
  await started(files, env, folder)
  expect(seen(folder)).toMatchObject({ city: 'Rome' })
})

it('fails alone where a variable is missing, unless it is disabled', async () => {
  const config = { extensions: { weather: { city: '${MISSING_CITY}' } } }
  const files = { extensions: { weather: writesConfig, other: writesConfig }, config }
  const on = await started(files)
  expect([on.status('weather')?.state, on.status('other')?.state]).toEqual(['failed', 'running'])
  expect(on.status('weather')?.problems[0]).toMatchObject({
    place: expect.stringContaining('.ai-agent.json:1:'),
    message: expect.stringContaining('needs the variable MISSING_CITY'),
    remedy: expect.stringContaining('Set it'),
  })
  const listed = await troupeIn(on.folder, ['extensions', 'list', '--json'], { ...variablesIn(on.folder), HOME: on.folder })
  expect(JSON.parse(listed.stdout).extensions.find(({ id }: { id: string }) => id === 'weather')).toMatchObject({ state: 'invalid' })
  const off = await started({ ...files, manifests: { weather: 'enabled: false\n' } })
  expect(off.status('weather')?.state).toBe('disabled')
})

it('does not apply to an extension that nobody has trusted', async () => {
  const files = {
    extensions: {},
    config: { extensions: { strange: { token: 'abcdefgh' } } },
    files: {
      'extensions/strange/manifest.yaml':
        'id: strange\nname: s\nversion: "1"\ndescription: t\nagent:\n  model: rehearsal\n  instructions: a.jinja\n',
      'extensions/strange/a.jinja': 'Your token is {{ config.token }}.',
    },
  }
  const folder = kernelFolder(files)
  const shown = await troupeIn(folder, ['extensions', 'show', 'strange', '--json'], { ...variablesIn(folder), HOME: folder })
  expect(shown.stdout).toContain('does not apply, because the extension is not trusted')
  expect(shown.stdout).not.toContain('abcdefgh')
})

it('reports ids that do not exist: an error in a project, a warning in the files of the person', async () => {
  const config = { extensions: { wether: { city: 'Rome' } } }
  const own = await started({ extensions: { weather: writesConfig }, config })
  const told = own.project.diagnostics.find(({ message }) => message.includes('wether'))
  expect(told).toMatchObject({
    message: expect.stringContaining('there is no extension `wether`'),
    remedy: expect.stringContaining('weather'),
  })
  const folder = kernelFolder({ extensions: { weather: writesConfig } })
  put(folder, '.ai-agent.json', JSON.stringify(config))
  const report = await loadProject({ cwd: folder, env: { HOME: folder }, configFile: '.ai-agent.json' })
  expect(report.problems).toMatchObject([{ message: expect.stringContaining('`extensions.wether` has no effect') }])
  put(folder, '.ai-agent.json', JSON.stringify({ extensions: { 'Not an id': {} } }))
  const wrong = await loadProject({ cwd: folder, env: { HOME: folder } })
  expect(wrong.problems).toMatchObject([{ message: '`Not an id` is not a valid name in `extensions`' }])
})

it('is read once: a server that runs says that a change needs a reload', async () => {
  const { folder, fetch } = await servedKernel({ extensions: { weather: writesConfig }, server: { reloads: true } })
  const config = { defaults: { models: 'rehearsal' }, extensions: { weather: { city: 'Rome' } } }
  put(folder, '.ai-agent/.ai-agent.json', JSON.stringify(config))
  const warnings = async (): Promise<string> => (await fetch('/ready')).text()
  await expect.poll(warnings, { timeout: 10_000 }).toMatch(/`extensions` of the configuration has changed.*troupe extensions reload/)
  expect(seen(folder)).toEqual({})
})

it('shows no secrets', async () => {
  const config = { extensions: { weather: { key: 'hunter2hunter2', url: 'https://x.example', note: '${NOTE_TOKEN}' } } }
  const folder = kernelFolder({ extensions: { weather: writesConfig }, config })
  const env = { ...variablesIn(folder), HOME: folder, NOTE_TOKEN: 'tokentoken' }
  for (const words of [
    ['config', 'show'],
    ['config', 'show', '--json'],
    ['extensions', 'show', 'weather'],
    ['extensions', 'show', 'weather', '--json'],
  ]) {
    const { stdout } = await troupeIn(folder, words, env)
    expect(stdout).toContain('x.example')
    expect(stdout).not.toMatch(/hunter2|tokentoken/)
  }
})
