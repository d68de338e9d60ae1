import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { projectRecords } from '../../src/kernel/index.ts'
import { openStore } from '../../src/stores/index.ts'
import { desk } from '../cli/live-window.ts'

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

it('asks for the settings of an extension, hides secrets, and stores what the extension accepts', async () => {
  const { folder, troupe } = await desk()
  const place = join(folder, '.ai-agent', 'extensions', 'weather')
  await mkdir(place, { recursive: true })
  await writeFile(
    join(place, 'manifest.yaml'),
    'id: weather\nname: Weather\nversion: 1.0.0\ndescription: A test\nentrypoint: main:Main\nsecrets: [WEATHER_KEY]\n',
  )
  await writeFile(join(place, 'main.js'), code)
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
  const store = await openStore(`sqlite:${join(folder, 'data')}`)
  const stored = await projectRecords(store.records, folder).get('extension', 'weather')
  await store.close()
  expect(stored?.value).toEqual({ config: { city: 'Rome', days: 2 }, secrets: { WEATHER_KEY: 'hiden' }, enabled: true })
})
