import { spawnSync } from 'node:child_process'
import { renameSync, rmSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createAgentRuntime } from '../../src/runtime/index.ts'
import { ScriptedModel, type ScriptedStep } from '../../src/testing/index.ts'
import { binary, workbench } from '../cli/troupe.ts'
import { dataFolder } from '../fixtures/data-folder.ts'

describe('a disk that is full in the middle of a turn', () => {
  it('fails the turn as store_failed; with space again it is continued from what was stored', async () => {
    const folder = await dataFolder()
    let database: DatabaseSync | undefined
    const openDatabase = (file: string): DatabaseSync => {
      database = new DatabaseSync(file)
      return database
    }
    const inputSchema = { type: 'object', properties: {} }
    // Fills what is left of the disk: SQLite refuses any further page as it does where the system has none.
    const fill = {
      name: 'fill',
      description: 'Fills.',
      inputSchema,
      effect: 'read' as const,
      execute: () => {
        database?.exec('PRAGMA max_page_count = 1')
        return 'x'.repeat(100_000)
      },
    }
    const runtimeWith = (steps: readonly ScriptedStep[], options = {}) => {
      const agents = [{ name: 'clerk', description: 'A test', prompt: 'You are tested.', model: 'any', tools: ['fill'] }]
      const store = folder.open(options)
      const runtime = createAgentRuntime({
        config: { agents, tools: [fill], limits: { maxOutputBytes: 200_000 } },
        adapter: new ScriptedModel(steps),
        store,
      })
      onTestFinished(() => runtime.close())
      return { runtime, store }
    }
    const first = runtimeWith([{ calls: [{ tool: 'fill' }] }, { text: 'Never stored.' }], { surroundings: { openDatabase } })
    const outcome = await first.runtime.run('Go')
    expect(outcome).toMatchObject({
      status: 'failed',
      reason: 'store',
      code: 'store_failed',
      remedy: expect.stringMatching(/^Free some space/),
    })
    expect(outcome.message).toBe(`Cannot write to the store in ${folder.file}: database or disk is full.`)
    await first.store.close()
    database = undefined
    const second = runtimeWith([{ text: 'Done.' }])
    await second.runtime.open(outcome.sessionId)
    expect(await second.runtime.sessions.outcome(outcome.sessionId)).toMatchObject({ status: 'completed', report: { text: 'Done.' } })
  })
})

/** The command under a limit for the size of files, in KB: what is written beyond it fails as on a full disk. */
function limited(folder: string, kilobytes: number, args: readonly string[]) {
  const env = { PATH: process.env.PATH ?? '', HOME: folder, XDG_STATE_HOME: join(folder, 'state') }
  const words = ['-c', `ulimit -f ${kilobytes}; exec "$@"`, 'limited', process.execPath, binary, ...args]
  const { status, stdout, stderr } = spawnSync('bash', words, { cwd: folder, env, encoding: 'utf8' })
  return { status, stdout, stderr }
}

describe('troupe run on a disk that is full', () => {
  it('ends with 1 and store_failed where nothing can be stored at all, and names no session', async () => {
    const { folder, agent } = await workbench()
    const file = await agent('hello', 'steps:\n  - text: Hello.\n')
    const { status, stdout } = limited(folder, 4, ['run', file, 'Go', '--json'])
    expect(status).toBe(1)
    expect(JSON.parse(stdout)).toMatchObject({
      ok: false,
      error: { code: 'store_failed', remedy: expect.stringContaining('space') },
      exitCode: 1,
    })
    expect(stdout).not.toContain('--resume')
  })

  it('ends with 1 in the middle of a turn, and prints the command that continues it', async () => {
    const { folder, agent, troupe } = await workbench()
    const names = Array.from({ length: 12 }, (_, i) => `part-${i}.txt`)
    for (const name of names) await writeFile(join(folder, name), 'x'.repeat(79).concat('\n').repeat(250))
    const calls = names.map((name) => `  - calls: [{ tool: read_file, input: { path: ${name} } }]`)
    const settings = 'description: A test\nmodels: script/long.yaml\ntools: read_file\nlimits: { maxToolTurns: 30 }'
    const file = await agent('long', `steps:\n${calls.join('\n')}\n  - text: Done.\n`, settings)
    const other = await agent('hello', 'steps:\n  - text: Hello.\n')
    // The tables are there; a few steps fit.
    expect(await troupe(['run', other, 'Go'])).toMatchObject({ code: 0 })
    const { status, stderr } = limited(folder, 400, ['run', file, 'Go'])
    expect(status, stderr).toBe(1)
    expect(stderr).toMatch(/error: Cannot write to the store in \S+troupe.db: /)
    const [, command = ''] = /Continue: troupe (run long.ai --resume \S+)\n/.exec(stderr) ?? []
    const continued = await troupe(command.split(' '))
    expect(continued, continued.stderr).toMatchObject({ code: 0, stdout: 'Done.\n' })
  })
})

it.each(['deleted', 'moved'])(
  'a data folder that is %s in the middle of a turn fails it as store_failed, however short the rest takes',
  async (how) => {
    const folder = await dataFolder()
    const leave = () => (how === 'moved' ? renameSync(folder.path, `${folder.path}-moved`) : rmSync(folder.path, { recursive: true }))
    const tool = {
      name: 'leave',
      description: 'd',
      inputSchema: { type: 'object' },
      effect: 'read' as const,
      execute: () => {
        leave()
        return 'left'
      },
    }
    const agents = [{ name: 'clerk', description: 'A test', prompt: 'You are tested.', model: 'any' }]
    // Once before: the next turn takes less than a millisecond.
    const adapter = new ScriptedModel([{ text: 'Ready.' }, { calls: [{ tool: 'leave' }] }, { text: 'Done.' }])
    const runtime = createAgentRuntime({ config: { agents, tools: [tool] }, adapter, store: folder.open() })
    onTestFinished(() => runtime.close())
    await runtime.run('Be ready')
    expect(await runtime.run('Go')).toMatchObject({ status: 'failed', reason: 'store', code: 'store_failed' })
    if (how === 'moved') rmSync(`${folder.path}-moved`, { recursive: true })
  },
)
