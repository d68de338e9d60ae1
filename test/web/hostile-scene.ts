import type { Browser, Page } from 'playwright-core'
import type { Model, ModelPart, ModelRequest, Tool } from '../../src/contracts/index.ts'
import { askUserTool } from '../../src/tools/builtin/ask-user.ts'
import { updatePlanTool } from '../../src/tools/builtin/update-plan.ts'
import type { ServedOptions } from '../server/support.ts'
import { hostileName } from './hostile-texts.ts'
import type { Scene } from './web-scene.ts'

// An agent that repeats what it was sent, everywhere: as reasoning, as text, to tools and to another agent.

const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, reasoning: 0 }
const textOf = ({ messages }: ModelRequest): { readonly text: string; readonly replies: number } => {
  const at = messages.findLastIndex(({ role }) => role === 'user')
  const last = messages[at]
  return {
    text: last?.role === 'user' ? last.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('') : '',
    replies: messages.slice(at).filter(({ role }) => role === 'assistant').length,
  }
}

/** The first word decides: `ask:` needs approvals, `break:` ends with an error of the model. */
export const repeatingModel: Model = {
  id: 'test/story',
  abilities: ['tools', 'images', 'files', 'json_schema'],
  async *stream(request: ModelRequest): AsyncGenerator<ModelPart> {
    const { text, replies } = textOf(request)
    if (text.startsWith('break:')) return void (yield { type: 'error', failure: { class: 'config', message: text, remedy: text } })
    yield { type: 'reasoning', text }
    // In two parts, so that it is shown while it is not complete.
    yield { type: 'text', text: text.slice(0, text.length / 2) }
    await new Promise((resolve) => setImmediate(resolve))
    yield { type: 'text', text: text.slice(text.length / 2) }
    const isRoot = request.tools.some(({ name }) => name === 'repeat')
    const call = (name: string, input: object): ModelPart => ({
      type: 'call',
      id: `${name}_${replies}`,
      name,
      input: JSON.stringify(input),
    })
    if (isRoot && replies === 0) {
      yield call('repeat', { value: text, reason: text })
      yield call('fail', { value: text })
      yield call('no such tool <img src=x-evil onerror=alert(1)>', { value: text })
      if (text.startsWith('ask:')) {
        yield call('update_plan', { explanation: text.slice(0, 900), plan: [{ step: text.slice(0, 300), status: 'in_progress' }] })
        yield call('agent__helper', { prompt: text, reason: text })
        yield call('change', { value: text, reason: text })
        yield call('ask_user', { question: text.slice(0, 1_900), options: [text.slice(0, 100), hostileName] })
      }
    }
    yield { type: 'finish', reason: isRoot && replies === 0 ? 'tool-calls' : 'stop', usage }
  },
}

const value = { type: 'object', properties: { value: { type: 'string' } }, required: ['value'] }

export const hostileTools: readonly Tool[] = [
  updatePlanTool(),
  askUserTool(),
  {
    name: 'repeat',
    description: hostileName,
    inputSchema: value,
    effect: 'read',
    execute({ value: text }, context) {
      context.progress(String(text))
      const bytes = (content: string): Uint8Array => Buffer.from(content)
      return {
        ok: true,
        content: String(text),
        parts: [
          { type: 'text', text: String(text) },
          { type: 'link', uri: `javascript:alert(1)//${hostileName}`, name: hostileName },
          { type: 'file', mediaType: 'text/html', data: bytes(String(text)), name: hostileName },
          { type: 'image', mediaType: 'image/svg+xml', data: bytes('<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>') },
        ],
      }
    },
  },
  {
    name: 'fail',
    description: hostileName,
    inputSchema: value,
    effect: 'read',
    execute: ({ value: text }) => ({ ok: false, error: { class: 'network', message: String(text), remedy: String(text) } }),
  },
  {
    name: 'change',
    description: hostileName,
    inputSchema: value,
    approval: ({ value: text }) => ({
      summary: String(text),
      keys: [{ key: `change:${String(text).slice(0, 100)}`, label: String(text).slice(0, 200) }],
      wider: [{ key: 'change:all', label: hostileName }],
      diff: `diff --git a/${hostileName} b/${hostileName}\n--- a/${hostileName}\n+++ b/${hostileName}\n@@ -1 +1 @@ ${hostileName}\n-${text}\n+${text}\n`,
    }),
    execute: ({ value: text }) => String(text),
  },
]

export const hostileAgents: NonNullable<ServedOptions['agents']> = [
  {
    name: 'mallory',
    displayName: hostileName,
    description: hostileName,
    usage: hostileName,
    examples: [hostileName, `[x](javascript:alert(1))`],
    template: `---\n${hostileName}\n---`,
    prompt: 'You repeat.',
    model: 'test/story',
    tools: ['*'],
    agents: ['helper'],
  },
  { name: 'helper', description: hostileName, usage: hostileName, prompt: 'You repeat, too.', model: 'test/story', tools: [] },
]

/** What a page did that its content told it to do. Read it at the end. */
export interface Guard {
  readonly seen: readonly string[]
  /** Everything so far, with what the document contains now. */
  check(): Promise<readonly string[]>
}

/** `isOwn`: addresses that the page may request. */
export async function guard(page: Page, isOwn: (address: string) => boolean): Promise<Guard> {
  const seen: string[] = []
  page.on('dialog', (dialog) => {
    seen.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('pageerror', (error) => seen.push(`error: ${error}`))
  page.on('popup', (popup) => seen.push(`window: ${popup.url()}`))
  page.on('request', (request) => {
    const address = request.url()
    if (!isOwn(address)) seen.push(`request: ${address.slice(0, 200)}`)
  })
  page.on('console', (message) => {
    if (/Content Security Policy|TrustedHTML|Trusted Type/i.test(message.text())) seen.push(`policy: ${message.text().slice(0, 300)}`)
  })
  await page.addInitScript(
    "addEventListener('securitypolicyviolation', (event) => (globalThis.violations ??= []).push(event.violatedDirective + ' ' + event.blockedURI))",
  )
  return {
    seen,
    check: async () => [...seen, ...((await page.evaluate(inspection)) as readonly string[])],
  }
}

/** Things that must not be in the document, whether they have had an effect or not. */
const inspection = `(() => {
  const found = [...(globalThis.violations ?? [])]
  if ('pwned' in globalThis) found.push('code ran')
  for (const element of document.querySelectorAll('*')) {
    const name = element.localName
    if (/^(iframe|object|embed|base|frame|applet|marquee|math|foreignobject|animate|set)$/i.test(name)) found.push('<' + name + '>')
    if (name === 'script' && !element.src.startsWith(location.origin + '/assets/')) found.push('<script>')
    if (name === 'link' && !element.href.startsWith(location.origin)) found.push('<link>')
    if ((name === 'style' || name === 'form') && element.closest('[aria-label="Conversation"]')) {
      if (name === 'style') found.push('<style> in the conversation')
      else if (element.getAttribute('action')) found.push('<form> in the conversation')
    }
    if (element.id === 'app' && element.parentElement !== document.body) found.push('an id of the page')
    for (const { name: attribute, value } of element.attributes) {
      if (attribute.startsWith('on')) found.push(name + ' ' + attribute)
      if (/^(href|xlink:href|src|action|formaction|data|poster|background|srcset)$/.test(attribute)) {
        const scheme = /^\\s*([a-z][a-z0-9+.-]*):/i.exec(value)?.[1]?.toLowerCase()
        const allowed = name === 'a' ? ['http', 'https', 'mailto'] : ['data', 'blob']
        if (scheme && !allowed.includes(scheme) && !(scheme === 'blob' && element.hasAttribute('download'))) found.push(name + ' ' + attribute + '=' + value.slice(0, 60))
        if (name !== 'a' && /evil/.test(value)) found.push(name + ' ' + attribute + '=' + value.slice(0, 60))
      }
    }
  }
  return found
})()`

/** Opens everything that can be opened, and what is inside of it. */
export async function openEverything(page: Page): Promise<void> {
  for (let opened: unknown = 1, round = 0; opened !== 0 && round < 4; round++) opened = await page.evaluate(openClosed)
}

const openClosed = `(() => {
  const closed = 'details:not([open]) > summary, [aria-label="Conversation"] button[aria-expanded="false"]:not([aria-haspopup])'
  const all = [...document.querySelectorAll(closed)]
  for (const each of all) each.click()
  return new Promise((resolve) => requestAnimationFrame(() => setTimeout(() => resolve(all.length))))
})()`

/** The document of an export, in a browser of its own, without a policy that would protect it. */
export async function openDocument(browser: Browser, html: string): Promise<readonly string[]> {
  const context = await browser.newContext()
  const page = await context.newPage()
  const watched = await guard(page, (address) => address.startsWith('data:') || address === 'http://export.example/')
  await page.route('http://export.example/', (route) => route.fulfill({ contentType: 'text/html', body: html }))
  await page.goto('http://export.example/')
  const seen = await watched.check()
  await context.close()
  return seen
}

export const ownAddresses = ({ url }: Pick<Scene, 'url'>): ((address: string) => boolean) => {
  const own = new RegExp(`^${url}/(?:$|#|assets/[\\w.-]+$|v1/)`)
  return (address) => own.test(address) || /^(?:blob|data):/.test(address)
}
