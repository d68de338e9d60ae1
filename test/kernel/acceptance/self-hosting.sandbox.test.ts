import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { noSandboxHere, sandboxed } from '../../sandbox-here.ts'
import { type Assistant, endAssistants, type Files, manifest, startAssistant } from './assistant.ts'
import { blueprints, notesScript } from './blueprints.ts'
import { teamScript } from './team-script.ts'

afterAll(endAssistants)

const withCode = (id: string, body: string): Files => ({
  'manifest.yaml': manifest(id, { entrypoint: 'main:Main' }),
  'main.ts': `export class Main {\n  ${body}\n}\n`,
})

const isFull = process.env.TROUPE_FULL !== undefined

/** Nonsense, and what looks harmless until it runs. */
const hostile = {
  mistyped: withCode('mistyped', `initialize(context: string): number { return context }`),
  throws: withCode('throws', `initialize(): void { throw new Error('not today') }`),
  // `start` has ten seconds.
  ...(isFull && { blocks: withCode('blocks', `start(): void { for (;;); }`) }),
  exits: withCode('exits', `start(): void { setTimeout(() => process.exit(0), 50) }`),
  kills: withCode('kills', `start(): void { process.kill(process.ppid, 'SIGKILL'); process.kill(0, 'SIGKILL') }`),
}

interface Listed {
  readonly id: string
  readonly state: string
  readonly runs: string
  readonly problems: readonly { readonly message: string }[]
}

async function listed(up: Assistant): Promise<{ readonly [id: string]: string }> {
  const { extensions } = (await (await up.fetch('/v1/extensions')).json()) as { readonly extensions: readonly Listed[] }
  return Object.fromEntries(
    extensions.map(({ id, state, runs, problems }) => [id, [state, runs, ...problems.map(({ message }) => message)].join(' ')]),
  )
}

describe.skipIf(noSandboxHere)(sandboxed('in the sandbox'), () => {
  it('what the builder creates works in the sandbox, its tools of others with permission, and what is hostile harms nobody', async () => {
    const script = teamScript({ ...blueprints, ...hostile }, { 'You keep notes': notesScript })
    const up = await startAssistant({ script, hasSandbox: true })
    expect(await up.asks('Hello')).toBe('You said: Hello')

    // Admission refuses nonsense, and the builder does not ask for a restart.
    expect(await up.asks('build mistyped', 'yes')).toContain(`main.ts:2:41: TS2322: Type 'string' is not assignable to type 'number'`)
    expect(await up.asks('build throws', 'yes')).toContain('initialize failed: not today')
    await up.asks('build notes units mailbox exits kills blocks', 'yes')
    await up.started(2)

    // One uses `kv`, one is a channel: a person must permit both. The log and the conversation name the command.
    for (const [id, asked] of Object.entries({ notes: 'tools of kv', mailbox: 'messages of its channel' })) {
      const command = `troupe extensions trust ${id} --sandboxed`
      await up.hearsOf(`Extension ${id} runs in the sandbox: its permissions are not given yet: ${asked}. Give them with: ${command}`)
      expect(up.log()).toContain(command)
      expect(await up.troupe(command.split(' ').slice(1))).toMatchObject({ code: 0 })
    }
    expect(await up.asks('restart')).toContain('The restart is requested')
    const pid = await up.started(3)
    expect(await up.asks('ask notes: buy milk', 'yes')).toBe('Noted: "BUY MILK"')
    // It says that it only reads. That is not believed.
    await expect(up.asks('use units__miles_to_km {"miles": 2}')).rejects.toThrow('Nobody expected to be asked: Approval needed')
    expect(await up.asks('yes')).toBe('3.218688 km')
    const outbox = join(up.dataOf('mailbox'), 'outbox.txt')
    writeFileSync(join(up.dataOf('mailbox'), 'inbox.txt'), 'Hello from Bob')
    await expect
      .poll(() => (existsSync(outbox) ? readFileSync(outbox, 'utf8') : ''), { timeout: 20_000 })
      .toBe('orchestrator to bob: You said: Hello from Bob\n')

    await expect
      .poll(() => listed(up), { timeout: 30_000, interval: 200 })
      .toMatchObject({
        notes: 'running sandbox',
        units: 'running sandbox',
        mailbox: 'running sandbox',
        mistyped: expect.stringMatching(/^failed nowhere .*TS2322/),
        throws: expect.stringMatching(/^failed nowhere .*not today/),
        ...(isFull && { blocks: expect.stringMatching(/^failed nowhere .*`start` took longer than 10 s/) }),
        exits: expect.stringMatching(/its process ended/),
        kills: expect.stringMatching(/its process ended/),
      })
    expect(up.pid()).toBe(pid)
    expect(up.kernels()).toBe(3)
    expect(await up.asks('What did I say?')).toMatch(/^You said: Hello \| build mistyped \| .* \| What did I say\?/s)
  })
})
