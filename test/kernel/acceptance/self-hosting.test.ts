import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { isAlive } from '../../hooks/processes.ts'
import { startAssistant } from './assistant.ts'
import { blueprints, notesScript } from './blueprints.ts'
import { teamScript } from './team-script.ts'

it('in a conversation the builder creates an agent, a tool and a channel; a person trusts them, and they work', async () => {
  const up = await startAssistant({ script: teamScript(blueprints, { 'You keep notes': notesScript }) })
  expect(await up.asks('Hello')).toBe('You said: Hello')
  const first = up.pid()

  // Each file is shown before it is written.
  expect(await up.asks('build notes units mailbox', 'yes')).toContain('notes is valid. It is loaded after the next restart.')
  expect(await up.started(2)).not.toBe(first)
  expect(isAlive(first)).toBe(false)

  // Nobody trusts them yet, and there is no sandbox. The answer from before the restart is not repeated.
  for (const id of ['mailbox', 'notes', 'units'])
    expect(await up.hears()).toMatchObject({
      kind: 'notice',
      text: `Extension ${id} is not running: it is not trusted, and there is no sandbox to run it in. To trust it: troupe extensions trust ${id}`,
    })
  expect(await up.asks('use list_extensions {}')).toMatch(/notes.*untrusted/)
  expect(await up.troupe(['extensions', 'trust', 'notes', 'units', 'mailbox'])).toMatchObject({ code: 0 })
  expect(await up.asks('restart')).toContain('The restart is requested')
  await up.started(3)

  // In the same conversation, which knows what was said.
  expect(await up.asks('ask notes: buy milk')).toBe('Noted: "BUY MILK"')
  expect(await up.asks('use units__miles_to_km {"miles": 2}')).toBe('3.218688 km')
  expect(await up.asks('What did I say?')).toMatch(
    /^You said: Hello \| build notes units mailbox \| [\s\S]*Extension notes is not running[\s\S]* \| restart \| ask notes: buy milk \| .* \| What did I say\?$/,
  )

  // The new channel brings another person.
  const [inbox, outbox] = [join(up.dataOf('mailbox'), 'inbox.txt'), join(up.dataOf('mailbox'), 'outbox.txt')]
  writeFileSync(inbox, 'Hello from Bob')
  await expect
    .poll(() => (existsSync(outbox) ? readFileSync(outbox, 'utf8') : ''), { timeout: 20_000 })
    .toBe('orchestrator to bob: You said: Hello from Bob\n')
})
