import { homedir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { extensionAdmissions } from '../../src/kernel/admission/extension-admission.ts'
import { findExtensions } from '../../src/kernel/index.ts'
import { extensionSandbox } from '../../src/kernel/process/extension-sandbox.ts'
import { systemClock } from '../../src/runtime/index.ts'
import { noSandboxHere, sandboxed } from '../sandbox-here.ts'
import { temporaryFolder } from './extension-context.ts'
import { writeExamples } from './extension-examples.ts'

describe.skipIf(noSandboxHere)(sandboxed('examples for authors'), () => {
  it.each([
    ['guide', 6],
    ['builder', 4],
    ['templates', 5],
  ] as const)('of the %s pass the admission', async (source, count) => {
    const workspace = temporaryFolder()
    const folder = await writeExamples(source, workspace)
    const found = await findExtensions({ places: [{ folder, source: 'project' }], workspace, trusted: new Map() })
    expect(found).toHaveLength(count)
    const path = process.env.PATH ?? ''
    const sandbox = extensionSandbox({ workspace, path, home: homedir(), clock: systemClock })
    const admissions = extensionAdmissions({ sandbox, clock: systemClock, workspace, dataFolder: join(workspace, 'data') })
    const results = await Promise.all(
      found.map(async (each) => ({ id: each.id, trusted: each.trusted, ...(await admissions.validate(each)) })),
    )
    expect(results).toEqual(found.map(({ id }) => ({ id, trusted: false, problems: [], notices: [] })))
  })
})
