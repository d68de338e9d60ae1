import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { extensionAdmissions } from '../../../src/kernel/admission/extension-admission.ts'
import type { ExtensionSandbox } from '../../../src/kernel/process/extension-sandbox.ts'
import { extensionStage, main, realClock, type Stage } from './extension-stage.ts'

const failure = { class: 'sandbox_unavailable', message: 'There is no sandbox.', remedy: 'Install bubblewrap.' } as const
const none: ExtensionSandbox = { unavailable: async () => failure, start: async () => ({ ok: false, failure }) }

describe('admission without a sandbox', () => {
  let stage: Stage
  beforeEach(() => {
    stage = extensionStage()
  })
  afterEach(() => stage.remove())
  const admissions = () => extensionAdmissions({ sandbox: none, clock: realClock, workspace: stage.root, dataFolder: stage.dataFolder })

  it('reports the problems of the manifest, and a missing entry file', async () => {
    const found = stage.add('guest', main(''))
    const problems = [{ place: 'manifest.yaml:1:1', message: '`name` is missing' }]
    const { manifest: _, ...broken } = found
    expect(await admissions().validate({ ...broken, problems })).toEqual({ problems, notices: [] })
    const lost = stage.add('lost', main(''), { entrypoint: { file: 'other', className: 'Main' } })
    expect(await admissions().validate(lost)).toMatchObject({ problems: [{ message: 'there is neither other.js nor other.ts' }] })
  })

  it('says what it could not check, and opens nothing', async () => {
    const found = stage.add('guest', main(''))
    const notices = ['Types and `initialize` were not checked: There is no sandbox. Install bubblewrap.']
    expect(await admissions().validate(found)).toEqual({ problems: [], notices })
    await expect(admissions().open(found)).rejects.toMatchObject({
      code: 'extension_failed',
      message: 'it is not trusted, and the sandbox cannot be used: There is no sandbox.',
      remedy: 'Install bubblewrap. Or trust it: troupe extensions trust guest',
    })
  })

  it('does not open files that were changed after they were found', async () => {
    const found = stage.add('guest', main(''))
    stage.write('extensions/guest/main.js', main('start() {}'))
    await expect(admissions().open(found)).rejects.toMatchObject({ message: 'its files have changed since they were checked' })
  })

  it('has nothing to check in an agent without code', async () => {
    const { entrypoint: _, ...manifest } = stage.add('guest', main('')).manifest
    const found = { ...stage.add('guest', ''), manifest }
    expect(await admissions().validate(found)).toEqual({ problems: [], notices: [] })
    expect(await admissions().open(found)).toMatchObject({ runs: 'sandbox', instance: {} })
  })
})
