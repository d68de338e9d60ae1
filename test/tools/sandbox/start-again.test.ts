import { describe, expect, it } from 'vitest'
import { Replaced } from '../../../src/tools/sandbox/replaced.ts'
import type { RunningCommand, StartResult } from '../../../src/tools/sandbox/sandbox-types.ts'
import { startAgain } from '../../../src/tools/sandbox/start-again.ts'

const failed = (isReplaced: boolean): StartResult => ({ ok: false, failure: { class: 'sandbox_unavailable', message: 'x' }, isReplaced })
const ended = (startFault?: string): StartResult => {
  const ending = { exitCode: 0, signal: null, refusedHosts: [], undone: [], ...(startFault !== undefined && { startFault }) }
  const running: RunningCommand = { listen: () => {}, ended: Promise.resolve(ending), terminate: () => {}, kill: () => {} }
  return { ok: true, running }
}

/** How often a start that goes like this is tried, and what comes of it. */
async function tried(...goes: readonly StartResult[]): Promise<{ readonly tries: number; readonly fault: string | undefined }> {
  let tries = 0
  const result = await startAgain(async () => goes[tries++] ?? expect.unreachable('once too often'))
  const fault = result.ok ? (await result.running.ended).startFault : result.failure.message
  return { tries, fault }
}

describe('walls that could not be built', () => {
  const moved = new Replaced('/w/x').message

  it('are planned anew where something was replaced meanwhile, and not for ever', async () => {
    expect(await tried(failed(true), failed(true), ended())).toEqual({ tries: 3, fault: undefined })
    expect(await tried(failed(true), failed(true), failed(true))).toEqual({ tries: 3, fault: 'x' })
    expect(await tried(failed(false))).toEqual({ tries: 1, fault: 'x' })
  })

  it.each([moved, "bwrap: Can't find source path /w/x: No such file or directory", "bwrap: Can't mkdir /w/x: Read-only file system"])(
    'are built anew where nothing has begun: %s',
    async (fault) => {
      expect(await tried(ended(fault), failed(true), ended())).toEqual({ tries: 3, fault: undefined })
    },
  )

  it('are left where anything else was wrong', async () => {
    const fault = 'bwrap: setting up uid map: Permission denied'
    expect(await tried(ended(fault))).toEqual({ tries: 1, fault })
  })
})
