import { afterAll, expect, it } from 'vitest'
import { desk } from '../../cli/live-window.ts'
import { runCommand } from '../../run-command.ts'
import { endAssistants, openPlace } from './assistant.ts'
import { blueprints } from './blueprints.ts'
import { teamScript } from './team-script.ts'

afterAll(endAssistants)

it('in the terminal of troupe up a person has a tool built, trusts it, and uses it in the same conversation', async () => {
  const { env } = await openPlace({ script: teamScript(blueprints) })
  const { folder, troupe } = await desk()
  const window = troupe(['up', '--port', '0'], { env, columns: 200 })
  const types = (text: string): void => window.pty.write(`${text}\r`)
  await window.writes('Type a message.')
  types('Hello')
  await window.writes('You said: Hello')
  types('build units')
  for (const file of ['manifest.yaml', 'main.ts']) {
    await window.writes(`Approval needed: Write units/${file}, a new file`)
    await window.writes('> ')
    types('yes')
  }
  await window.writes('The restart is requested.')
  await window.writes('Type a message.')
  await window.writes('Extension units is not running: it is not trusted, and there is no sandbox to run it in.')
  await runCommand(folder, ['extensions', 'trust', 'units'], { env })
  types('restart')
  await window.writes('Type a message.')
  types('use units__miles_to_km {"miles": 2}')
  await window.writes('3.218688 km')
  types('What did I say?')
  await window.writes('You said: Hello | build units | restart')
  types('/help')
  await window.writes('/back')
  window.pty.write('\u0003')
  expect(await window.ended).toBe(130)
  // Nothing is said twice.
  expect(window.lines().filter((line) => line.includes('Done: Added units/manifest.yaml'))).toHaveLength(1)
  // A kernel that stops leaves no prompt behind.
  expect(window.lines().filter((line) => line.startsWith('Type a message.'))).toHaveLength(3)
})
