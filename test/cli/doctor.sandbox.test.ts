import { describe, expect, test } from 'vitest'
import { noSandboxHere, sandboxed } from '../sandbox-here.ts'
import { workbench } from './troupe.ts'

const { agent, troupe } = await workbench()

describe.skipIf(noSandboxHere)(sandboxed('where there is a sandbox'), () => {
  test('doctor tries it, and neither validate nor --dry-run complains of the shell', async () => {
    const file = await agent('a', 'steps: [{ text: Done. }]', 'description: x\nmodels: script/a.yaml\ntools: [shell]')
    // Commands see nothing of the home folder, so it cannot be the workspace.
    const env = { HOME: '/nowhere' }
    expect((await troupe(['doctor'], { env })).stdout).toMatch(/^ok {4}sandbox: bubblewrap$/m)
    for (const words of [
      ['validate', file],
      ['run', file, 'Go', '--dry-run'],
    ])
      expect(await troupe(words, { env })).toMatchObject({ code: 0, stderr: expect.not.stringContaining('shell') })
  })
})
