import { describe, expect, test } from 'vitest'
import { noSandboxHere, sandboxed } from '../sandbox-here.ts'
import { troupe } from './command.ts'
import { folder } from './folder.ts'

// Variables that `sandbox.environment` names, as a real command sees them.

const command = 'echo "ci=$CI x=$XVAR lang=$LANG term=$TERM other=$OTHER"'
const script = JSON.stringify({ steps: [{ calls: [{ tool: 'shell', input: { command } }] }, { text: 'Done.' }] })
const agent = '---\ndescription: E\nmodels: script/a.yaml\ntools: shell\n---\nGo.\n'
const files = { 'e.ai': agent, 'a.yaml': script, '.git/HEAD': 'ref: refs/heads/main\n' }
const env = { CI: 'yes', OTHER: 'no', LANG: 'de_DE.UTF-8' }

type Sandbox = { readonly mode?: 'off' }
const said = (sandbox: Sandbox): object => ({ sandbox: { environment: ['CI', 'XVAR', 'LANG', 'TERM'], ...sandbox } })

/** Where it is said, with the flags that make it count. */
const places: { readonly [place: string]: { readonly folder: string; readonly flags: readonly string[] } } = {
  'a trusted project': { folder: '', flags: ['--trust'] },
  "a person's own file": { folder: 'home', flags: [] },
  '--config': { folder: 'elsewhere/', flags: ['--config', 'elsewhere/.ai-agent.json'] },
}

async function printed(sandbox: Sandbox, at: { readonly folder: string; readonly flags: readonly string[] }): Promise<string> {
  const { path, write } = folder(files)
  const home = folder()
  const place = at.folder === 'home' ? home : { write }
  const within = at.folder === 'home' ? '.ai-agent/' : at.folder
  place.write({ [`${within}.ai-agent.json`]: said(sandbox), [`${within}.ai-agent.env`]: 'XVAR=mine\n' })
  const { stderr } = await troupe(path, ['run', 'e.ai', 'Go', '--allow', 'shell', ...at.flags], { ...env, HOME: home.path })
  return /^ +(ci=.*)$/m.exec(stderr)?.[1] ?? stderr
}

describe.each(Object.entries(places))('variables that %s names', (_, at) => {
  test.skipIf(noSandboxHere)(sandboxed('reach a command in the sandbox'), async () => {
    expect(await printed({}, at)).toBe('ci=yes x=mine lang=de_DE.UTF-8 term=dumb other=')
  })
  test('reach a command without a sandbox', async () => {
    expect(await printed({ mode: 'off' }, at)).toBe('ci=yes x=mine lang=de_DE.UTF-8 term=dumb other=')
  })
})

test.skipIf(noSandboxHere)(sandboxed('an untrusted project gives commands no variable'), async () => {
  expect(await printed({}, { folder: '', flags: [] })).toBe('ci= x= lang=C.UTF-8 term=dumb other=')
})
