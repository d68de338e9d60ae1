import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isAlive } from '../../hooks/processes.ts'
import { type Assistant, endAssistants, manifest, startAssistant } from './assistant.ts'
import { blueprints, hostileTwins, notesScript } from './blueprints.ts'
import type { Script } from './scripted-provider.ts'
import { call, teamScript } from './team-script.ts'

afterAll(endAssistants)

// One conversation with `troupe up` on a machine without a sandbox, over many kernels. A person gives trust.

const isFull = process.env.TROUPE_FULL !== undefined
// The watchdog waits some seconds for one that blocks.
const { blocks, ...quick } = hostileTwins
const twins = isFull ? { ...quick, blocks } : quick
const good = Object.keys(blueprints)
const bad = Object.keys(twins)
const people = Array.from({ length: isFull ? 20 : 6 }, (_, index) => `person${index}`)

/** Requests that are not answered until the process that sent them has ended. */
const held = new Set<string>()

const coach: Script = async ({ users }) => {
  const said = users.at(-1) ?? ''
  if (said === 'I am done') return call('return_control', { report: `Ada sent ${users.length - 1} messages` })
  return { text: `heard ${users.slice(1).join(' | ') || said}` }
}

const holding =
  (script: Script): Script =>
  async (asked) => {
    const said = asked.users.at(-1) ?? ''
    if (held.delete(said)) await new Promise(() => {})
    return script(asked)
  }

describe('troupe up', () => {
  let up: Assistant
  let kernels = 1
  const nextKernel = (): Promise<number> => up.started(++kernels)
  const restart = async (): Promise<void> => {
    expect(await up.asks('restart')).toContain('The restart is requested')
    await nextKernel()
  }

  beforeAll(async () => {
    const script = teamScript({ ...blueprints, ...twins }, { 'You keep notes': notesScript, 'You coach people': coach })
    up = await startAssistant({
      script: holding(script),
      extensions: {
        'coach/manifest.yaml': manifest('coach', {
          more: 'agent:\n  model: auto\n  integration_mode: handoff\n  instructions: coach.md\n',
        }),
        'coach/coach.md': 'You coach people.',
      },
    })
  })

  it('in a conversation the builder creates an agent, a tool and a channel, which nobody trusts yet', async () => {
    expect(await up.asks('Hello')).toBe('You said: Hello')
    const first = up.pid()
    // Each file is shown before it is written.
    const built = await up.asks(`build ${[...good, ...bad].join(' ')}`, 'yes')
    expect(built).toContain('notes is valid. It is not loaded before the person has read its files and run: troupe extensions trust notes.')
    expect(await nextKernel()).not.toBe(first)
    expect(isAlive(first)).toBe(false)
    // The answer from before the restart is not repeated.
    const ids = [...good, ...bad].toSorted()
    expect(await up.hears()).toMatchObject({
      kind: 'notice',
      text: `Extensions ${ids.join(', ')} are not running: they are not trusted, and there is no sandbox to run them in. To trust them: troupe extensions trust ${ids.join(' ')}`,
    })
    expect(await up.asks('use list_extensions {}')).toContain('notes (untrusted')
  })

  it('with trust they work in the same conversation, which knows what was said', async () => {
    expect(await up.troupe(['extensions', 'trust', ...good])).toMatchObject({ code: 0 })
    await restart()
    expect(await up.asks('ask notes: buy milk')).toBe('Noted: "BUY MILK"')
    expect(await up.asks('use units__miles_to_km {"miles": 2}')).toBe('3.218688 km')
    expect(await up.asks('What did I say?')).toMatch(
      /^You said: Hello \| build notes .*\|[\s\S]*throws, units are not running[\s\S]* \| restart \| ask notes: buy milk \| .* \| What did I say\?$/,
    )
    // The new channel brings another person.
    const outbox = join(up.dataOf('mailbox'), 'outbox.txt')
    writeFileSync(join(up.dataOf('mailbox'), 'inbox.txt'), 'Hello from Bob')
    await expect
      .poll(() => (existsSync(outbox) ? readFileSync(outbox, 'utf8') : ''), { timeout: 20_000 })
      .toBe('orchestrator to bob: You said: Hello from Bob\n')
  })

  it('what takes the kernel down is quarantined, the person is told, and the conversation continues', async () => {
    await up.troupe(['extensions', 'trust', ...bad])
    await up.asks('restart')
    const told = new Map<string, string>()
    while (told.size < bad.length) {
      const { kind, text } = await up.hears()
      expect(kind).toBe('notice')
      told.set(/^Extension (\w+)/.exec(text)?.[1] ?? text, text)
    }
    const stopped = (id: string, why: string): string =>
      `Extension ${id} was stopped because ${why}. Fix it, then run \`troupe extensions enable ${id}\`.`
    expect(Object.fromEntries(told)).toEqual({
      exits: stopped('exits', 'it called process.exit(0) (stage: initialize)'),
      strays: stopped('strays', 'it threw an exception that nobody caught: late (stage: start)'),
      throws:
        'Extension throws is not running: start failed: not today (main.js:2). Fix it. To check it: troupe extensions validate throws',
      ...(isFull && { blocks: stopped('blocks', 'it blocked the event loop in start (stage: start)') }),
    })
    expect(await up.asks('ask notes: still there')).toBe('Noted: "STILL THERE"')
    expect(await up.asks('use list_extensions {}')).toMatch(/exits \(quarantined[\s\S]*strays \(quarantined[\s\S]*throws \(failed/)
    kernels = up.kernels()
    expect(up.supervisor.exitCode).toBeNull()
    for (const id of bad) rmSync(join(up.project, 'extensions', id), { recursive: true })
    await restart()
    expect(await up.asks('use list_extensions {}')).not.toMatch(/quarantined|failed/)
  })

  it('kill -9 in the middle of a handoff and of the turns of many people loses nothing', async () => {
    const hears = async (text: string): Promise<string> => {
      await up.says(text)
      const { speaker, text: answer } = await up.hears()
      return `${speaker}: ${answer}`
    }
    expect(await hears('ask coach: Train Ada')).toBe('coach: heard Train Ada')
    expect(await hears('one')).toBe('coach: heard one')
    for (const text of ['two', ...people.map((user) => `I am ${user}`)]) held.add(text)
    await Promise.all([up.says('two'), ...people.map((user) => up.says(`I am ${user}`, user))])
    await expect.poll(() => held.size, { timeout: 20_000 }).toBe(0)
    process.kill(up.pid(), 'SIGKILL')
    await nextKernel()
    expect(await up.hears()).toMatchObject({ speaker: 'coach', text: 'heard one | two' })
    for (const user of people) expect(await up.hears(user)).toMatchObject({ text: `You said: I am ${user}` })
    expect(await hears('three')).toBe('coach: heard one | two | three')
    expect(await hears('/who')).toBe('troupe: You are talking to coach. /back returns to orchestrator.')
    expect(await hears('/back')).toMatch(/^orchestrator: The conversation of coach .* the person asked for you\./)
    await Promise.all(people.map((user) => up.says('Who am I?', user)))
    for (const user of people) expect(await up.hears(user)).toMatchObject({ text: `You said: I am ${user} | Who am I?` })
  })
})
