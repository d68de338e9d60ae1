import { afterAll, expect, test } from 'vitest'
import type { Tool } from '../../src/contracts/index.ts'
import { gate } from '../../src/testing/index.ts'
import { openBrowser } from '../browser.ts'
import { violations } from './axe.ts'
import { openChat } from './chat-page.ts'
import { startSession } from './journal.ts'
import { picture } from './pictures.ts'
import { webScene } from './web-scene.ts'

// Code in answers: colours, long lines, and what happens to it while it is streamed.

const long = `const url = "https://example.org/${'a-long-path/'.repeat(30)}"`
const code = {
  ts: `// Sums up the cart.\nexport function total(items: readonly Item[], rate = 0.1): number {\n  ${long}\n  return items.reduce((sum, { price }) => sum + price, 0) * (1 - rate)\n}`,
  python:
    '@app.get("/cart")\ndef total(items, rate=0.1):\n    """Sums up the cart."""\n    return sum(item.price for item in items) * (1 - rate)  # rounded later',
  bash: '# Install\nexport NODE_ENV=test\ncd /usr/local/bin && npm test --silent "$HOME/shop"',
  json: '{ "name": "shop", "tests": 12, "passed": true, "failed": null }',
  yaml: 'name: shop\nport: 8080 # default\ntags: [a, "b"]',
  diff: '@@ -1,2 +1,2 @@\n-const rate = Math.ceil(x)\n+const rate = Math.round(x)\n same',
  klingon: 'nuqneH',
}
const fenced = Object.entries(code)
  .map(([language, text]) => `\`\`\`${language}\n${text}\n\`\`\``)
  .join('\n\n')
const [table, rest] = [gate(), gate()]

const edit: Tool = {
  name: 'edit',
  description: 'Edits a file.',
  inputSchema: { type: 'object', properties: {} },
  approval: () => ({
    summary: 'Edit cart.ts',
    keys: [{ key: 'path:cart.ts', label: 'cart.ts' }],
    diff: `diff --git a/cart.ts b/cart.ts\n--- a/cart.ts\n+++ b/cart.ts\n@@ -1,2 +1,2 @@\n same\n-${long}\n+${long} // new\n`,
  }),
  execute: () => 'Edited.',
}
const scene = await webScene({
  agents: [{ name: 'coder', description: 'Writes code.', prompt: 'You are coder.', model: 'test/story', tools: ['*'] }],
  tools: [edit],
  stories: {
    coder: [
      { when: /change/, steps: [{ calls: [{ tool: 'edit' }] }, { text: 'Done.' }] },
      {
        when: /stream/,
        steps: [
          {
            pieces: [
              'Prices:\n\n| item | price |\n|---|---|\n| tea | 3 |\n',
              table.promise,
              `| coffee | 4 |\n| cake | 5 |\n\n\`\`\`ts\nconst first = "one"\n${long}\n`,
              rest.promise,
              'const second = 2\nconst third = 3\n```\n\nThat is all.',
            ],
          },
        ],
      },
      { steps: [{ text: fenced }] },
    ],
  },
})
const browser = await openBrowser()
afterAll(async () => {
  await browser.close()
  await scene.close()
})
const ended = async (text: string): Promise<string> => {
  const id = await startSession(scene, text, 'coder')
  await scene.runtime.sessions.outcome(id)
  return id
}

test('code has colours; nothing of it is changed', async () => {
  const chat = await openChat(browser, scene, { at: await ended('code') })
  await chat.page.locator('.code-keyword').first().waitFor()
  const shown = await chat.page.locator('.md-code code').allInnerTexts()
  expect(shown.map((text) => text.trimEnd())).toEqual(Object.values(code))
  const kinds = await chat.page
    .locator('.md-code')
    .evaluateAll((all) => all.map((each) => each.querySelectorAll('[class^="code-"]').length))
  expect(kinds.at(-1)).toBe(0)
  for (const count of kinds.slice(0, -1)) expect(count).toBeGreaterThan(2)
  await picture(chat, 'code')
  expect(chat.problems).toEqual([])
  await chat.close()
})

test('long lines of code and of changes scroll, or wrap after one click, also after a reload', async () => {
  const id = await ended('code')
  const chat = await openChat(browser, scene, { at: id, viewport: { width: 1000, height: 900 } })
  await chat.page.locator('.code-keyword').first().waitFor()
  const tooWide = (selector: string): Promise<boolean> =>
    chat.page
      .locator(selector)
      .first()
      .evaluate((element) => element.scrollWidth > element.clientWidth + 1)
  expect(await tooWide('.md-code pre')).toBe(true)
  const wrap = chat.page.getByRole('button', { name: 'Wrap', exact: true }).first()
  expect(await wrap.getAttribute('aria-pressed')).toBe('false')
  await wrap.click()
  await expect.poll(() => tooWide('.md-code pre')).toBe(false)
  expect(await wrap.getAttribute('aria-pressed')).toBe('true')
  await picture(chat, 'code-wrapped')
  await chat.page.reload()
  await chat.page.locator('.code-keyword').first().waitFor()
  expect(await tooWide('.md-code pre')).toBe(false)

  await chat.show(await startSession(scene, 'a change', 'coder'))
  await chat.button('Allow once').waitFor()
  expect(await tooWide('.diff')).toBe(false)
  await picture(chat, 'diff-wrapped')
  await wrap.click()
  await expect.poll(() => tooWide('.diff')).toBe(true)
  await picture(chat, 'diff')
  expect(chat.problems).toEqual([])
  await chat.close()
})

test('tables and code that are streamed grow: what is there stays, with its selection and its place', async () => {
  const chat = await openChat(browser, scene, { at: await startSession(scene, 'stream it', 'coder') })
  await chat.page.getByRole('cell', { name: 'tea' }).waitFor()
  await chat.page.evaluate(`for (const [name, selector] of [['row', '.md-table tbody tr'], ['table', '.md-table']])
    window[name] = document.querySelector(selector)`)
  table.open()
  await chat.page.getByRole('cell', { name: 'cake' }).waitFor()
  expect(await chat.page.evaluate(`[row.isConnected, table.isConnected]`)).toEqual([true, true])
  await chat.page.locator('.code-string', { hasText: '"one"' }).waitFor()
  await chat.page.evaluate(`
    window.pre = document.querySelector('.md-code pre'); pre.scrollLeft = 120
    window.string = [...document.querySelectorAll('.code-string')].find((each) => each.textContent === '"one"')
    getSelection().selectAllChildren(string)
    window.withoutColours = 0
    new MutationObserver(() => { if (!document.querySelector('.code-keyword')) withoutColours++ })
      .observe(document.querySelector('.conv'), { childList: true, subtree: true })`)
  rest.open()
  await chat.says('That is all.')
  expect(await chat.page.evaluate(`[string.isConnected, pre.isConnected, pre.scrollLeft, String(getSelection()), withoutColours]`)).toEqual(
    [...[true, true, 120, '"one"', 0]],
  )
  expect(await chat.page.locator('.code-keyword').allInnerTexts()).toEqual(['const', 'const', 'const', 'const'])
  await chat.close()
})

test('axe finds nothing in code and changes', async () => {
  const chat = await openChat(browser, scene, { at: await ended('code'), bypassCSP: true })
  await chat.page.locator('.code-keyword').first().waitFor()
  expect(await violations(chat.page)).toEqual([])
  await chat.show(await startSession(scene, 'a change', 'coder'))
  await chat.button('Allow once').waitFor()
  expect(await violations(chat.page)).toEqual([])
  await chat.close()
})
