import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { expect, it } from 'vitest'
import { main } from '../../src/cli/main.ts'
import { projectRecords } from '../../src/kernel/index.ts'
import { openStore } from '../../src/stores/index.ts'
import { variablesIn } from '../cli/in-process.ts'
import { desk } from '../cli/live-window.ts'
import { quietHost } from '../cli/teams.ts'

const code = `export class Main {
  getSetupSchema() {
    return [
      { name: 'city', label: 'City', type: 'text', required: true },
      { name: 'days', label: 'Days', type: 'number', default: 3 },
      { name: 'WEATHER_KEY', label: 'Key', type: 'secret' },
    ]
  }
  applyConfig({ city }) { if (city === 'nowhere') throw new Error('there is no weather') }
}`

async function weather(folder: string): Promise<void> {
  const place = join(folder, '.ai-agent', 'extensions', 'weather')
  await mkdir(place, { recursive: true })
  await writeFile(
    join(place, 'manifest.yaml'),
    'id: weather\nname: Weather\nversion: 1.0.0\ndescription: A test\nentrypoint: main:Main\nsecrets: [WEATHER_KEY]\n',
  )
  await writeFile(join(place, 'main.js'), code)
}

async function storedIn(folder: string): Promise<unknown> {
  const store = await openStore(`sqlite:${join(folder, 'data')}`)
  const stored = await projectRecords(store.records, folder).get('extension', 'weather')
  await store.close()
  return stored?.value
}

const setupIn =
  (folder: string) =>
  async (words: readonly string[], input = '') => {
    const { host, stderr } = quietHost()
    const stdin = Object.assign(Readable.from([Buffer.from(input)]), { isTTY: false }) as unknown as typeof host.stdin
    const env = { ...variablesIn(folder), HOME: folder }
    const exitCode = await main(['extensions', 'setup', 'weather', '--data-dir', 'data', ...words], { ...host, env, stdin })
    return { exitCode, said: stderr() }
  }

it('takes settings of the command line and secrets of standard input, and reports everything that is wrong', async () => {
  const { folder } = await desk()
  await weather(folder)
  const before = process.cwd()
  process.chdir(folder)
  const setup = setupIn(folder)
  expect(await setup([])).toEqual({ exitCode: 2, said: expect.stringContaining('troupe extensions setup weather --set NAME=VALUE') })
  const wrong = await setup(['--set', 'days=two', '--set', 'town=Rome', '--set', 'WEATHER_KEY=x', '--secrets'], 'KEY=1\n')
  expect(wrong.exitCode).toBe(2)
  for (const text of [/number 1 .*days is wrong[\s\S]*a number/, /number 2 .*no such/, /WEATHER_KEY is a secret/, /line 1 of .*input/])
    expect(wrong.said).toMatch(text)
  expect(await setup(['--set', 'days=2'])).toEqual({ exitCode: 2, said: expect.stringContaining('Add --set city=VALUE.') })
  expect((await setup(['--set', 'city=Rome', '--secrets'], 'WEATHER_KEY=a=b\n')).exitCode).toBe(0)
  expect(await storedIn(folder)).toEqual({ config: { city: 'Rome', days: 3 }, secrets: { WEATHER_KEY: 'a=b' }, enabled: true })
  // The rest stays.
  expect((await setup(['--set', 'days=5'])).exitCode).toBe(0)
  expect(await storedIn(folder)).toEqual({ config: { city: 'Rome', days: 5 }, secrets: { WEATHER_KEY: 'a=b' }, enabled: true })
  process.chdir(before)
})

it.each([
  ['a sentence', [], 'just a secret hunter2\n'],
  ['a bare key', [], 'aHVudGVyMg==\n'],
  ['a name that does not exist', [], 'hunter2=hunter2\n'],
  ['an assignment of a shell', [], '\nexport WEATHER_KEY=hunter2\n'],
  ['a secret of the command line', ['--set', 'WEATHER_KEY=hunter2'], ''],
  ['a bare key of the command line', ['--set', 'aHVudGVyMg=='], ''],
])('prints nothing of %s', async (_, words, input) => {
  const { folder } = await desk()
  await weather(folder)
  const before = process.cwd()
  process.chdir(folder)
  const { exitCode, said } = await setupIn(folder)(['--set', 'city=Rome', ...words, '--secrets'], input)
  process.chdir(before)
  expect(exitCode).toBe(2)
  expect(said).toMatch(input ? (input.startsWith('\n') ? /line 2 of standard input/i : /line 1 of standard input/i) : /--set number 2/)
  if (/=/.test(input)) expect(said).toContain('WEATHER_KEY')
  expect(said).not.toMatch(/hunter2|aHVudGVyMg/)
})

it('asks for the settings of an extension, hides secrets, and stores what the extension accepts', async () => {
  const { folder, troupe } = await desk()
  await weather(folder)
  const setup = async (...answers: readonly (readonly [question: string, answer: string])[]) => {
    const window = troupe(['extensions', 'setup', 'weather', '--data-dir', 'data'])
    for (const [question, answer] of answers) {
      await window.writes(question)
      window.pty.write(answer)
    }
    return { code: await window.ended, shown: window.raw() }
  }
  const refused = await setup(['City:', 'nowhere\r'], ['Days (Enter: 3):', '\r'], ['Key (Enter: skip):', '\r'])
  expect(refused.code).toBe(2)
  expect(refused.shown).toContain('refuses these settings: there is no weather')
  // A wrong number is asked again. Keys for editing work in a secret, too.
  const done = await setup(
    ['City:', 'Rome\r'],
    ['Days (Enter: 3):', 'two\r'],
    ['Days (Enter: 3):', '2\r'],
    ['Key (Enter: skip):', 'hidX\b\u007fden\r'],
  )
  expect(done.code).toBe(0)
  expect(done.shown).not.toContain('hid')
  expect(await storedIn(folder)).toEqual({ config: { city: 'Rome', days: 2 }, secrets: { WEATHER_KEY: 'hiden' }, enabled: true })
})
