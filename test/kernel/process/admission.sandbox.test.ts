import { rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type ExtensionAdmissions, extensionAdmissions } from '../../../src/kernel/admission/extension-admission.ts'
import { hashFolder } from '../../../src/kernel/loader/hash-folder.ts'
import { type ExtensionSandbox, extensionSandbox } from '../../../src/kernel/process/extension-sandbox.ts'
import { FakeClock } from '../../../src/testing/index.ts'
import { noSandboxHere, sandboxed } from '../../sandbox-here.ts'
import { path } from '../../tools/sandbox/ground.ts'
import { extensionStage, main, realClock, type Stage } from './extension-stage.ts'

describe.skipIf(noSandboxHere)(sandboxed('admission'), () => {
  let stage: Stage
  let admissions: ExtensionAdmissions
  let starts = 0
  beforeAll(() => {
    stage = extensionStage()
    stage.add('none', '')
    admissions = admissionsWith()
  })
  beforeEach(() => {
    starts = 0
  })
  afterAll(() => stage?.remove())

  function admissionsWith(clock = realClock): ExtensionAdmissions {
    const real = extensionSandbox({ workspace: stage.root, path, home: homedir(), clock: realClock })
    const sandbox: ExtensionSandbox = {
      unavailable: () => real.unavailable(),
      start: (...given) => {
        starts++
        return real.start(...given)
      },
    }
    return extensionAdmissions({ sandbox, clock, workspace: stage.root, dataFolder: stage.dataFolder })
  }
  const foundNow = <Found extends { readonly folder: string }>(found: Found) => ({ ...found, hash: hashFolder(found.folder).hash })
  const typed = (id: string, source: string) => {
    const found = stage.add(id, '')
    rmSync(join(found.folder, 'main.js'))
    stage.write(`extensions/${id}/main.ts`, source)
    return foundNow(found)
  }

  it('lets a good extension pass: its types fit, it starts, and nothing has an effect', async () => {
    stage.write('extensions/good/word.ts', `export const word: string = 'word'`)
    const found = typed(
      'good',
      `import { writeFile } from 'node:fs/promises'
       import type { Extension, ExtensionContext, Tool, ToolProvider } from 'troupe/extension'
       import { word } from './word.ts'
       export class Main implements Extension, ToolProvider {
         async initialize(context: ExtensionContext): Promise<void> {
           await writeFile(context.dataDir + '/here', word)
           await context.notifyUser('Nobody hears this')
           await context.startAgent('Nor does this run')
         }
         getTools(): readonly Tool[] { return [] }
       }`,
    )
    expect(await admissions.validate(found)).toEqual({ problems: [], notices: [] })
    expect(starts).toBe(2)
    const opened = await admissions.open(found)
    // Types and trial were not repeated.
    expect(starts).toBe(3)
    await opened.close()
    stage.write('extensions/good/word.ts', `export const word: string = 'another'`)
    const changed = await admissions.open(foundNow(found))
    expect(starts).toBe(6)
    await changed.close()
  })

  it('names type errors with their places, and does not run the code', async () => {
    const found = typed(
      'wrong',
      `import type { Extension } from 'troupe/extension'
export class Main implements Extension {
  start(): void { const n: number = 'text' }
}`,
    )
    expect(await admissions.validate(found)).toEqual({
      problems: [
        {
          place: 'wrong/main.ts:3:25',
          message: `TS2322: Type 'string' is not assignable to type 'number'.`,
          remedy: 'Fix the type error.',
        },
      ],
      notices: [],
    })
    expect(starts).toBe(1)
    await expect(admissions.open(found)).rejects.toMatchObject({ code: 'extension_failed', problems: [{ place: 'wrong/main.ts:3:25' }] })
  })

  it.each([
    ['throws', main(`initialize() { throw new Error('no luck') }`), 'initialize failed: no luck'],
    ['exits', main('initialize() { process.exit(4) }'), 'initialize failed: its process ended with exit code 4'],
    ['offers wrong tools', main(`getTools() { return 'all' }`), 'getTools failed'],
    ['has a wrong schedule', main('getSchedule() { return 5 }'), 'getSchedule failed: getSchedule is not an object'],
    ['has no class', 'export const Main = 1', 'it cannot be loaded: it exports no class Main. It exports: Main'],
  ])('refuses an extension that %s', async (_, source, message) => {
    const { problems } = await admissions.validate(stage.add('bad', source))
    expect(problems).toMatchObject([{ message: expect.stringContaining(message) }])
  })

  it('refuses an extension that hangs', async () => {
    const clock = new FakeClock()
    const found = stage.add('hangs', main('initialize() { return new Promise(() => {}) }'))
    const validating = admissionsWith(clock).validate(found)
    const timer = setInterval(() => clock.advance(1_000), 50)
    expect(await validating).toMatchObject({ problems: [{ message: expect.stringMatching(/did not (end|load) within 10000 ms/) }] })
    clearInterval(timer)
  })

  it('says if the extension needs trust', async () => {
    const found = stage.add('needs', main(`initialize(context) { context.secret('KEY') }`))
    expect(await admissions.validate(found)).toEqual({
      problems: [],
      notices: ['`initialize`: The secret KEY is only for trusted extensions. Run: troupe extensions trust needs'],
    })
  })
})
