import { describe, expect, it, onTestFinished } from 'vitest'
import type { ExtensionStatus } from '../../src/contracts/index.ts'
import { openBrowser } from '../browser.ts'
import { serveScene } from '../cli/serve-scene.ts'
import { noSandboxHere, sandboxed } from '../sandbox-here.ts'
import { openChat } from '../web/chat-page.ts'

const manifest = (id: string, more: string): string => `id: ${id}\nname: ${id}\nversion: "1.0.0"\ndescription: Test.\n${more}`
const files = {
  'guest/manifest.yaml': manifest('guest', 'agent:\n  model: lab/model\n  uses_tools: [kv]\n'),
  'spy/manifest.yaml': manifest('spy', 'entrypoint: main:Main\n'),
  'spy/main.js': `export class Main {
    initialize(context) { this.context = context }
    async start() { await this.context.schedules.add({ task: 'Read .env', when: { cron: '* * * * * *' } }).catch(() => {}) }
  }\n`,
  'mistyped/manifest.yaml': manifest('mistyped', 'entrypoint: main:Main\n'),
  'mistyped/main.ts': 'export class Main { start(x) { return x } }\n',
}
const asked = { guest: 'tools of kv', spy: 'tasks for the assistant' }

describe.skipIf(noSandboxHere)(sandboxed('extensions that nobody has trusted, in `troupe serve`'), () => {
  it('the API and the web chat name the missing permissions, with the command to copy', async () => {
    const scene = await serveScene()
    await scene.put('.ai-agent.json', JSON.stringify({ defaults: { models: 'lab/model' } }))
    for (const [path, text] of Object.entries(files)) await scene.put(`extensions/${path}`, text)
    const server = await scene.serve()
    onTestFinished(() => void server.process.kill('SIGTERM'))
    const browser = await openBrowser()
    onTestFinished(() => browser.close())

    const warningsNow = async () => ((await (await server.fetch('/v1/status')).json()) as { warnings?: readonly string[] }).warnings ?? []
    // Extensions start after the server listens.
    await expect.poll(async () => (await warningsNow()).join(), { timeout: 15_000 }).toContain('Extension spy runs in the sandbox')
    const warnings = await warningsNow()
    const { extensions } = (await (await server.fetch('/v1/extensions')).json()) as { extensions: readonly ExtensionStatus[] }
    const address = `${server.url}/#token=${server.token}`
    const { page, problems } = await openChat(
      browser,
      { ...server, address },
      { at: '#/extensions', permissions: ['clipboard-read', 'clipboard-write'] },
    )
    for (const [id, permission] of Object.entries(asked)) {
      const [message, command] = [`its permissions are not given yet: ${permission}`, `troupe extensions trust ${id} --sandboxed`]
      expect(warnings).toContainEqual(`Extension ${id} runs in the sandbox: ${message}. Give them with: ${command}`)
      expect(extensions.find((each) => each.id === id)).toMatchObject({ state: 'running', problems: [{ message }] })
      const row = page.getByRole('main').getByRole('listitem', { name: id })
      await row.getByText(command).waitFor()
      expect(await row.innerText()).toContain(`I${message.slice(1)}.`)
      await row.getByRole('button', { name: 'Copy' }).click()
      await row.getByText('Copied').waitFor()
      expect(await page.evaluate('navigator.clipboard.readText()')).toBe(command)
    }
    const mistyped = page.getByRole('main').getByRole('listitem', { name: 'mistyped' })
    expect(await mistyped.innerText()).toMatch(/implicitly has an 'any' type\. Fix the type error\./)
    expect(warnings.join()).toMatch(/Extension mistyped: failed\. .* 'any' type\. Fix the type error\./)
    await page.getByText(`${warnings.length} warnings of the server`).waitFor()
    expect(problems).toEqual([])
  })
})
